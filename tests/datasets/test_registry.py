"""The registry against the manifest that lies beside the data."""

import json

import pytest

from conclust.datasets._catalog import _INDEX, _squashed
from conclust.datasets._files import READERS, SHA256
from conclust.datasets._made import RECIPES
from conclust.datasets._registry import ALIASES, DATASETS, PAPERS


@pytest.fixture(scope="module")
def manifest(data_folder):
    return json.loads((data_folder / "MANIFEST.json").read_text())


def test_registry_says_what_the_manifest_says(manifest):
    # Check sizes, classes, checksums and OpenML ids of every stored set.
    for entry in manifest["datasets"]:
        dataset = DATASETS[entry["name"]]
        assert dataset.n == entry["n"]
        assert dataset.classes == entry["classes"]
        assert dict(dataset.sizes) == entry["class_counts"]
        width = entry["d"] if entry["d"] != "text (2 views)" else None
        assert dataset.d == (tuple(width) if isinstance(width, list) else width)
        assert dataset.openml == entry.get("openml", {}).get("data_id")
        stored = {file["file"]: file["sha256"] for file in entry.get("files", [entry])}
        assert {file: SHA256[file] for file in dataset.files} == stored


def test_registry_has_the_manifests_subsets(manifest):
    # Check name, origin and size of the subsets the papers use.
    for entry in manifest["derived_subsets"]:
        dataset = DATASETS[_INDEX[_squashed(entry["name"])]]
        assert dataset.parts == (entry["from"],)
        assert dataset.n == entry["n"]


def test_registry_is_consistent_in_itself():
    # Check that each entry can be read or made, and that what it refers to exists.
    for name, dataset in DATASETS.items():
        assert bool(dataset.files) != bool(dataset.parts), name
        assert all(file in SHA256 for file in dataset.files)
        assert all(part in DATASETS for part in dataset.parts)
        assert dataset.layout in READERS
        assert (name in RECIPES) == bool(dataset.parts)
        assert all(stated.paper in PAPERS for stated in dataset.stated)
        assert set(dataset.meaning) <= set(dataset.sizes)
        assert not isinstance(dataset.d, tuple) or len(dataset.d) == len(dataset.views)


def test_no_two_sets_share_a_name():
    # Check that squeezing hyphens and case out leaves every name and alias with one meaning.
    assert len(_INDEX) == len({_squashed(name) for name in [*DATASETS, *ALIASES]})
    for name in DATASETS:
        assert _INDEX[_squashed(name)] == name
    assert set(ALIASES.values()) <= set(DATASETS)
