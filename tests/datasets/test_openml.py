"""The way over OpenML, with answers of the form fetch_openml gives and no network."""

import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from conclust.datasets import load
from conclust.datasets._cache import copy_path
from conclust.datasets._registry import DATASETS
from conclust.exceptions import ConclustWarning, DatasetNotFoundError

REAL_FETCH = sklearn.datasets.fetch_openml


def answer(name, labels=None, **changes):
    """What OpenML might give for a set: random numbers, right sizes, labels of its own."""
    dataset = DATASETS[name]
    random_state = np.random.RandomState(0)
    spelled = dict(zip(dataset.sizes, labels or dataset.sizes, strict=True))
    column = [spelled[label] for label, size in dataset.sizes.items() for _ in range(size)]
    target = pd.Series(random_state.permutation(column), dtype="category", name="class")
    values = random_state.randint(0, 100, size=(dataset.n, dataset.d)).astype(float)
    frame = pd.DataFrame(values, columns=[f"V{i + 1}" for i in range(dataset.d)])
    return Bunch(data=frame.assign(**changes), target=target, details={"id": dataset.openml})


@pytest.fixture
def openml(bare_machine, monkeypatch):
    """Call with an answer to have OpenML give it; the calls made are what it returns."""

    signature = inspect.signature(REAL_FETCH)

    def give(bunch):
        calls = []

        def fetch_openml(**arguments):
            signature.bind(**arguments)
            calls.append(arguments)
            return bunch

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
        return calls

    return give


def test_fetched_once_then_kept(openml, bare_machine):
    # Check the arguments of the call, and that the second load needs none.
    bunch = answer("sonar", labels=["Mine", "Rock"])
    calls = openml(bunch)
    first, second = load("sonar"), load("sonar")
    assert [call["data_id"] for call in calls] == [40]
    np.testing.assert_array_equal(first.data, bunch.data.to_numpy())
    np.testing.assert_array_equal(first.data, second.data)
    np.testing.assert_array_equal(first.target, second.target)
    assert first.feature_names == second.feature_names == [f"V{i}" for i in range(1, 61)]
    assert "OpenML, data_id=40" in first.DESCR
    assert [path.name for path in bare_machine.iterdir()] == ["sonar_openml40.npz"]


def test_labels_known_by_their_sizes(openml):
    # Check that words for codes become the codes where the class sizes tell them apart.
    bunch = answer("sonar", labels=["Mine", "Rock"])
    openml(bunch)
    sonar = load("sonar")
    assert sonar.target_names.tolist() == ["M", "R"]
    np.testing.assert_array_equal(sonar.target == 0, bunch.target == "Mine")


def test_labels_known_by_their_spelling(openml):
    # Check lower case for upper case; the sizes are all the same here.
    labels = [label.lower() for label in DATASETS["segmentation_2310"].sizes]
    openml(answer("segmentation_2310", labels=labels))
    assert load("segment").target_names.tolist() == list(DATASETS["segmentation_2310"].sizes)


def test_labels_not_known_are_kept(openml):
    # Check that nothing is guessed; text columns are no features.
    labels = list(DATASETS["vowel"].meaning.values())
    speaker = pd.Categorical(["Andrew", "Bill", "David"] * 330)
    openml(answer("vowel", labels=labels, Speaker=speaker))
    vowel = load("vowel")
    assert vowel.data.shape == (990, 10)
    assert vowel.target_names.tolist() == sorted(labels)


def test_numbers_given_as_categories_are_numbers(openml):
    # Check that nominal columns whose values are digits are read as numbers.
    bunch = answer("transfusion", labels=["1", "2"])
    bunch.data = bunch.data.astype(int).astype(str).astype("category")
    openml(bunch)
    assert load("transfusion").data.dtype == np.float64


def test_subsets_of_fetched_sets(openml):
    # Check that a subset is cut from what OpenML gives.
    openml(answer("letter"))
    assert load("letters_ijlt").data.shape == (3059, 16)


def test_types_of_the_registry_are_kept(openml, monkeypatch):
    # Check that images fetched as floats become bytes, as in the stored file.
    monkeypatch.setitem(DATASETS, "mnist", small_mnist())
    openml(answer("mnist"))
    assert load("mnist").data.dtype == np.uint8


def small_mnist():
    return replace(DATASETS["mnist"], d=4, sizes={"0": 3, "1": 4})


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda b: b.data.drop(columns="V1"), "features: 59 found, 60 expected"),
        (lambda b: b.data.assign(id=range(208)), "features: 61 found, 60 expected"),
        (lambda b: b.data.assign(V1=np.nan), "values: some are missing"),
        (lambda b: b.data.iloc[:0, :0], "features: 0 found, 60 expected"),
    ],
)
def test_other_features_are_refused(openml, bare_machine, spoil, complaint):
    # Check that the difference is named and nothing is kept.
    bunch = answer("sonar")
    bunch.data = spoil(bunch)
    openml(bunch)
    with pytest.raises(DatasetNotFoundError, match="is not the 'sonar' of the registry") as error:
        load("sonar")
    assert complaint in str(error.value)
    assert "fetch_openml(data_id=40)" in str(error.value)
    assert not bare_machine.exists()


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda t: t.replace("M", "R"), "classes: 1 found, 2 expected"),
        (lambda t: t.map({"M": "R", "R": "M"}), "class sizes: [97, 111] found, [111, 97] expected"),
        (lambda t: ["X"] * 100 + ["Y"] * 108, "class sizes: [100, 108] found, [97, 111] expected"),
    ],
)
def test_other_classes_are_refused(openml, spoil, complaint):
    # Check that the difference is named.
    bunch = answer("sonar")
    bunch.target = pd.Series(spoil(bunch.target.astype(object)))
    openml(bunch)
    with pytest.raises(DatasetNotFoundError) as error:
        load("sonar")
    assert complaint in str(error.value)


def test_other_rows_are_refused(openml):
    # Check a set that holds the training part only.
    bunch = answer("vowel")
    bunch.data, bunch.target = bunch.data.iloc[:528], bunch.target.iloc[:528]
    openml(bunch)
    with pytest.raises(DatasetNotFoundError, match="rows: 528 found, 990 expected"):
        load("vowel")


def test_values_that_do_not_fit(openml, monkeypatch):
    # Check that casting never changes a value silently.
    monkeypatch.setitem(DATASETS, "mnist", small_mnist())
    openml(answer("mnist", V1=0.5))
    with pytest.raises(DatasetNotFoundError, match="do not fit into uint8"):
        load("mnist")


@pytest.mark.parametrize("blob", [b"", b"PK\x03\x04 half a file", b"\x80\x04N."])
def test_damaged_copy_is_fetched_again(openml, bare_machine, blob):
    # Check that a cache file that cannot be read is replaced.
    path = copy_path(DATASETS["sonar"])
    path.parent.mkdir()
    path.write_bytes(blob)
    calls = openml(answer("sonar"))
    load("sonar")
    load("sonar")
    assert len(calls) == 1


@pytest.mark.parametrize(
    "arrays",
    [
        {"data": np.zeros((208, 60))},
        {"data": np.zeros(208), "labels": np.zeros(208), "feature_names": np.array(["a"])},
        {
            "data": np.array([[None]]),
            "labels": np.array(["M"]),
            "feature_names": np.array(["a"]),
        },
        {
            "data": np.zeros((2, 60)),
            "labels": np.array(["M", "R"]),
            "feature_names": np.array(["a"] * 60),
        },
    ],
)
def test_copy_with_other_content_is_of_no_use(bare_machine, arrays):
    # Check that the message of a machine without network says what is wrong with the copy.
    path = copy_path(DATASETS["sonar"])
    path.parent.mkdir()
    np.savez(path, **arrays)
    with pytest.raises(DatasetNotFoundError, match="copy in the cache is of no use"):
        load("sonar")


def test_failed_write_leaves_nothing_behind(openml, bare_machine, monkeypatch):
    # Check that the data are given all the same, with a warning, and that no draft stays.
    def full(*arguments):
        raise OSError("No space left on device")

    openml(answer("sonar"))
    monkeypatch.setattr("os.replace", full)
    with pytest.warns(ConclustWarning, match="Set CONCLUST_CACHE") as caught:
        assert load("sonar").data.shape == (208, 60)
    assert caught[0].filename == __file__
    assert list(bare_machine.iterdir()) == []
