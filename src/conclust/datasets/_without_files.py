"""Sets that need neither folder nor network: scikit-learn ships them, or a rule gives them."""

from collections.abc import Callable
from functools import partial

import numpy as np

from conclust.datasets._content import Content
from conclust.datasets._generators import make_balance_scale, make_monks


def _from_sklearn(loader: str, labels: tuple[str, ...]) -> Content:
    import sklearn.datasets  # here, not above: it is slow to import and rarely needed

    bunch = getattr(sklearn.datasets, loader)()
    names = [_plain(name) for name in bunch.feature_names]
    return Content(bunch.data, np.array(labels)[bunch.target], names)


def _plain(name: str) -> str:
    # "sepal length (cm)" -> "sepal_length", as in the stored files.
    return str(name).removesuffix(" (cm)").replace(" ", "_").replace("/", "_")


def _balance() -> Content:
    X, y = make_balance_scale()
    names = ["left_weight", "left_distance", "right_weight", "right_distance"]
    return Content(X, np.array(["B", "L", "R"])[y], names)


def _monks(problem: int) -> Content:
    X, y = make_monks(problem)
    return Content(X, y.astype(str), [f"a{attribute}" for attribute in range(1, 7)])


SHIPPED: dict[str, Callable[[], Content]] = {
    "iris": partial(_from_sklearn, "load_iris", ("setosa", "versicolor", "virginica")),
    "wine": partial(_from_sklearn, "load_wine", ("1", "2", "3")),
    "wdbc": partial(_from_sklearn, "load_breast_cancer", ("M", "B")),
}

RULES: dict[str, Callable[[], Content]] = {
    "balance": _balance,
    "monks1_full": partial(_monks, 1),
    "monks2_full": partial(_monks, 2),
    "monks3_full": partial(_monks, 3),
}
