"""README and the guides on what clusterings can do run."""

import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[1] / "docs"


GUIDES = ["../README", "verbs", "known_labels", "living", "bridge", "cosine", "sizes", "outliers"]
GUIDES += ["scale", "pictures"]


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_runs_and_shows_its_picture(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where guides may write
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(block, names)
    for picture in re.findall(r"!\[[^\]]*\]\((.*?)\)", text):
        assert (DOCS / picture).is_file()
    if name == "living":
        assert names["model"].changes_["why"].eq("new row").sum() == 30
    if name == "known_labels":
        assert names["model"].classes_.tolist() == [0, 1, 2]
    if name == "verbs":
        assert names["known"].satisfied(names["again"].labels_).all()
    if name == "cosine":
        assert names["model"].predict([[50.0, 1.0]]) == names["model"].labels_[0]
    if name == "sizes":
        sizes = np.bincount(names["model"].labels_)
        assert sizes.min() >= 45
        assert sizes.max() <= 55
    if name == "outliers":
        assert names["model"].labels_.tolist().index(-1) == 6
        assert names["model"].outlier_share_ == pytest.approx(1 / 7)
