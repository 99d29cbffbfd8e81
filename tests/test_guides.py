"""The guides on decisions, known labels, living clusterings and the bridge run."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", ["verbs", "known_labels", "living", "bridge", "scale"])
def test_a_guide_runs_and_shows_its_picture(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where guides may write
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(block, names)
    for picture in re.findall(r"\]\((pictures/.*?)\)", text):
        assert (DOCS / picture).is_file()
    if name == "living":
        assert names["model"].changes_["why"].eq("new row").sum() == 30
    if name == "known_labels":
        assert names["model"].classes_.tolist() == [0, 1, 2]
    if name == "verbs":
        assert names["known"].satisfied(names["again"].labels_).all()
