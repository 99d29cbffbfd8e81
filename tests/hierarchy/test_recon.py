import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage
from scipy.spatial.distance import pdist, squareform

from conclust import Constraints, ReCon, datasets, pairwise_f1, sample_constraints
from conclust.exceptions import InconsistentConstraintsError, InfeasibleConstraintsError

SMALL = ["iris", "wine", "ionosphere", "transfusion"]
LARGE = ["digits389", "letters_ijlt"]


def blobs(n=60, k=3, seed=0):
    rng = np.random.RandomState(seed)
    y = rng.randint(k, size=n)
    return rng.normal(size=(n, 2)) + 2 * y[:, None], y


def claim(name):
    bunch = datasets.load(name)
    y = np.asarray(bunch.target)
    known = Constraints.from_hierarchy(y)
    model = ReCon(n_clusters=len(np.unique(y))).fit(bunch.data, constraints=known)
    assert known.satisfied_by(model.linkage_matrix()).all()
    assert pairwise_f1(y, model.labels_) == 1.0


@pytest.mark.parametrize("name", SMALL)
def test_all_informative_triplets_give_the_classes(name, data_folder):
    # Section 5.2: "we achieved 100% accuracy on all six datasets".
    claim(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_all_informative_triplets_give_the_classes_of_large_sets(name, data_folder):
    claim(name)


def test_random_triplets_help(data_folder):
    bunch = datasets.load("ionosphere")
    y = np.asarray(bunch.target)
    none = pairwise_f1(y, ReCon(n_clusters=2).fit(bunch.data).labels_)
    known = sample_constraints(y, n_relative=len(y), random_state=0)
    assert (
        pairwise_f1(y, ReCon(n_clusters=2).fit(bunch.data, constraints=known).labels_) > none + 0.1
    )


def test_the_dead_end_of_the_paper():
    # ab|c, cd|a, and b and d closest: merging them first would leave nothing to do.
    X = [[0.0], [5.0], [9.0], [5.1]]
    known = Constraints(relative=[(0, 1, 2), (2, 3, 0)])
    model = ReCon(n_clusters=2, min_branch_size=1).fit(X, constraints=known)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert len(model.children_) == 3


def test_scipy_draws_it():
    X, y = blobs()
    known = sample_constraints(y, n_relative=50, random_state=0)
    model = ReCon(n_clusters=3).fit(X, constraints=known)
    Z = model.linkage_matrix()
    assert is_valid_linkage(Z)
    assert sorted(dendrogram(Z, no_plot=True)["leaves"]) == list(range(len(X)))
    assert Z[-1, 3] == len(X)


def test_contradictions_are_shown():
    X, _ = blobs()
    clash = Constraints(relative=[(0, 1, 2), (0, 2, 1), (3, 4, 5)])
    with pytest.raises(
        InconsistentConstraintsError, match="0 and 1 are closer to each other than to 2"
    ) as raised:
        ReCon().fit(X, constraints=clash)
    assert len(raised.value.conflicts[0].index) == 2
    model = ReCon(on_conflict="repair").fit(X, constraints=clash)
    assert len(model.dropped_) == 1
    assert len(model.report_.kept) == 3
    assert len(ReCon().fit(X).dropped_) == 0


def test_noise_is_repaired():
    X, y = blobs(200)
    for noise in (0.05, 0.2):
        known = sample_constraints(y, n_relative=200, noise=noise, random_state=0)
        model = ReCon(n_clusters=3, on_conflict="repair").fit(X, constraints=known)
        kept = model.report_.kept.sum()
        assert kept >= len(known) - len(model.dropped_)


def test_pairs_and_triplets_together():
    X, y = blobs(120, seed=1)
    known = sample_constraints(y, n_must_link=30, n_cannot_link=60, n_relative=60, random_state=0)
    model = ReCon(n_clusters=3).fit(X, constraints=known)
    counts = model.report_.counts
    assert counts["must-link"].kept == counts["must-link"].given
    assert counts["relative"].kept == counts["relative"].given
    assert counts["cannot-link"].kept >= 0.85 * counts["cannot-link"].given
    plain = Constraints(cannot_link=known.cannot_link).report(ReCon(n_clusters=3).fit(X).labels_)
    assert counts["cannot-link"].kept > plain.counts["cannot-link"].kept


def test_impossible_pairs_are_explained():
    X, _ = blobs()
    known = Constraints([(0, 2)], [(0, 1)], [(0, 1, 2)])
    with pytest.raises(InconsistentConstraintsError, match="0 and 1 may not share a cluster"):
        ReCon().fit(X, constraints=known)
    everything = Constraints([(i, i + 1) for i in range(58)])
    with pytest.raises(InfeasibleConstraintsError, match="2 groups, too few for n_clusters=3"):
        ReCon(n_clusters=3).fit(X, constraints=everything)


def test_groups_kept_apart():
    X, _ = blobs(30)
    known = Constraints.from_groups(apart=[0] * 3 + [-1] * 27)
    labels = ReCon(n_clusters=3, min_branch_size=1).fit(X, constraints=known).labels_
    assert len(set(labels[:3])) == 3


def test_parameters_that_do_not_fit():
    X, _ = blobs()
    with pytest.raises(ValueError, match="linkage='ward' is defined by Euclidean distances"):
        ReCon(linkage="ward", metric="cityblock").fit(X)
    with pytest.raises(ValueError, match="square matrix of distances"):
        ReCon(metric="precomputed", linkage="average").fit(X)
    with pytest.raises(ValueError, match="symmetric and not negative"):
        ReCon(metric="precomputed", linkage="average").fit(-squareform(pdist(X)))
    model = ReCon(n_clusters=None).fit(X)
    assert not hasattr(model, "labels_")
    with pytest.raises(ValueError, match="between 1 and the 60 samples"):
        model.cut(61)
    with pytest.raises(TypeError, match="whole number"):
        model.cut(2.5)


def test_one_sample():
    model = ReCon(n_clusters=1).fit([[1.0]])
    assert model.labels_.tolist() == [0]
    assert model.linkage_matrix().shape == (0, 4)


def test_small_integers_as_number_of_clusters():
    X, _ = blobs(200)
    labels = ReCon(n_clusters=np.int8(3)).fit(X).labels_
    np.testing.assert_array_equal(labels, ReCon(n_clusters=3).fit(X).labels_)


@pytest.mark.parametrize("linkage", ["centroid", "average"])
def test_distances_that_overflow(linkage):
    X, _ = blobs(20)
    with pytest.raises(ValueError, match=r"overflow.*Scale X first"):
        ReCon(linkage=linkage).fit(X * 1e300)


def test_progress_counts_merges(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    X, _ = blobs(450)
    model = ReCon(n_clusters=None, verbose=1).fit(X)
    shown = capsys.readouterr().err
    assert "449/449" in shown
    assert len(model.history_) == 449
