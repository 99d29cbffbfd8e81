"""Tensors as X: swept on their device, with the answers of one array."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs

from conclust import (
    ConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    COPKMeans,
    MPCKMeans,
    PCKMeans,
    blocks,
    sample_constraints,
)
from conclust._kernels import fused
from conclust._lloyd import on_device
from conclust._lloyd.rows import open_rows
from conclust._lloyd.start import centered
from conclust.exceptions import MissingExtraError

torch = pytest.importorskip("torch", reason="torch is not installed")

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 60, random_state=0)
WEIGHT = np.random.RandomState(0).uniform(0.5, 2, len(X))
FAMILY = [ConstrainedKMeans, COPKMeans, PCKMeans]
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
needs_gpu = pytest.mark.skipif(len(DEVICES) == 1, reason="there is no GPU")


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def few_at_a_time(monkeypatch):
    """Ranges of a few rows, so that the seams between them are met."""
    monkeypatch.setattr(on_device, "HELD", {"cpu": 50, "cuda": 50})


def same(one, other, rtol=1e-7):
    assert_array_equal(one.labels_, other.labels_)
    assert_allclose(one.cluster_centers_, other.cluster_centers_, rtol=rtol)
    assert one.inertia_ == pytest.approx(other.inertia_, rel=rtol)
    assert one.n_iter_ == other.n_iter_
    assert_array_equal(one.report_.kept, other.report_.kept)


def tensor_of(rows, device):
    return blocks.open(torch.tensor(rows, device=device))


@pytest.mark.parametrize("known", [None, KNOWN], ids=["no statements", "statements"])
@pytest.mark.parametrize("estimator", FAMILY)
@pytest.mark.usefixtures("few_at_a_time")
def test_answers_are_those_of_one_array(estimator, known, device):
    rows = tensor_of(X, device)
    models = [
        estimator(3, n_init=3, random_state=0).fit(each, constraints=known) for each in (rows, X)
    ]
    same(*models)
    assert isinstance(models[0].labels_, np.ndarray)
    assert models[0].labels_.dtype == np.int32
    assert_array_equal(models[0].predict(rows), models[1].predict(X))
    assert_allclose(models[0].transform(rows), models[1].transform(X))


@pytest.mark.parametrize(
    "how",
    [
        {"metric": "cosine"},
        {"init": "random"},
        {"init": X[[0, 60, 120]]},
        {"init": np.vstack([X[[0, 60]], np.full((1, 4), 100.0)])},
        {"sample_weight": WEIGHT},
        {"y": np.where(np.arange(len(X)) % 10, -1, y)},
        {"dtype": np.float32},
    ],
    ids=["cosine", "random", "array", "empty cluster", "weights", "y", "float32"],
)
@pytest.mark.parametrize("estimator", FAMILY)
def test_options_work_as_on_one_array(estimator, how, device):
    more = {name: how[name] for name in ("sample_weight", "y") if name in how}
    given = {name: how[name] for name in ("metric", "init") if name in how}
    data = X.astype(how.get("dtype", np.float64))
    models = [
        estimator(3, n_init=2, random_state=0, **given).fit(rows, constraints=KNOWN, **more)
        for rows in (data, tensor_of(data, device))
    ]
    same(*models, rtol=1e-5 if data.dtype == np.float32 else 1e-7)
    assert models[1].cluster_centers_.dtype == data.dtype


@pytest.mark.parametrize(
    "how", [{"outliers": 0.05}, {"outliers": "auto"}, {"size_min": 45}], ids=lambda how: str(how)
)
@pytest.mark.parametrize("estimator", [COPKMeans, PCKMeans])
def test_sizes_and_outliers_too(estimator, how, device):
    models = [
        estimator(3, n_init=2, random_state=0, **how).fit(rows, constraints=KNOWN)
        for rows in (X, tensor_of(X, device))
    ]
    same(*models)


def test_random_orders_and_ensembles(device):
    for model in (
        ConstrainedKMeans(3, order="random", random_state=0),
        ConstrainedKMeansEnsemble(3, n_estimators=4, random_state=0),
    ):
        labels = model.fit(X, constraints=KNOWN).labels_
        assert_array_equal(model.fit(tensor_of(X, device), constraints=KNOWN).labels_, labels)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_tensor_changes_nothing(data):
    # Check rows and statements of any kind, in both precisions.
    n = data.draw(st.integers(5, 40), label="rows")
    seed = data.draw(st.integers(0, 1000), label="seed")
    generator = np.random.RandomState(seed)
    rows, truth = generator.normal(size=(n, 2)), generator.randint(3, size=n)
    known = sample_constraints(truth, data.draw(st.integers(0, n)), random_state=seed)
    model = data.draw(st.sampled_from(FAMILY))(3, n_init=2, random_state=seed)
    rows = rows.astype(data.draw(st.sampled_from([np.float32, np.float64])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(rows, constraints=known).labels_
        for device in DEVICES:
            found = model.fit(tensor_of(rows, device), constraints=known).labels_
            assert_array_equal(found, labels)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weights"])
@pytest.mark.usefixtures("few_at_a_time")
def test_each_verb_answers_as_in_memory(weight, device):
    # Check one iteration by hand: labels, ranks of linked rows, sums, counts, moves.
    linked = np.arange(3, len(X), 4)
    placed = (linked % 5).astype(np.int32)
    how = {"sample_weight": weight, "linked": linked, "all_distances": True}
    found = []
    for rows in (centered(X).X, tensor_of(X, device).checked().centered()):
        generator = np.random.RandomState(0)
        with open_rows(rows, 5, **how) as near:
            # Off the grid of the rows, or some would lie halfway between two centres.
            centers = centered(X).X[::30] + 0.01 * generator.normal(size=(5, 4))
            answers = []
            for _ in range(2):
                swept = near.sweep(centers)
                ranked = near.nearest.copy(), near.second.copy(), near.distances.copy()
                moved = near.add(placed, centers)
                changed, inertia = np.add(swept, moved)
                answers += [*ranked, changed, inertia, near.n_free_changed, near.all_filled]
                centers = near.means(centers)
                answers += [centers, near.distances_to_own(centers), near.inertia(centers)]
            near.move(7, 2)
            near.drop(np.array([1, 50]))
            answers += [near.labels, near.means(centers), near.inertia(centers), near.row(9)]
            answers += [near.sums(None, y, 3), near.sums(linked, linked % 2, 2)]
            parts = [squared for _, _, squared in near.squared_distances(centers)]
            found.append([*answers, np.concatenate(parts), near.total_norm])
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_labels_that_differ_have_other_fingerprints(device):
    with open_rows(tensor_of(X, device).checked(), 3) as near:
        near.sweep(X[[0, 60, 120]])
        first = near.fingerprint()
        assert near.fingerprint() == first
        near.labels[[3, 4]] = [1, 2]
        assert near.fingerprint() != first
        before = near.fingerprint()
        near.labels[[3, 4]] = [2, 1]
        assert near.fingerprint() not in {first, before}


def test_the_lowest_cluster_wins_ties(device):
    rows = np.repeat(np.arange(4.0), 50)[:, np.newaxis].astype(np.float32)
    centers = np.array([[1.0], [0.0], [1.0], [0.0], [2.0]], dtype=np.float32)
    with open_rows(tensor_of(rows, device).checked(), 5, linked=np.array([0, 60, 199])) as near:
        near.sweep(centers)
        assert near.labels[::50].tolist() == [1, 0, 4, 4]
        assert near.nearest.tolist() == [1, 0, 4]
        assert near.second.tolist() == [3, 2, 0]


def test_precision_that_a_user_has_lowered_is_not_taken(device):
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with open_rows(tensor_of(X, device).checked(), 3):
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


def test_a_tensor_as_x(device):
    # In memory it is the array it shares its numbers with; elsewhere it is opened.
    rows = torch.tensor(X, device=device, requires_grad=device != "cpu")
    weight, told = torch.tensor(WEIGHT, device=device), torch.tensor(y, device=device)
    told[::2] = -1
    init = rows.detach()[[0, 60, 120]]
    model = ConstrainedKMeans(3, init=init).fit(rows, told, sample_weight=weight)
    plain = ConstrainedKMeans(3, init=init.cpu()).fit(X, told.cpu(), sample_weight=WEIGHT)
    same(model, plain)
    assert_array_equal(model.predict(rows), plain.predict(X))
    if device == "cpu":
        return
    with pytest.raises(
        TypeError, match=r"on cuda:0, and MPCKMeans needs all rows at once.*X\.cpu\(\)"
    ):
        MPCKMeans(3).fit(rows)
    with pytest.raises(TypeError, match="`update` needs all rows at once"):
        model.update(X[:2])


def test_rows_of_any_source_go_to_a_device(device, tmp_path):
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    rows = blocks.open(tmp_path / "rows.npy", device=device, block_rows=31)
    assert repr(rows).startswith("Blocks(rows.npy: 150 × 4, float32 on ")
    assert_array_equal(rows.to_numpy(), X.astype(np.float32))
    assert_array_equal(rows[[149, 3, 60]], X[[149, 3, 60]].astype(np.float32))
    with pytest.raises(ValueError, match="device='nowhere' cannot be used"):
        blocks.open(X, device="nowhere")


def test_without_torch_the_way_out_is_said():
    code = (
        "import sys, numpy, conclust\n"
        "rows = conclust.blocks.open(numpy.eye(3))\n"
        "sys.modules['torch'] = None\n"
        "conclust.blocks.open(rows, device='cuda')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"{MissingExtraError.__name__}: device='cuda'" in run.stderr
    assert "pip install 'conclust[gpu]'" in run.stderr


@pytest.mark.parametrize(
    ("rows", "error", "match"),
    [
        (torch.ones(4, 2, dtype=torch.int64), TypeError, r"torch\.int64.*Pass X\.float\(\)"),
        (torch.ones(4, 2, dtype=torch.float16), TypeError, r"torch\.float16.*Pass X\.float\(\)"),
        (torch.ones(4), ValueError, r"shape \(4,\); rows are the first of two"),
        (torch.eye(4).to_sparse(), ValueError, "a sparse tensor"),
        (torch.ones(4, 2, device="meta"), TypeError, r"device 'meta'.*X\.cpu\(\)"),
        (torch.ones(0, 2), ValueError, "has 0 rows of 2 features"),
    ],
    ids=["whole numbers", "half", "one dimension", "sparse", "elsewhere", "no rows"],
)
def test_tensors_that_cannot_be_taken(rows, error, match):
    with pytest.raises(error, match=match):
        blocks.open(rows)


def test_values_that_are_no_numbers_are_found(device):
    bad = X.copy()
    bad[131, 2] = np.nan
    with pytest.raises(ValueError, match=r"X: row 131 holds NaN \(or nothing\) in column 2"):
        PCKMeans(3).fit(tensor_of(bad, device))
    with pytest.raises(ValueError, match="X: row 131 holds NaN"):
        PCKMeans(3).fit(X).predict(tensor_of(bad, device))
    bad[131] = 0
    with pytest.raises(ValueError, match="X: row 131 is all zeros.*metric='cosine'"):
        PCKMeans(3, metric="cosine").fit(tensor_of(bad, device))
    bad[131] = 1e200
    with pytest.raises(ValueError, match=r"X holds values up to 1e\+200"):
        PCKMeans(3).fit(tensor_of(bad, device))
    with pytest.raises(ValueError, match="but a tensor has no names of columns"):
        blocks.open(torch.ones(3, 2), columns=["a"])


@needs_gpu
@pytest.mark.parametrize("kind", [fused.ONES, fused.PLACED, fused.ANY])
@pytest.mark.parametrize(("d", "k"), [(1, 2), (5, 7), (16, 16), (64, 100), (50, 256), (100, 100)])
def test_one_kernel_answers_as_double_precision(d, k, kind):
    # Check labels, sums and masses against float64, for rows that do not fill the tiles.
    rows, _ = make_blobs(20_011, d, centers=k, cluster_std=4.0, random_state=0)
    there = torch.tensor(rows, device="cuda", dtype=torch.float32)
    assert fused.fits(there, k)
    centers = there[:k].clone()
    weight = (
        torch.rand(len(rows), device="cuda") if kind == fused.ANY else torch.ones_like(there[:, 0])
    )
    weight[::7] = -1
    weight = None if kind == fused.ONES else weight
    labels = torch.full((len(rows),), -1, dtype=torch.int32, device="cuda")
    sums, masses, n_changed = fused.sweep(there, labels, weight, kind, centers)

    squared = torch.cdist(there.double(), centers.double()) ** 2
    own = squared.gather(1, labels.long()[:, None])[:, 0]
    size = (there.double() ** 2).sum(dim=1) + (centers.double() ** 2).sum(dim=1).max()
    assert float(((own - squared.min(dim=1).values) / size).max()) < 1e-6
    mass = torch.ones_like(own) if weight is None else weight.double().clamp(min=0)
    expected = torch.zeros_like(sums).index_add_(0, labels.long(), there.double() * mass[:, None])
    assert_allclose(sums.cpu(), expected.cpu(), rtol=1e-5, atol=1e-3)
    expected = torch.zeros_like(masses).index_add_(0, labels.long(), mass)
    assert_allclose(masses.cpu(), expected.cpu(), rtol=1e-5)
    assert int(n_changed) == (len(rows) if weight is None else int((weight >= 0).sum()))
    again = fused.sweep(there, labels, weight, kind, centers)
    assert int(again[2]) == 0
    assert torch.equal(again[0], sums)
    given = fused.sweep(there, labels, weight, kind, n_clusters=k)
    assert torch.equal(given[0], sums)
    assert torch.equal(given[1], masses)


@needs_gpu
def test_both_ways_on_a_gpu_agree(monkeypatch):
    rows, truth = make_blobs(30_000, 16, centers=20, random_state=0)
    known = sample_constraints(truth, 3000, random_state=0)
    there = tensor_of(rows.astype(np.float32), "cuda")
    model = ConstrainedKMeans(20, init=rows[:20].astype(np.float32))
    one = model.fit(there, constraints=known).labels_
    monkeypatch.setattr(fused, "MOST", 0)
    assert not fused.fits(there.tensor, 20)
    assert_array_equal(model.fit(there, constraints=known).labels_, one)
    assert_array_equal(model.fit(rows.astype(np.float32), constraints=known).labels_, one)
