"""The site: pages that run, links that lead somewhere, a reference that misses nothing."""

import importlib
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import conclust

TOP = Path(__file__).parents[1]
DOCS = TOP / "docs"
TEXTS = [TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted(DOCS.glob("**/*.md"))]
FENCED = re.compile(r"^( *)(`{3,}|:{3,}).*?^\1\2", flags=re.DOTALL | re.MULTILINE)


def says_index(names):
    assert names["model"].report_.n_violated == 0


def says_first_steps(names):
    assert names["wrong"].all()


def says_hard_soft_doubting(names):
    assert list(names["scores"].values()) == pytest.approx([0.97, 0.97, 1, 0.49, 0.97, 1], abs=0.05)
    assert names["found"].sum() == 15


def says_conflicts(names):
    assert str(names["clashes"][0]) in (DOCS / "conflicts.md").read_text(encoding="utf-8")
    assert names["mended"].dropped.cannot_link.tolist() == [[0, 2]]


def says_duplicates(names):
    assert names["table"]["person"].nunique() == 90
    assert [names["before"], names["after"]] == pytest.approx([0.86, 0.93], abs=0.03)
    assert names["kept"] == pytest.approx(0.93, abs=0.03)
    assert names["model"].report_.n_violated <= 2
    assert names["strict"].report_.n_violated == 0


def says_taxonomy(names):
    assert names["by_field"] == pytest.approx([0.16, 1.0], abs=0.1)
    assert names["by_subject"] == pytest.approx([0.40, 0.97], abs=0.1)


def says_segments(names):
    assert [str(clash) for clash in names["clash"]] == [
        "8 and 9 are both must-linked and cannot-linked."
    ]
    assert names["model"].report_.n_violated == 0
    assert names["sizes"].min() >= 60
    assert names["sizes"].max() <= 140


def says_intents(names):
    assert [names["before"], names["after"]] == pytest.approx([0.75, 0.80], abs=0.05)
    assert [names["caught"].sum(), names["wrong"].sum()] == pytest.approx([8, 11], abs=2)


def says_pipeline(names):
    assert names["search"].best_params_["cluster__n_clusters"] == 3
    assert names["search"].best_score_ > 0.9


def says_bertopic(names):
    assert len(set(names["topics"])) == 4
    assert names["topic_model"].hdbscan_model.report_.n_violated <= 3


PAGES = {
    "conflicts": says_conflicts,
    "hard_soft_doubting": says_hard_soft_doubting,
    "howto/taxonomy": says_taxonomy,
}
SLOW_PAGES = {
    "index": says_index,
    "first_steps": says_first_steps,
    "howto/duplicates": says_duplicates,
    "howto/segments": says_segments,
    "howto/intents": says_intents,
    "howto/pipeline": says_pipeline,
    "howto/bertopic": says_bertopic,
}


@pytest.mark.parametrize(
    "name", [*PAGES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_PAGES)]
)
def test_a_page_runs_and_says_what_comes_out(name, tmp_path, monkeypatch):
    if name == "howto/bertopic":
        pytest.importorskip("bertopic", reason="needs BERTopic: pip install bertopic")
    monkeypatch.chdir(tmp_path)  # where pages may write
    names = {}
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(block, names)
    (PAGES | SLOW_PAGES)[name](names)


def slug(heading):
    """The anchor that GitHub and the site give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(TOP).as_posix())
def test_links_lead_to_files_and_headings(path):
    text = FENCED.sub("", path.read_text(encoding="utf-8"))
    for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)", text):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name) if name else path
        assert file.exists(), f"{target} of {path.name}"
        if anchor:
            headings = re.findall(
                r"^#+ (.*)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE
            )
            assert anchor in map(slug, headings), f"{target} of {path.name}"


def test_verdicts_are_those_of_the_papers_pages():
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    rows = re.findall(r"\((reproduction/paper\d+\.md)\) \| (\d+) \| (\d+) \| (\d+) \|", text)
    assert len(rows) == 5
    for page, *said in rows:
        claims = (DOCS / page).read_text(encoding="utf-8").partition("## Figures")[0]
        verdicts = re.findall(
            r"^\| (?!ours)[^|]*\| (holds|partly|does not) \|", claims, re.MULTILINE
        )
        assert [verdicts.count(v) for v in ("holds", "partly", "does not")] == list(map(int, said))


def test_every_erratum_says_what_shows_it():
    # Check that no row's last cell is empty, and that the tests it names are there.
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    rows = [
        re.split(r"(?<!\\)\|", line)[1:-1] for line in re.findall(r"^\|.*\|$", text, re.MULTILINE)
    ]
    assert {len(row) for row in rows} == {4}
    assert [row[0] for row in rows if not row[3].strip()] == []
    tests = "".join(path.read_text(encoding="utf-8") for path in (TOP / "tests").rglob("test_*.py"))
    for path, test in re.findall(r"`(?:(tests/\S+?\.py)(?:::)?)?(test_\w+)?`", text):
        home = (TOP / path).read_text(encoding="utf-8") if path else tests
        assert f"def {test}" in home, f"{path}::{test}"


@pytest.fixture
def reference(monkeypatch):
    """The full names that the site describes."""
    pytest.importorskip("sphinx", reason='needs Sphinx: pip install "conclust[docs]"')
    monkeypatch.syspath_prepend(DOCS)
    pages = importlib.import_module("_site").public_names()
    return [name for names in pages.values() for name in names]


def test_the_reference_has_every_public_name_once(reference):
    assert len(set(reference)) == len(reference)
    described = {id(resolved(name)) for name in reference}
    for module in (conclust, *(getattr(conclust, name) for name in conclust._SUBPACKAGES)):
        for name in getattr(module, "__all__", ()):
            if name != "__version__" and name not in conclust._SUBPACKAGES:
                assert id(getattr(module, name)) in described, f"{module.__name__}.{name}"


def resolved(name):
    module, _, short = name.rpartition(".")
    return getattr(importlib.import_module(module), short)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built with warnings as errors; examples are not run."""
    for module in ("sphinx", "pydata_sphinx_theme", "myst_parser", "sphinx_design", "numpydoc"):
        pytest.importorskip(module, reason='needs the site\'s tools: pip install "conclust[docs]"')
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-n", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), str(DOCS), str(folder / "html")],
        env=os.environ | {"CONCLUST_PLOT_GALLERY": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.slow
def test_the_site_builds_and_describes_every_name(site, reference):
    packed = (site / "objects.inv").read_bytes().split(b"\n", maxsplit=4)[-1]
    described = {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}
    assert set(reference) <= described
    commands = (site / "command_line_reference.html").read_text(encoding="utf-8")
    assert "Usage: conclust cluster" in commands
    assert 'href="api/generated/conclust.AutoCluster.html' in (site / "choosing.html").read_text()


@pytest.mark.slow
def test_the_site_is_accessible(site, browser, axe_rules, monkeypatch):
    monkeypatch.syspath_prepend(TOP)
    shots = importlib.import_module("docs._site_shots")
    names = ("landing", "guide", "gallery", "class", "paper", "how_far")
    pages = {name: shots.PAGES[name] for name in names}
    found = {
        name: [*axe_rules(page).items(), *shots.layout_faults(page)]
        for name, page in shots.views(browser, site, pages)
    }
    assert {name: rules for name, rules in found.items() if rules} == {}


@pytest.mark.slow
def test_pictures_of_the_site_can_be_drawn(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    monkeypatch.syspath_prepend(TOP)
    pictures = importlib.import_module("docs._site_pictures")
    means = pictures.leaderboard()
    assert means.index[-1] == "Auto"
    line = re.search(r"^\| AutoCluster \|(.*)\|$", (DOCS / "choosing.md").read_text(), re.MULTILINE)
    told = [float(cell) for cell in line[1].split("|")[:6]]  # all true, then a fifth wrong
    shares = [0.01, 0.05, 0.2]
    drawn = [means.loc["Auto", (share, wrong)] for wrong in (0.0, 0.2) for share in shares]
    assert drawn == pytest.approx(told, abs=5.1e-4)
    pictures.main(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"landing_{number}.png" for number in (1, 2, 3)),
        "which_method.png",
    }
