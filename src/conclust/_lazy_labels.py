"""`labels_` of rows that an engine holds: a collection of that engine, not computed yet."""

from typing import TYPE_CHECKING, Any

import numpy as np

from conclust._arrays import count_labels, engine_of, is_source


class LazyLabels:
    """Leaves `labels_` to the engine whose collection was fitted, as `predict` does.

    An estimator says how it compares new rows (`_check_new_rows`) and labels them (`_label`).
    """

    def _keep_labels(self: Any, X: Any) -> None:
        """Put the labels found for X, the last thing in a `fit`, where they belong."""
        if not is_source(X):
            return
        X.keep_labels(self.labels_)
        if X.is_lazy:
            sizes = count_labels(self.labels_, int(self.labels_.max()) + 1)
            numbers = np.append(np.arange(len(sizes) - 1), -1)
            self._sizes = numbers[sizes > 0], sizes[sizes > 0]
            self.report_.forget_rows()
            self.labels_ = self._check_new_rows(X).found_labels(self.labels_, self._label)

    def __getstate__(self) -> Any:
        """The collection stays behind: it refers to the rows, and may be a billion labels."""
        state: Any = super().__getstate__()
        if engine_of(state.get("labels_")) is None:
            return state
        return {name: value for name, value in state.items() if name != "labels_"}

    if not TYPE_CHECKING:  # else every name would seem to be there

        def __getattr__(self, name: str) -> Any:
            if name == "labels_" and "_sizes" in vars(self):
                raise AttributeError(
                    "labels_ stayed with the engine when this model was copied or saved; "
                    "`predict(X)` labels rows by the centres, without the statements."
                )
            return super().__getattribute__(name)  # raises again what was raised
