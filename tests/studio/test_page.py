"""The files of the page, without a browser: words, colours, and what no page may do."""

import json
import re
from importlib import resources

import pytest

from conclust.reporting._html import COLORS, SHAPES

PAGE = resources.files("conclust.studio") / "page"
SCRIPTS = {
    file.name: file.read_text(encoding="utf-8")
    for file in PAGE.iterdir()
    if file.name.endswith(".js")
}
STRINGS = json.loads((PAGE / "strings.en.json").read_text(encoding="utf-8"))


def keys_of(script):
    """Keys as patterns: those written out, and those with a part put in."""
    rooms = {key.partition(".")[0] for key in STRINGS}
    plain = re.findall(r'"([a-zA-Z]+(?:\.[\w-]+)*)(?<!\.jsonl)"', script)
    made = re.findall(r"(?:say|phrase)\(`([^`]+)`", script)
    return {
        re.escape(key)
        for key in plain
        if key.partition(".")[0] in rooms and ("." in key or key in STRINGS)
    } | {re.escape(re.sub(r"\$\{.*\}", "*", key)).replace(r"\*", ".+") for key in made}


def test_every_word_is_in_the_one_file_and_used():
    keys = {key for script in SCRIPTS.values() for key in keys_of(script)}
    missing = {key for key in keys if not any(re.fullmatch(key, known) for known in STRINGS)}
    unused = {known for known in STRINGS if not any(re.fullmatch(key, known) for key in keys)}
    assert (missing, unused) == (set(), set())


def test_plurals_have_both_forms_and_holes_fit():
    for key, words in STRINGS.items():
        if isinstance(words, dict):
            assert set(words) == {"one", "other"}, key
            assert all("{n}" in form for form in words.values()) or "{n}" not in words["one"], key


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_no_script_makes_markup_of_text(name):
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"style\"|https?://(?!www\.w3\.org/2000/svg)"
    assert re.findall(forbidden, SCRIPTS[name]) == []


def test_the_page_asks_for_nothing_from_elsewhere():
    for file in PAGE.iterdir():
        if file.name.endswith((".html", ".css", ".svg")):
            content = file.read_text(encoding="utf-8")
            assert (
                re.findall(r"https?://(?!www\.w3\.org/2000/svg)|style=|<script>|url\(", content)
                == []
            ), file.name


def test_clusters_look_as_in_the_report():
    marks = SCRIPTS["marks.js"]
    light = re.search(r"LIGHT = \[([^\]]+)\]", marks)[1]
    assert tuple(re.findall(r"#\w{6}", light)) == COLORS
    shapes = re.findall(r'"(M[^"]+)"', marks)
    assert tuple(shape.replace("M", "m", 1) for shape in shapes) == SHAPES
    css = (PAGE / "studio.css").read_text(encoding="utf-8")
    for dark in re.findall(r"#\w{6}", re.search(r"DARK = \[([^\]]+)\]", marks)[1]):
        assert css.count(dark) >= 2  # by the system's wish and by the switch
