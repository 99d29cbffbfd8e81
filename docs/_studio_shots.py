"""Pictures of the studio for its guide: every page and dialog, made on a real server.

python docs/_studio_shots.py    # writes docs/images/studio/*.png; needs chromium
"""

import io
import shutil
import sys
import tempfile
import uuid
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_iris

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "images" / "studio"
sys.path.insert(0, str(ROOT))

from tests.studio.browser import DESK, PHONE, Studio  # noqa: E402

N_ANSWERS, N_COLORS = 40, 200
MAX_BYTES = 150_000
PLACES = (
    ("a dry meadow above the river", "beside the road to the mill", "a clearing in the beech wood"),
    (
        "the edge of the wood, in half shade",
        "a wet meadow below the mill",
        "a ditch beside the road",
    ),
    (
        "a wet clearing in the beech wood",
        "the bank of the river, in the shade",
        "the edge of the fen",
    ),
)


def table(path: Path) -> np.ndarray:
    """Irises with a few words on where they grew; the species is what is asked for."""
    iris = load_iris(as_frame=True)
    frame = iris.data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    frame.insert(0, "flower", [f"flower {i + 1}" for i in range(len(frame))])
    frame["found at"] = [PLACES[y][i % 3] for i, y in enumerate(iris.target)]
    frame.to_csv(path, index=False)
    return iris.target.to_numpy()


class Camera:
    """A browser, and where its pictures go."""

    def __init__(self, browser, studio):
        self.browser, self.studio = browser, studio

    def page(self, viewport=DESK, scheme="light"):
        context = self.browser.new_context(viewport=viewport, color_scheme=scheme)
        page = context.new_page()
        page.goto(self.studio.url)
        page.wait_for_selector(".ask[data-question]:not([data-question=''])")
        return page

    def post(self, page, path, **body):
        body = {"person": "ann", "request": uuid.uuid4().hex, **body}
        reply = page.request.post(self.studio.base + path.lstrip("/"), data=body)
        assert reply.ok, reply.text()
        return reply.json()

    def take(self, page, name, wait=700):
        page.wait_for_timeout(wait)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture = picture.quantize(N_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        path = FOLDER / f"{name}.png"
        picture.save(path, optimize=True)
        size = path.stat().st_size
        assert size < MAX_BYTES, f"{name}: {size:,} bytes"
        print(f"{path.relative_to(ROOT)}: {size:,} bytes")


def answer(camera, page, labels):
    """Two people answer; a few answers are wrong."""
    for i in range(N_ANSWERS):
        person = ("ann", "ben")[i % 2]
        question = camera.post(page, "/api/next", person=person)["question"]
        a, b = question["samples"]
        same = (labels[a] == labels[b]) != (i in (17, 26))
        word = "must-link" if same else "cannot-link"
        body = {"question": question["id"], "answer": word, "seconds": 1.5 + i % 4}
        camera.post(page, "/api/answer", person=person, **body)
        if i % 8 == 7:  # the clustering follows
            page.wait_for_timeout(2500)
    page.wait_for_timeout(4000)


def turn(page, name):
    page.locator(f"#to-{name}").click()
    page.wait_for_timeout(800)


def kind(page, label, wanted):
    page.get_by_label(label, exact=True).check()
    page.wait_for_selector(f".ask[data-kind={wanted}]")


def questions(camera, page, suffix=""):
    kind(page, "Two", "pair")
    camera.take(page, f"pair{suffix}")
    kind(page, "Three", "triple")
    camera.take(page, f"triple{suffix}")
    kind(page, "Piles", "piles")
    for key in "1213":
        page.keyboard.press(key)
    camera.take(page, f"piles{suffix}")


def pages(camera, page, suffix=""):
    turn(page, "map")
    camera.take(page, f"map{suffix}")
    for i in range(2):
        page.locator(".clusters input").nth(i).check()
    page.evaluate("scrollTo(0, 0)")
    camera.take(page, f"merge{suffix}")
    page.keyboard.press("Escape")
    turn(page, "answers")
    camera.take(page, f"answers{suffix}")
    turn(page, "progress")
    camera.take(page, f"progress{suffix}")


def contradiction(camera, page, rows):
    """Three rows of one species, the last pair told apart."""
    for a, b in ((rows[0], rows[1]), (rows[1], rows[2])):
        camera.post(page, "/api/say", verb="link", rows=[a, b], person="ben")
    question = camera.post(page, "/api/pose", samples=[rows[0], rows[2]], kind="pair", person="me")
    page.goto("about:blank")
    page.route("**/api/next", lambda route: route.fulfill(json=question), times=1)
    page.goto(camera.studio.url)
    page.wait_for_selector(f".ask[data-question='{question['question']['id']}']")
    page.keyboard.press("n")
    page.get_by_role("dialog").wait_for()


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "irises.csv"
        labels = table(path)
        studio = Studio(path, "--id-col", "flower", "-k", "3", "--exclude", "found at")
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            camera = Camera(browser, studio)
            page = camera.page()
            answer(camera, page, labels)
            page.reload()
            questions(camera, page)
            pages(camera, page)
            dark = camera.page(scheme="dark")
            camera.take(dark, "pair-dark")
            for name in ("map", "answers", "progress"):
                turn(dark, name)
                camera.take(dark, f"{name}-dark")
            phone = camera.page(PHONE)
            questions(camera, phone, "-390")
            pages(camera, phone, "-390")
            page.locator("#help").click()
            camera.take(page, "keys")
            contradiction(camera, page, [60, 66, 84])
            camera.take(page, "conflict")
            contradiction(camera, phone, [62, 68, 86])
            camera.take(phone, "conflict-390")
        finally:
            browser.close()
            studio.close()


if __name__ == "__main__":
    main()
