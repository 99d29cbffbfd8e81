"""The studio through its page, in a real browser: how quick is it, and do the clusters follow?

    python benchmarks/studio_page.py                             # both tables, then the texts
    python benchmarks/studio_page.py --rows 10000 --texts
    CONCLUST_DATA=folder python benchmarks/studio_page.py --rows --texts webkb tweet89

A key is timed by the page itself, until the frame after the next question is painted. Texts are
answered by keys, from their labels: what the clusters have in common with the labels before the
first answer and after the last.
"""

import argparse
import csv
import io
import json
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright
from sklearn.datasets import make_blobs
from sklearn.metrics import normalized_mutual_info_score

from conclust.datasets import load
from studio import N_FEATURES, N_GROUPS, Server, command

N_KEYS = 150
PAUSE = 0.3  # seconds between two keys
ANSWERS = {"webkb": 50, "tweet89": 200}
TIMED = """() => {
  window.times = [];
  addEventListener('keydown', () => {
    const began = performance.now(), ask = document.querySelector('.ask');
    const before = ask.dataset.question;
    const look = () => ask.dataset.question && ask.dataset.question !== before
      ? requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - began)))
      : requestAnimationFrame(look);
    look();
  }, true);
}"""

FRAMES = """() => {
  window.drawn = [];
  let last = performance.now();
  const next = (now) => { drawn.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""


def question(page):
    """The rows asked about, once there is a question."""
    page.wait_for_selector(".ask[data-question]:not([data-question=''])", timeout=120_000)
    name = page.locator(".ask").get_attribute("data-question")
    return name, [int(row) for row in re.findall(r"-(\d+)(?=-)", name)]


def answer(page, labels, n_answers, pause):
    """By keys, from the labels; dialogs about contradictions there are none."""
    for _ in range(n_answers):
        name, (a, b) = question(page)
        page.keyboard.press("y" if labels[a] == labels[b] else "n")
        page.wait_for_function(
            "name => document.querySelector('.ask').dataset.question !== name", arg=name
        )
        page.wait_for_timeout(1000 * pause)


def key_to_next(browser, n_rows):
    X, labels = make_blobs(n_rows, N_FEATURES, centers=N_GROUPS, cluster_std=6.0, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "rows.npy")
        np.save(table, X)
        server = Server(command(table))
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.goto(server.url)
            question(page)
            page.evaluate(TIMED)
            answer(page, labels, N_KEYS, PAUSE)
            times = page.evaluate("() => times")
            n_points, frames = panned(page)
            page.close()
        finally:
            server.stop()
    median, p99 = np.percentile(times, [50, 99])
    print(
        f"n = {n_rows:,}: {len(times)} keys, "
        f"median {median:.0f} ms, p99 {p99:.0f} ms, longest {max(times):.0f} ms"
    )
    median, p95 = np.percentile(frames, [50, 95])
    print(f"  map of {n_points:,} points, dragged: a frame in {median:.0f} ms, p95 {p95:.0f} ms")


def panned(page):
    """Milliseconds from frame to frame while the map is dragged about."""
    page.goto(page.url.partition("#")[0] + "#map")
    page.wait_for_selector(".clusters tbody tr", timeout=120_000)
    page.wait_for_timeout(1000)
    box = page.locator("canvas.over").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    for step in range(90):
        page.mouse.move(x + 2 * step, y + step)
    page.mouse.up()
    drawn = page.evaluate("() => drawn.slice(1)")
    n_points = page.evaluate(
        "() => fetch('/api/map').then((r) => r.json()).then((m) => m.x.length)"
    )
    return n_points, drawn


def serve_texts(name, folder):
    """Serve titles by their embedding; prints the address as the command does."""
    import pandas as pd

    from conclust.studio import Data, open_project, serve

    source = Path(os.environ["CONCLUST_DATA"])
    X = np.load(source / f"{name}_embedding.npz")["X"].astype(np.float64)
    frame = pd.read_csv(source / f"{name}.csv.gz")
    n_clusters = frame["label"].nunique()
    data = Data(name, X, frame[["text"]])
    project = open_project(data, Path(folder, f"{name}.studio"), n_clusters=n_clusters)
    serve(project, on_ready=lambda url: print(json.dumps({"url": url}, indent=1), flush=True))
    project.close()


def served(name, folder):
    """A server of the texts, and their labels."""
    if name != "webkb":
        import pandas as pd

        labels = pd.read_csv(Path(os.environ["CONCLUST_DATA"]) / f"{name}.csv.gz")["label"]
        serving = [sys.executable, __file__, "--serve", name, folder]
        return Server(serving), labels.to_numpy()
    pages = load("webkb_course")
    table = Path(folder, "webkb.csv")
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["page", "text"])
        words = (" ".join(re.sub(r"<[^>]*>", " ", text).split()) for text in pages.texts[0])
        writer.writerows(zip(pages.ids, words, strict=True))
    options = ["--id-col", "page", "--text-col", "text", "-k", "2"]
    return Server(command(table, *options)), np.asarray(pages.target)


def clusters(page, base):
    """The cluster of each row, of all answers so far."""
    for _ in range(20):
        reply = page.request.get(f"{base}/api/export/labels.csv", timeout=300_000)
        if reply.ok:
            return [row["label"] for row in csv.DictReader(io.StringIO(reply.text()))]
        time.sleep(3)
    raise RuntimeError(reply.text())


def from_nothing(browser, name, pause):
    with tempfile.TemporaryDirectory() as folder:
        server, labels = served(name, folder)
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.goto(server.url)
            question(page)
            base = f"http://{server.host}"
            before = normalized_mutual_info_score(labels, clusters(page, base))
            began = time.monotonic()
            answer(page, labels, ANSWERS[name], pause)
            after = normalized_mutual_info_score(labels, clusters(page, base))
            page.close()
        finally:
            server.stop()
    took = time.monotonic() - began
    print(
        f"{name}: {len(labels)} texts, NMI {before:.2f} before, {after:.2f} after "
        f"{ANSWERS[name]} answers ({took:.0f} s, {pause:g} s between them)"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--texts", nargs="*", default=list(ANSWERS))
    parser.add_argument(
        "--pause", type=float, default=1.0, help="seconds between answers about texts"
    )
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve_texts(*given.serve)
        return
    print(f"{os.cpu_count()} cores; tables: d = {N_FEATURES}, k = {N_GROUPS}")
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for n_rows in given.rows:
            key_to_next(browser, n_rows)
        for name in given.texts:
            from_nothing(browser, name, given.pause)
        browser.close()


if __name__ == "__main__":
    main()
