import numpy as np
import pytest

from conclust import (
    AutoCluster,
    BoostedConstrainedKMeans,
    ConstrainedGaussianMixture,
    ConstrainedKMeansEnsemble,
    Constraints,
    COPKMeans,
    PCKMeans,
    ReCon,
    sample_constraints,
)
from conclust.active import COBRAS, Labels, RandomPairs, Session, ask
from conclust.exceptions import SessionError

matplotlib = pytest.importorskip("matplotlib", reason="figures need the extra `plot`")
matplotlib.use("Agg")

from sklearn.metrics import adjusted_rand_score  # noqa: E402

from conclust.plotting import (  # noqa: E402
    plot_confidence,
    plot_dendrogram,
    plot_doubt,
    plot_history,
)


@pytest.fixture(autouse=True)
def _closed():
    yield
    matplotlib.pyplot.close("all")


def blobs(n=90):
    y = np.arange(n) % 3
    X = np.random.RandomState(0).normal(size=(n, 2))
    return X + 5 * np.column_stack([y == 1, y == 2]), y


def test_doubt_shows_the_suspects():
    X, y = blobs()
    told = sample_constraints(y, 80, noise=0.1, random_state=0)
    mixture = ConstrainedGaussianMixture(3, flip_rate="auto", random_state=0)
    model = mixture.fit(X, constraints=told)
    ax = plot_doubt(model, n=7)
    table = model.suspects(7)
    bars = ax.containers[0]
    np.testing.assert_allclose([bar.get_width() for bar in bars], table["doubt"])
    kept = model.report_.kept[table["statement"]]
    assert [bar.get_hatch() == "" for bar in bars] == kept.tolist()
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names[0] == f"{table['a'][0]} – {table['b'][0]}"
    assert ax.get_xlim() == (0, 1)


def test_doubt_of_relative_statements_names_three_rows():
    X, y = blobs(60)
    told = sample_constraints(y, n_relative=60, noise=0.1, random_state=0)
    ax = plot_doubt(ReCon(3, flip_rate="auto").fit(X, constraints=told), n=4)
    assert all(text.get_text().count("|") == 1 for text in ax.get_yticklabels())


def test_confidence_is_a_square_in_the_order_of_the_clusters():
    X, _ = blobs()
    model = ConstrainedKMeansEnsemble(3, n_estimators=10, random_state=0).fit(X)
    ax = plot_confidence(model)
    square = ax.images[0].get_array()
    assert square.shape == (90, 90)
    labels = np.sort(model.labels_)
    same = labels[:, None] == labels
    assert square[same].mean() > 0.9
    assert square[~same].mean() < -0.9
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1", "2"]
    assert ax.get_title() == "How sure is each pair of 90 rows?"


def test_of_many_rows_some_of_each_cluster():
    X, _ = blobs(3000)
    model = AutoCluster(3, random_state=0).fit(X)
    ax = plot_confidence(model, n=50)
    assert 40 <= len(ax.images[0].get_array()) <= 50
    assert "of 3,000 rows" in ax.get_title()


def test_history_draws_what_the_fit_watches():
    X, y = blobs()
    known = sample_constraints(y, 30, random_state=0)
    model = PCKMeans(3, random_state=0).fit(X, constraints=known)
    ax = plot_history(model)
    objective = [record[0] for record in model.history_]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), objective)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("round", model.history_[0]._fields[0])


def test_history_of_boosting_against_true_classes():
    X, y = blobs()
    known = sample_constraints(y, 30, random_state=0)
    model = BoostedConstrainedKMeans(3, n_estimators=5, random_state=0).fit(X, constraints=known)
    ax = plot_history(model, y, label="boosted")
    wanted = [adjusted_rand_score(y, labels) for labels in model.staged_labels()]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), wanted)
    assert ax.get_legend().get_texts()[0].get_text() == "boosted"


def asked(budget=25, **more):
    X, y = blobs()
    return y, ask(
        X, Labels(y), budget, 3, RandomPairs(), random_state=0, estimator=COPKMeans(), **more
    )


def test_stages_of_a_session_end_with_its_labels():
    _, session = asked()
    stages = list(session.staged_labels(10))
    assert len(stages) == 4  # after 0, 10, 20 and all 25
    np.testing.assert_array_equal(stages[-1], session.labels_)
    again = Session(blobs()[0], 3, estimator=COPKMeans(), strategy="random", random_state=0)
    np.testing.assert_array_equal(stages[0], again.labels_)
    with pytest.raises(SessionError, match="every=0 must be a whole number above 0"):
        list(session.staged_labels(0))


@pytest.mark.parametrize(
    "estimator", [COPKMeans(n_init=1), pytest.param("strategy", marks=pytest.mark.slow)]
)
def test_stages_have_all_rows_of_a_large_session(estimator):
    X, y = blobs(20_400)
    session = ask(X, Labels(y), 12, 3, COBRAS(), random_state=0, estimator=estimator)
    stages = list(session.staged_labels(10))
    assert [len(labels) for labels in stages] == [20_400] * 3
    np.testing.assert_array_equal(stages[-1], session.labels_)


def test_history_of_a_session_is_by_answers():
    y, session = asked()
    ax = plot_history(session, y, every=10)
    assert ax.lines[0].get_xdata().tolist() == [0, 10, 20, 25]
    wanted = [adjusted_rand_score(y, labels) for labels in session.staged_labels(10)]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), wanted)
    ax = plot_history(session, every=5)
    assert ax.lines[0].get_xdata().tolist() == [5, 10, 15, 20, 25]
    assert "moved by the last 5 answers" in ax.get_ylabel()


def test_large_hierarchies_are_drawn_by_branches():
    X, _ = blobs(120)
    ax = plot_dendrogram(ReCon(3).fit(X), max_leaves=20)
    assert len(ax.collections[0].get_paths()) == 19
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert len(names) == 20
    assert any(name.endswith("rows") for name in names)
    assert ax.get_xlabel() == "120 rows in 20 branches"


def test_errors_name_the_way_out():
    X, y = blobs()
    plain = PCKMeans(3, random_state=0).fit(X)
    with pytest.raises(TypeError, match="PCKMeans doubts no statement; pass a fitted AutoCluster"):
        plot_doubt(plain)
    with pytest.raises(TypeError, match="PCKMeans does not say how sure it is of pairs; pass"):
        plot_confidence(plain)
    with pytest.raises(TypeError, match="PCKMeans does not keep the labels of its rounds"):
        plot_history(plain, y)
    with pytest.raises(TypeError, match="has no history of rounds.*candidates_"):
        plot_history(AutoCluster(3, random_state=0).fit(X, constraints=Constraints([(0, 3)])))
    model = BoostedConstrainedKMeans(3, n_estimators=2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="y has shape \\(2,\\), but there are 90 rows"):
        plot_history(model, [0, 1])
