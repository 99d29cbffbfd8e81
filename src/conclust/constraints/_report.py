"""Which statements a clustering keeps."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from conclust._summaries import report_html

if TYPE_CHECKING:
    import pandas as pd

    from conclust.constraints._constraints import Constraints


class Count(NamedTuple):
    """How many statements of one kind were given and kept."""

    given: int
    kept: int

    @property
    def share(self) -> float:
        """The share kept; 1 when none was given."""
        return self.kept / self.given if self.given else 1.0


class RelativeCount(NamedTuple):
    """What clusters make of the relative statements ``ab|c``; the four numbers add up to all.

    Attributes
    ----------
    shown : int
        a and b in one cluster, c in another.
    together : int
        All three in one cluster.
    apart : int
        In three clusters.
    broken : int
        c shares a cluster with just one of a and b.
    """

    shown: int
    together: int
    apart: int
    broken: int


@dataclass(frozen=True)
class LabelsOfSome:
    """Labels of some rows, to be had by the numbers of these."""

    rows: npt.NDArray[Any]  # ascending
    labels: npt.NDArray[Any]

    def __getitem__(self, rows: Any) -> Any:
        return self.labels[np.searchsorted(self.rows, rows)]


class ConstraintReport:
    """How many statements a clustering keeps, and which it breaks.

    Made by :meth:`conclust.Constraints.report`. A relative statement ``ab|c`` is kept unless c
    shares a cluster with just one of a and b; so clusters may keep it and leave it open.

    Parameters
    ----------
    constraints : Constraints
        The statements.
    labels : ndarray of shape (n_samples,)
        The cluster of each row.

    Attributes
    ----------
    kept : ndarray of bool, shape (len(constraints),)
        Whether each statement holds, in the order given.
    counts : dict of str to Count
        Per kind: how many were `given` and `kept`, and the `share`.
    relative : RelativeCount
        How many relative statements the clusters show (``shown``), how many they leave open, all
        three samples being ``together`` or ``apart``, and how many are ``broken``.
    n_violated : int
    share : float
        The share of statements kept, each counted once.
    weighted_share : float
        The share of weight kept.
    violated : DataFrame
        The broken statements, with ids where the set has them and the labels of the samples.

    See Also
    --------
    Constraints.report : Makes it.
    Constraints.satisfied : Only which statements hold.

    Examples
    --------
    >>> from conclust import Constraints
    >>> report = Constraints([(0, 1)], [(1, 2), (0, 3)]).report([0, 0, 0, 1])
    >>> report
    ConstraintReport(2 of 3 kept: 1 of 1 must-link, 1 of 2 cannot-link)
    >>> report.violated
       a  b         type  weight  label_a  label_b
    0  1  2  cannot-link     1.0        0        0
    """

    def __init__(self, constraints: "Constraints", labels: npt.NDArray[Any]):
        # Everything else is computed when asked for: a fit must not pay for a report nobody reads.
        self.constraints = constraints
        self.labels: npt.NDArray[Any] | LabelsOfSome = labels

    def forget_rows(self) -> None:
        """Keep the labels of those rows only that statements name; what is asked for stays."""
        _ = self.kept  # which checks that there is a label of every row
        rows = self.constraints.samples
        self.labels = LabelsOfSome(rows, self.labels[rows])

    @cached_property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Whether each statement holds, in the order given."""
        return self.constraints.satisfied(self.labels)

    @cached_property
    def counts(self) -> dict[str, Count]:
        """How many of each kind were given and kept."""
        kinds = self.constraints.kinds
        return {
            kind: Count(int((kinds == kind).sum()), int(self.kept[kinds == kind].sum()))
            for kind in ("must-link", "cannot-link", "apart", "relative")
            if (kinds == kind).any()
        }

    @cached_property
    def relative(self) -> RelativeCount:
        """How many relative statements the clusters show, leave open and break."""
        a, b, c = self.labels[self.constraints.relative].T
        shown, together = (a == b) & (a != c), (a == b) & (a == c)
        apart = (a != b) & (a != c) & (b != c)
        broken = ~(shown | together | apart)
        return RelativeCount(*(int(found.sum()) for found in (shown, together, apart, broken)))

    @property
    def n_violated(self) -> int:
        """How many statements are broken."""
        return int((~self.kept).sum())

    @property
    def share(self) -> float:
        """The share of statements kept; 1 when there are none."""
        return float(self.kept.mean()) if len(self.kept) else 1.0

    @property
    def weighted_share(self) -> float:
        """The share of weight kept; 1 when there are no statements."""
        weight = self.constraints.weight
        return float(weight[self.kept].sum() / weight.sum()) if len(weight) else 1.0

    @cached_property
    def violated(self) -> "pd.DataFrame":
        """The broken statements; of a broken `apart` group the pairs that share a cluster."""
        broken = self.constraints[~self.kept]
        if broken.apart_groups:
            broken = self._with_broken_pairs(broken)
        frame = broken.to_frame()
        for column in range(3 if len(broken.relative) else 2):
            at = broken._rows[:, column]
            labels = self.labels[at].astype(object)
            labels[at < 0] = None
            frame[f"label_{'abc'[column]}"] = labels if (at < 0).any() else self.labels[at]
        return frame

    def _with_broken_pairs(self, broken: "Constraints") -> "Constraints":
        from conclust.constraints._constraints import Constraints

        rows, weights = [], []
        for members, weight in zip(broken.apart_groups, broken.apart_weight, strict=True):
            # Of m members in one cluster, m - 1 pairs show it.
            codes = np.unique(self.labels[members], return_inverse=True)[1]
            members = members[np.argsort(codes, kind="stable")]
            same = self.labels[members[1:]] == self.labels[members[:-1]]
            rows.append(np.column_stack([members[:-1][same], members[1:][same]]))
            weights.append(np.full(int(same.sum()), weight))
        pairs = Constraints(
            cannot_link=np.concatenate(rows),
            cannot_link_weight=np.concatenate(weights),
            n_samples=broken.n_samples,
        )
        return broken[broken.kinds != "apart"] + pairs

    def as_dict(self) -> dict[str, Any]:
        """The counts and shares as plain numbers, for JSON.

        Returns
        -------
        dict
            Numbers and nested dicts of numbers.
        """
        return {
            "n_statements": len(self.kept),
            "n_violated": self.n_violated,
            "share": self.share,
            "weighted_share": self.weighted_share,
            "by_kind": {k: {"given": c.given, "kept": c.kept} for k, c in self.counts.items()},
            **({"relative": self.relative._asdict()} if "relative" in self.counts else {}),
        }

    def __repr__(self) -> str:
        if not len(self.kept):
            return "ConstraintReport(no statements)"
        parts = ", ".join(f"{c.kept} of {c.given} {kind}" for kind, c in self.counts.items())
        if "relative" in self.counts:
            parts += f", {self.relative.shown} of these shown"
        return f"ConstraintReport({int(self.kept.sum())} of {len(self.kept)} kept: {parts})"

    def _repr_html_(self) -> str:
        return report_html(self)
