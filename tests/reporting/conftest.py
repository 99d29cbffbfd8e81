"""Reports to look at: a small one and one of ten thousand rows, both with hostile names."""

import numpy as np
import pandas as pd
import pytest

from conclust import Constraints, sample_constraints
from conclust.reporting import write_report

HOSTILE = [
    "<script>document.title='owned'</script>",
    "</script><img src=x onerror=\"document.title='owned'\">",
    "\" onmouseover=\"document.title='owned'",
    "' autofocus onfocus='document.title=1",
    "&lt;b&gt; &amp; &#x27;",
    '=HYPERLINK("http://example.org")',
    "\u202etxet desrever",
    "\x00\x07\x1b[31m",
    "]]><!--",
    "${7*7}{{7*7}}",
    "%s%n{0}",
    "a" * 500,
    "",
    "\u2028\u2029",
    "ünïcödé 漢字 🙂",
]


def make(path, n_samples, n_statements=60, n_clusters=3, **about):
    rng = np.random.RandomState(0)
    y = np.arange(n_samples) % n_clusters
    X = 4 * rng.normal(size=(n_clusters, 5))[y] + rng.normal(size=(n_samples, 5))
    ids = [f"{HOSTILE[i % len(HOSTILE)]} {i}" for i in range(n_samples)]
    known = sample_constraints(y, n_statements, noise=0.1, random_state=0)
    known = Constraints.from_frame(known.to_frame(ids=ids), ids=ids)
    frame = pd.DataFrame(X, columns=["<b>x</b>", "y", "z", "u", "v"])
    frame["kind"] = np.array(["<i>red</i>", "green", "blue"])[y % 3]
    write_report(
        path,
        X,
        y,
        known,
        ids=ids,
        frame=frame,
        numbers=list(frame.columns[:5]),
        categories=["kind"],
        title=f"Clusters of {HOSTILE[0]}",
        method="PCKMeans",
        reasons=[f"because {HOSTILE[1]}"],
        notes=[f"note {HOSTILE[2]}"],
        priorities=np.linspace(0, 1, len(known)),
        confidence=np.full(n_samples, 0.9),
        **about,
    )
    return path


@pytest.fixture(scope="session")
def small_report(tmp_path_factory):
    return make(tmp_path_factory.mktemp("report") / "small.html", 90)


@pytest.fixture(scope="session")
def large_report(tmp_path_factory):
    return make(tmp_path_factory.mktemp("report") / "large.html", 10_000, 2_000, n_clusters=12)
