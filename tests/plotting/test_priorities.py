import numpy as np
import pytest
from sklearn.datasets import load_iris

from conclust import (
    BoostedConstrainedKMeans,
    ConstrainedKMeansEnsemble,
    Constraints,
    sample_constraints,
)

matplotlib = pytest.importorskip("matplotlib", reason="figures need the extra `plot`")
matplotlib.use("Agg")

from conclust.plotting import plot_priorities  # noqa: E402

X, y = load_iris(return_X_y=True)
KNOWN = sample_constraints(y, 100, noise=0.1, random_state=0)


def test_the_table_lists_the_hardest_statements_first():
    model = BoostedConstrainedKMeans(3, n_estimators=20, random_state=0).fit(X, constraints=KNOWN)
    table = model.priorities()
    assert len(table) == 100
    assert table["priority"].is_monotonic_decreasing
    assert table["priority"].sum() == pytest.approx(1)
    np.testing.assert_array_equal(table["kept"], model.report_.kept[table["statement"]])
    assert len(model.priorities(7)) == 7


def test_bars_show_the_table():
    model = BoostedConstrainedKMeans(3, n_estimators=20, random_state=0).fit(X, constraints=KNOWN)
    ax = plot_priorities(model, n=10)
    widths = [bar.get_width() for bar in ax.containers[0]]
    np.testing.assert_allclose(widths, model.priorities(10)["priority"] * 100)
    assert ax.get_yticklabels()[0].get_text().count("–") == 1
    shown = {text.get_text() for text in ax.get_legend().get_texts()}
    assert shown <= {"must-link", "cannot-link", "broken"}
    matplotlib.pyplot.close(ax.figure)


def test_groups_and_no_statements():
    groups = np.full(150, -1)
    groups[:3] = 0
    known = Constraints.from_groups(apart=groups) + Constraints([(3, 4)])
    model = BoostedConstrainedKMeans(3, n_estimators=5, random_state=0).fit(X, constraints=known)
    table = model.priorities()
    assert len(table) == 4  # three pairs of the group and a must-link
    assert table["statement"].nunique() == 2
    plot_priorities(model, ax=matplotlib.pyplot.subplots()[1])
    assert len(model.suspects(2)) == 4
    plain = BoostedConstrainedKMeans(3, n_estimators=5, random_state=0).fit(X)
    assert len(plot_priorities(plain).containers[0]) == 0
    matplotlib.pyplot.close("all")


def test_only_boosting_learns_priorities():
    model = ConstrainedKMeansEnsemble(3, n_estimators=3, random_state=0).fit(X)
    with pytest.raises(TypeError, match="ConstrainedKMeansEnsemble learns no priorities"):
        plot_priorities(model)
