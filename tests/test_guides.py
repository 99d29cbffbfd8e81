"""Every block of Python in README and the guides runs, and every picture they show is there."""

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

TOP = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)(.*?)\)")

GUIDES = {
    path.relative_to(TOP).with_suffix("").as_posix(): path
    for path in [TOP / "README.md", *sorted(TOP.glob("docs/**/*.md"))]
}
SERVES = "docs/studio"  # until Ctrl-C
# tests/active/test_docs.py, tests/datasets/test_docs.py, tests/test_site.py
ELSEWHERE = {"docs/asking", "docs/datasets"}
ELSEWHERE |= {
    f"docs/{name}" for name in ("index", "first_steps", "hard_soft_doubting", "conflicts")
}
ELSEWHERE |= {name for name in GUIDES if name.startswith("docs/howto/")}
SLOW = {"docs/co_training", "docs/constraints", "docs/number_of_clusters"}
NEEDS_DATA = {"docs/co_training"}  # and is run as far as its first block without


def blocks_of(name):
    return BLOCK.findall(GUIDES[name].read_text(encoding="utf-8"))


def check_what_it_says(name, names):
    """What the text beside a block promises."""
    if name == "docs/living":
        assert names["model"].changes_["why"].eq("new row").sum() == 30
    if name == "docs/known_labels":
        assert names["model"].classes_.tolist() == [0, 1, 2]
    if name == "docs/verbs":
        assert names["known"].satisfied(names["again"].labels_).all()
    if name == "docs/cosine":
        assert names["model"].predict([[50.0, 1.0]]) == names["model"].labels_[0]
    if name == "docs/sizes":
        sizes = np.bincount(names["model"].labels_)
        assert sizes.min() >= 45
        assert sizes.max() <= 55
    if name == "docs/outliers":
        assert names["model"].labels_.tolist().index(-1) == 6
        assert names["model"].outlier_share_ == pytest.approx(1 / 7)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
        for name in GUIDES
        if name not in {SERVES, *ELSEWHERE} and blocks_of(name)
    ],
)
def test_a_guide_runs(name, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)  # where guides may write
    names = {}
    for number, block in enumerate(blocks_of(name)):
        if name in NEEDS_DATA and number == 1:
            request.getfixturevalue("data_folder")
        exec(block, names)
    check_what_it_says(name, names)


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_shows_its_pictures(name):
    for picture in PICTURE.findall(GUIDES[name].read_text(encoding="utf-8")):
        assert (GUIDES[name].parent / picture).is_file(), picture


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_the_guide_of_the_studio_serves_a_page_until_it_is_stopped(tmp_path):
    (block,) = blocks_of(SERVES)
    server = subprocess.Popen(
        [sys.executable, "-u", "-c", block], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        address = server.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=60) as page:
            assert b"<html" in page.read()
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.communicate()
    assert (tmp_path / "flowers.studio").is_file()
