"""Loading: every set, every place, and what happens when nothing is there."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from conclust.datasets import load, names
from conclust.datasets._made import RULES, SHIPPED
from conclust.datasets._registry import DATASETS
from conclust.exceptions import DatasetNotFoundError


@pytest.mark.parametrize("name", names())
def test_every_set_has_the_sizes_of_the_registry(data_folder, name):
    # Check rows, features, classes, class sizes and the form of every field.
    bunch, dataset = load(name), DATASETS[name]
    assert bunch.name == name
    assert bunch.target.dtype == np.int64
    assert bunch.target_names.tolist() == list(dataset.sizes)
    assert np.bincount(bunch.target).tolist() == list(dataset.sizes.values())
    assert dataset.remark in bunch.DESCR
    assert len(bunch.papers) == len({stated.paper for stated in dataset.stated})
    assert ("views" in bunch) == bool(dataset.views)

    if not dataset.views:
        assert bunch.data.shape == (dataset.n, dataset.d)
        assert bunch.data.dtype == dataset.dtype
        assert np.isfinite(bunch.data).all()
        assert len(bunch.feature_names) == dataset.d
    elif dataset.d is not None:
        assert bunch.views == list(dataset.views)
        for view, width, words in zip(bunch.data, dataset.d, bunch.feature_names, strict=True):
            assert view.shape == (dataset.n, width)
            assert view.dtype == np.float64
            assert words is None or len(words) == width


def test_texts(data_folder):
    # Check the two views of the pages, line ends kept, and one row by eye.
    pages = load("webkb_course")
    assert pages.texts is pages.data
    assert pages.views == ["fulltext", "inlinks"]
    assert [len(view) for view in pages.texts] == [1051, 1051]
    assert pages.ids[0] == "http:^^cs.cornell.edu^Info^Courses^Current^CS415^CS414.html"
    assert pages.texts[1][0] == "CS414 Operating System \n"
    assert sum(text.strip() == "" for text in pages.texts[1]) == 3


def test_webkb_views_are_weighted_words(data_folder):
    # Check unit rows (or empty ones), no tags, no stop words, rows as in webkb_course.
    webkb = load("webkb")
    for view, words in zip(webkb.data, webkb.feature_names, strict=True):
        assert sp.issparse(view)
        lengths = np.sqrt(view.multiply(view).sum(axis=1))
        assert np.all(np.isclose(lengths, 1) | (lengths == 0))
        assert not {"href", "the", "nbsp"} & set(words)
    # "CS414 Operating System": a word has letters only, and scikit-learn stops at "system".
    assert [webkb.feature_names[1][word] for word in webkb.data[1][[0]].indices] == ["operating"]
    np.testing.assert_array_equal(webkb.ids, load("webkb_course").ids)


def test_rows_of_both_webkb_versions_are_the_same_pages(data_folder):
    # Check ids and classes of the ready-made matrices.
    ours, theirs = load("webkb"), load("webkb_course_tfidf")
    np.testing.assert_array_equal(ours.ids, theirs.ids)
    np.testing.assert_array_equal(ours.target, theirs.target)


def test_labels_that_are_numbers_sort_as_numbers(data_folder):
    # Check that class 10 of vowel is the last, not the third.
    assert load("vowel").target_names.tolist() == [str(label) for label in range(11)]


def test_cover_types_one_hot(data_folder):
    # Check that every row has one wilderness area and one soil type.
    cover = load("covtype")
    assert (cover.data[:, 10:14].sum(axis=1) == 1).all()
    assert (cover.data[:, 14:].sum(axis=1) == 1).all()
    assert cover.data[0, :3].tolist() == [2596, 51, 3]
    assert cover.feature_names[10] == "wilderness_1"
    assert cover.feature_names[-1] == "soil_40"


@pytest.mark.parametrize(
    ("subset", "whole", "labels"),
    [
        ("digits389", "pendigits", "389"),
        ("pendigits3689", "pendigits", "3689"),
        ("letters_ijlt", "letter", "IJLT"),
    ],
)
def test_class_subsets_keep_rows_in_order(data_folder, subset, whole, labels):
    # Check the subset against a mask over the whole.
    small, large = load(subset), load(whole)
    keep = np.isin(large.target_names[large.target], list(labels))
    np.testing.assert_array_equal(small.data, large.data[keep])
    np.testing.assert_array_equal(
        small.target_names[small.target], large.target_names[large.target[keep]]
    )


def test_handwrittendigit_takes_the_first_of_each_digit(data_folder):
    # Check the stand-in: rows 0-399 of every 1100.
    small, large = load("handwrittendigit"), load("usps_roweis")
    for digit in range(10):
        np.testing.assert_array_equal(
            small.data[400 * digit : 400 * (digit + 1)], large.data[1100 * digit :][:400]
        )


def test_glass_10_is_glass_with_the_row_number(data_folder):
    # Check the first column and the rest.
    with_id, plain = load("glass_10"), load("glass")
    np.testing.assert_array_equal(with_id.data[:, 0], np.arange(1, 215))
    np.testing.assert_array_equal(with_id.data[:, 1:], plain.data)
    assert with_id.feature_names == ["id", *plain.feature_names]


@pytest.mark.parametrize("name", [*SHIPPED, *RULES])
def test_sets_without_files_equal_the_stored_ones(data_folder, monkeypatch, tmp_path, name):
    # Check values, classes and names, loaded from the file and from nowhere.
    stored = load(name)
    monkeypatch.delenv("CONCLUST_DATA")
    monkeypatch.setenv("CONCLUST_CACHE", str(tmp_path))
    made = load(name)
    assert stored.source != made.source
    np.testing.assert_array_equal(made.data, stored.data)
    np.testing.assert_array_equal(made.target, stored.target)
    assert made.target_names.tolist() == stored.target_names.tolist()
    assert made.feature_names == stored.feature_names


@pytest.mark.parametrize("name", [*SHIPPED, *RULES])
def test_sets_without_files_need_nothing(bare_machine, name):
    # Check sizes on a machine with neither folder nor network; nothing is written.
    bunch, dataset = load(name), DATASETS[name]
    assert bunch.data.shape == (dataset.n, dataset.d)
    assert np.bincount(bunch.target).tolist() == list(dataset.sizes.values())
    assert not bare_machine.exists()


@pytest.mark.parametrize(
    ("name", "original"), [("iris", load_iris), ("wine", load_wine), ("wdbc", load_breast_cancer)]
)
def test_shipped_sets_are_scikit_learns(bare_machine, name, original):
    # Check data and partition; wdbc's classes come in the order B, M, unlike scikit-learn's.
    ours, theirs = load(name), original()
    np.testing.assert_array_equal(ours.data, theirs.data)
    expected = 1 - theirs.target if name == "wdbc" else theirs.target
    np.testing.assert_array_equal(ours.target, expected)


def test_files_in_the_cache_are_found(data_folder, bare_machine):
    # Check that the cache folder may hold the stored files, too.
    bare_machine.mkdir()
    shutil.copy(data_folder / "sonar.csv.gz", bare_machine)
    sonar = load("sonar")
    assert sonar.data.shape == (208, 60)
    assert sonar.source == f"files in {bare_machine}"


@pytest.mark.parametrize("file", ["bbcsport_view2.npz", "bbcsport_labels.csv.gz"])
def test_damaged_file(data_folder, bare_machine, monkeypatch, tmp_path, file):
    # Check that one changed byte is noticed, and that the message says all one needs.
    folder = tmp_path / "data"
    folder.mkdir()
    for part in DATASETS["bbcsport"].files:
        shutil.copy(data_folder / part, folder)
    blob = bytearray((folder / file).read_bytes())
    blob[len(blob) // 2] ^= 1
    (folder / file).unlink()
    (folder / file).write_bytes(blob)
    monkeypatch.setenv("CONCLUST_DATA", str(folder))
    with pytest.raises(DatasetNotFoundError, match="Replace it by a good copy") as error:
        load("bbcsport")
    message = str(error.value)
    assert str(folder / file) in message
    assert message.count("sha256") == 1
    assert "expected" in message


def test_damaged_file_of_a_shipped_set_is_not_passed_over(bare_machine, monkeypatch, tmp_path):
    # Check that a file that is there and wrong stops the load, though iris could come otherwise.
    (tmp_path / "iris.csv.gz").write_bytes(b"not iris")
    monkeypatch.setenv("CONCLUST_DATA", str(tmp_path))
    with pytest.raises(DatasetNotFoundError, match=r"iris\.csv\.gz is not the file"):
        load("iris")


def test_three_ways_are_named(bare_machine):
    # Check the message where OpenML is a way but out of reach.
    with pytest.raises(DatasetNotFoundError) as error:
        load("usps")
    message = str(error.value)
    assert "CONCLUST_DATA is not set" in message
    assert "usps.csv.gz" in message
    assert str(bare_machine) in message
    assert "data_id=41082" in message
    assert "Name or service not known" in message
    assert all(way in message for way in ("(1)", "(2)", "(3)"))


def test_sets_openml_does_not_have(bare_machine, monkeypatch, tmp_path):
    # Check that the message says so, and which file of a half-complete set is missing.
    (tmp_path / "bbcsport_view1.npz").touch()
    monkeypatch.setenv("CONCLUST_DATA", str(tmp_path))
    with pytest.raises(DatasetNotFoundError, match="OpenML is no way here") as error:
        load("bbcsport")
    assert "does not hold bbcsport_view2.npz, bbcsport_labels.csv.gz" in str(error.value)


def test_missing_part_of_a_subset_names_both(bare_machine):
    # Check that the set asked for appears in the message beside the one it is made from.
    with pytest.raises(DatasetNotFoundError, match=r"'usps_roweis' \(needed for 'handwritten"):
        load("handwrittendigit")


def test_not_found_is_a_file_not_found_error(bare_machine):
    # Check that callers may catch the usual class.
    with pytest.raises(FileNotFoundError):
        load("monks1_train")


def test_import_is_light():
    # Check that names are known without pandas and scikit-learn.
    code = (
        "import sys, conclust.datasets as d; d.names();"
        "print([m for m in ('pandas', 'sklearn') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
