"""The gallery: every example is a story with a picture, and runs."""

import runpy
import warnings
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="figures need the extra `plot`")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("plot_*.py"))
QUICK = {"plot_contradictions", "plot_living"}


def test_there_are_enough_and_each_has_the_form_of_the_gallery():
    assert len(EXAMPLES) >= 15
    assert (FOLDER / "README.rst").is_file()
    for path in EXAMPLES:
        title, line, empty = path.read_text(encoding="utf-8").splitlines()[:3]
        assert line == "=" * len(title.removeprefix('"""')), path.name
        assert empty == "", path.name
        assert path.read_text(encoding="utf-8").count("# %%\n") >= 2, path.name


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.slow, id=path.stem)
        for path in EXAMPLES
    ],
)
def test_an_example_runs_and_draws(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
        runpy.run_path(str(path))
    figures = [plt.figure(number) for number in plt.get_fignums()]
    assert figures
    for figure in figures:
        assert all(ax.get_title() for ax in figure.axes if ax.get_label() != "<colorbar>")
        figure.canvas.draw()
    plt.close("all")
