import numpy as np
import pytest

from conclust import Constraints, ReCon, sample_constraints

matplotlib = pytest.importorskip("matplotlib", reason="figures need the extra `plot`")
matplotlib.use("Agg")

from conclust.plotting import plot_dendrogram  # noqa: E402


def blobs(n=40):
    rng = np.random.RandomState(0)
    y = rng.randint(3, size=n)
    return rng.normal(size=(n, 2)) + 2 * y[:, None], y


def test_satisfied_and_broken_statements_are_counted():
    X, y = blobs()
    known = sample_constraints(y, n_relative=20, random_state=0)
    model = ReCon(3).fit(X, constraints=known)
    ax = plot_dendrogram(model)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["satisfied (20)", "broken (0)"]
    plain = ReCon(3).fit(X)
    holds = known.satisfied_by(plain.linkage_matrix())
    ax = plot_dendrogram(plain, known, n=5)
    texts = [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts == [f"satisfied ({holds.sum()})", f"broken ({(~holds).sum()})"]
    matplotlib.pyplot.close("all")


def test_dropped_statements_show_as_broken():
    X, _ = blobs()
    clash = Constraints(relative=[(0, 1, 2), (0, 2, 1)])
    ax = plot_dendrogram(ReCon(2, on_conflict="repair").fit(X, constraints=clash))
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["satisfied (1)", "broken (1)"]
    matplotlib.pyplot.close("all")


def test_without_statements_or_labels():
    X, _ = blobs(5)
    ax = plot_dendrogram(ReCon(None).fit(X), ax=matplotlib.pyplot.subplots()[1])
    assert ax.get_legend() is None
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_dendrogram(ReCon(1).fit([[0.0]]))
    matplotlib.pyplot.close("all")
