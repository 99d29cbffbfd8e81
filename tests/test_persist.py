"""Models on disk: what is trusted, and what is refused."""

import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import conclust
from conclust.exceptions import MissingExtraError, ModelFileError

NAMES = ["COPKMeans", "ConstrainedKMeans", "PCKMeans", "MPCKMeans"]
ENSEMBLES = ["BoostedConstrainedKMeans", "ConstrainedKMeansEnsemble"]


@pytest.fixture
def data():
    pytest.importorskip("skops")
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 15)
    X = 5.0 * y[:, None] + rng.normal(size=(30, 2))
    names = [f"row {i}" for i in range(30)]
    pairs = conclust.sample_constraints(y, 20, random_state=0).to_frame(ids=names)
    return X, conclust.Constraints.from_frame(pairs, ids=names)


@pytest.mark.parametrize("name", NAMES + ENSEMBLES)
def test_a_model_comes_back_whole(name, data, tmp_path):
    X, known = data
    few = {"n_estimators": 5} if name in ENSEMBLES else {}
    model = getattr(conclust, name)(n_clusters=2, random_state=0, **few).fit(X, constraints=known)
    conclust.save(model, tmp_path / "m.skops")
    found = conclust.load(tmp_path / "m.skops")
    assert type(found) is type(model)
    assert found.get_params() == model.get_params()
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    assert found.report_.as_dict() == model.report_.as_dict()
    assert found.report_.constraints == known
    assert found.report_.constraints.name(3) == "row 3"
    assert found.history_ == model.history_


def test_pipelines_too(data, tmp_path):
    X, _ = data
    model = make_pipeline(StandardScaler(), conclust.COPKMeans(2, random_state=0)).fit(X)
    conclust.save(model, tmp_path / "m.skops")
    assert (conclust.load(tmp_path / "m.skops").predict(X) == model.predict(X)).all()


class Stranger:
    pass


def test_types_that_are_not_ours_are_refused_and_named(data, tmp_path):
    conclust.save(Stranger(), tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="not trusted: .*Stranger"):
        conclust.load(tmp_path / "m.skops")
    found = conclust.load(tmp_path / "m.skops", trusted=(f"{__name__}.Stranger",))
    assert type(found) is Stranger


@pytest.mark.parametrize(
    "value", [print, conclust.testing, conclust.save, conclust.sample_constraints, eval]
)
def test_functions_are_refused(value, data, tmp_path):
    X, _ = data
    model = conclust.COPKMeans(2, random_state=0).fit(X)
    model.extra_ = value
    try:
        conclust.save(model, tmp_path / "m.skops")
    except Exception:
        return  # skops does not even write it
    with pytest.raises(ModelFileError):
        conclust.load(tmp_path / "m.skops")


def test_files_that_hold_no_model(data, tmp_path):
    for content in (b"", b"nonsense", b"PK\x05\x06" + 18 * b"\0"):
        (tmp_path / "m.skops").write_bytes(content)
        with pytest.raises(ModelFileError, match="m.skops is not a model"):
            conclust.load(tmp_path / "m.skops")
    with pytest.raises(FileNotFoundError):
        conclust.load(tmp_path / "none.skops")


def test_without_skops_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingExtraError, match=r"conclust\[persist\]"):
        conclust.save(conclust.COPKMeans(), tmp_path / "m.skops")
