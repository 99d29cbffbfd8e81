"""What README, guide and citation say of the package is what the package says."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

import conclust
from conclust import COPKMeans

TOP = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("tables", TOP / "docs" / "_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["README.md", "docs/command_line.md"])
def test_tables_are_what_the_classes_declare(tables, name):
    text = (TOP / name).read_text(encoding="utf-8")
    assert tables.with_table(text, tables.TABLES[name]()) == text, (
        "run `python docs/_tables.py --write`"
    )


def test_a_changed_declaration_changes_the_tables(tables, monkeypatch):
    before = tables.estimator_table()
    other = replace(COPKMeans._takes, how="softly", sparse=False, weights="weights")
    monkeypatch.setattr(COPKMeans, "_takes", other)
    after = tables.estimator_table()
    assert "| `COPKMeans` | must-link, cannot-link, weights | softly |" in after
    assert "all but `COPKMeans`, `ConstrainedGaussianMixture`" in after
    assert before != after


def test_the_citation_is_of_this_version():
    # Check what `.ci/release` keeps in step.
    text = (TOP / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {conclust.__version__}\n" in text
