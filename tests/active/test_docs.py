"""The guide runs, and names what there is."""

import re
from pathlib import Path

import conclust.active
from conclust.active import oracles

GUIDE = (Path(__file__).parents[2] / "docs" / "asking.md").read_text(encoding="utf-8")


def test_the_guide_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL):
        exec(block, names)
    assert len(names["session"]) == 8
    assert len(set(names["session"].labels_[:3])) == 1
    assert (tmp_path / "replies.jsonl").exists()


def test_every_oracle_and_wrapper_is_in_the_guide():
    public = set(conclust.active.__all__) & set(vars(oracles))
    assert len(public) >= 9
    assert [name for name in public - {"Question"} if f"`{name}" not in GUIDE] == []
