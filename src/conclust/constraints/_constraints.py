"""What the user knows, as one frozen value."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from conclust._arrays import FloatArray, IntArray, brought_here
from conclust._pairs import SignedPairs, violated
from conclust._summaries import constraints_html
from conclust.constraints._closure import Closure, close
from conclust.constraints._components import PAIR_LIMIT, check_group_pairs
from conclust.constraints._conflicts import MAX_LISTED, Conflict, find_conflicts, hitting_set
from conclust.constraints._hierarchy import as_hierarchy, informative_triplets
from conclust.constraints._kinds import (
    APART,
    CANNOT_LINK,
    KIND_NAMES,
    MUST_LINK,
    NAME_OF_KIND,
    RELATIVE,
    as_positions,
    as_rows,
    as_weights,
    check_n_samples,
    codes_of,
    frozen,
    join_texts,
    members_by_code,
    merge_duplicates,
    packed,
    same_arrays,
    three_columns,
)
from conclust.constraints._matrix import pairs_of_matrix
from conclust.constraints._reading import read_table, table_from_frame
from conclust.constraints._relative import (
    forces,
    relative_conflicts,
    repair_all,
    satisfied_by_tree,
)
from conclust.constraints._report import ConstraintReport
from conclust.constraints._resolving import position_reader, resolve
from conclust.constraints._rows import StatementCount, index_of, n_rows, order_of_rows, texts_of
from conclust.constraints._verbs import (
    Decision,
    Typical,
    merge_clusters,
    pairs_of_piles,
    put_together,
    set_apart,
    split_cluster,
)
from conclust.constraints._writing import to_frame, write
from conclust.exceptions import InvalidConstraintsError

if TYPE_CHECKING:
    import pandas as pd


class Statement(NamedTuple):
    """One thing the user said.

    Attributes
    ----------
    kind : str
        What it says, such as ``"must-link"``.
    samples : tuple of int
        Positions of the rows it is about.
    weight : float
        How much it counts.
    """

    kind: str
    samples: tuple[int, ...]
    weight: float


class Constraints:
    """Must-links, cannot-links and relative statements about samples, by position.

    The set is frozen and checked when it is made: a wrong shape, a negative or out-of-range
    position, a self-link or a weight that is not positive raises
    :class:`~conclust.exceptions.InvalidConstraintsError` naming the row. Duplicates are kept
    once, with their weights added. Contradictory statements are allowed, since soft methods can
    use them; :meth:`conflicts` explains them and :meth:`repaired` removes them.

    Parameters
    ----------
    must_link : array-like of shape (m, 2), default=()
        Samples that belong together.
    cannot_link : array-like of shape (c, 2), default=()
        Samples that do not.
    relative : array-like of shape (r, 3), default=()
        Rows ``(a, b, c)``, read ``ab|c``: a and b are closer to each other than either is to c.
        The three are different samples.
    must_link_weight, cannot_link_weight, relative_weight : array-like or float, default=None
        Positive weights, one per row; 1 by default.
    n_samples : int, default=None
        The number of samples, if known; positions are then checked against it.

    Attributes
    ----------
    must_link, cannot_link, relative : ndarray
        The statements of each kind, in the order given; read-only.
    apart_groups : list of ndarray
        Groups whose members are all apart from each other; see :meth:`from_groups`.
    must_link_weight, cannot_link_weight, relative_weight, apart_weight : ndarray
        Their weights.
    n_samples : int or None
    ids : ndarray or None
        The names of the samples, when the set was read with names.
    provenance : mapping of str to ndarray
        Further columns (`who`, `when`, `note`), one entry per statement.
    skipped : tuple of dict
        Rows answered "skip" or "unsure": ignored by every method, written back to files.
    dropped : Constraints
        What :meth:`repaired` or :meth:`without` left out; empty otherwise.

    See Also
    --------
    sample_constraints : Draw constraints from true labels.
    read_constraints : Read them from a file.

    Examples
    --------
    >>> from conclust import Constraints
    >>> known = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 3)])
    >>> known
    Constraints(2 must-link, 1 cannot-link; 4 samples named)
    >>> known.satisfied([0, 0, 1, 1]).tolist()
    [True, False, True]
    >>> known.closure(5).component.tolist()
    [0, 0, 0, 1, 2]
    """

    # One table in the order given. `rows` holds (a, b, -1) for pairs, (a, b, c) for relative
    # statements, and (start, stop, -1) into `members` for groups of mutually apart samples.
    _kind: npt.NDArray[np.int8]
    _rows: IntArray
    _weight: FloatArray
    _members: IntArray
    n_samples: int | None
    ids: npt.NDArray[Any] | None
    provenance: Mapping[str, npt.NDArray[Any]]
    skipped: tuple[dict[str, Any], ...]
    _index_of_ids: npt.NDArray[Any] | None = None  # where the ids were a column of a table

    def __init__(
        self,
        must_link: Any = (),
        cannot_link: Any = (),
        relative: Any = (),
        *,
        must_link_weight: Any = None,
        cannot_link_weight: Any = None,
        relative_weight: Any = None,
        n_samples: int | None = None,
    ):
        n_samples = check_n_samples(n_samples)
        kinds, rows, weights = [], [], []
        for kind, name, value, weight in (
            (MUST_LINK, "must_link", must_link, must_link_weight),
            (CANNOT_LINK, "cannot_link", cannot_link, cannot_link_weight),
            (RELATIVE, "relative", relative, relative_weight),
        ):
            given = as_positions(value, name, n_samples)
            weight = as_weights(weight, f"{name}_weight", len(given))
            told = given[:, 0] != given[:, 1]  # "a and a are closer than to c" says nothing
            rows.append(three_columns(given[told]))
            weights.append(weight[told])
            kinds.append(np.full(told.sum(), kind, dtype=np.int8))
        self._fill(
            np.concatenate(kinds),
            np.concatenate(rows),
            np.concatenate(weights),
            n_samples=n_samples,
        )

    # ------------------------------------------------------------------ the one way to be made

    def _fill(
        self,
        kind: npt.NDArray[np.int8],
        rows: IntArray,
        weight: FloatArray,
        *,
        members: IntArray | None = None,
        n_samples: int | None = None,
        ids: npt.NDArray[Any] | None = None,
        index_of_ids: npt.NDArray[Any] | None = None,
        provenance: Mapping[str, npt.NDArray[Any]] | None = None,
        skipped: Sequence[dict[str, Any]] = (),
        dropped: "Constraints | None" = None,
    ) -> None:
        first, run = merge_duplicates(kind, rows)
        if len(first) < len(kind):
            total = np.zeros(len(first))
            np.add.at(total, run, weight)
            weight = total
            provenance = {
                name: join_texts(column, first, run) for name, column in (provenance or {}).items()
            }
            kind, rows = kind[first], rows[first]
        if members is None:
            members = np.empty(0, np.int64)
        rows, members = packed(kind, rows, members)
        values = {
            "_kind": frozen(kind),
            "_rows": frozen(rows),
            "_weight": frozen(weight),
            "_members": frozen(members),
            "n_samples": n_samples,
            "ids": None if ids is None else frozen(ids),
            "_index_of_ids": index_of_ids,
            "provenance": MappingProxyType({k: frozen(v) for k, v in (provenance or {}).items()}),
            "skipped": tuple(skipped),
            "_dropped": dropped,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def _made(cls, *args: Any, **kwargs: Any) -> "Constraints":
        made = object.__new__(cls)
        made._fill(*args, **kwargs)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"Constraints are frozen, so {name!r} cannot be set; make a new set, or join two with +"
        )

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "provenance": dict(self.provenance)}
        as_texts = {name: texts_of(state[name]) for name in ("ids", "_index_of_ids")}
        return state | {name: texts for name, texts in as_texts.items() if texts is not None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for name in ("ids", "_index_of_ids"):
            if state[name] is not None and state[name].dtype.kind == "U":
                state[name] = frozen(state[name].astype(object))
        for name, value in state.items():
            value = MappingProxyType(value) if name == "provenance" else value
            object.__setattr__(self, name, value)

    # ------------------------------------------------------------------ other ways to make one

    @classmethod
    def from_labels(cls, y: Any, *, unlabelled: Any = -1) -> "Constraints":
        """Say with the fewest links what a partly labelled `y` says.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of any kind.
        unlabelled : scalar, default=-1
            The value (besides None and NaN) that marks samples without a label.

        Returns
        -------
        Constraints
            A chain of must-links through each class, and one cannot-link between the first
            samples of each two classes.

        Examples
        --------
        >>> Constraints.from_labels([0, 0, -1, 1]).to_frame()
           a  b         type  weight
        0  0  1    must-link     1.0
        1  0  3  cannot-link     1.0
        """
        codes, n_classes = codes_of(y, "y", unlabelled)
        order, starts = members_by_code(codes, n_classes)
        chain = np.column_stack([order[:-1], order[1:]])
        together = np.delete(chain, starts[1:] - 1, axis=0) if n_classes else chain
        first = order[starts]
        i, j = np.triu_indices(n_classes, k=1)
        return cls(together, np.column_stack([first[i], first[j]]), n_samples=len(codes))

    @classmethod
    def from_piles(
        cls, piles: Any, *, weight: float = 1.0, n_samples: int | None = None
    ) -> "Constraints":
        """Say with the fewest links how a few rows were sorted into piles.

        Parameters
        ----------
        piles : iterable of sequences of int
            Rows of one pile belong together, rows of two piles do not; others are not spoken of.
            Three rows can be sorted in five ways, from ``[[a, b, c]]`` over ``[[a, b], [c]]`` to
            ``[[a], [b], [c]]``.
        weight : float, default=1.0
            Of each statement.
        n_samples : int, default=None
            How many rows there are; None for as many as the statements name.

        Returns
        -------
        Constraints
            A chain of must-links through each pile, and one cannot-link between the first rows of
            each two piles.

        See Also
        --------
        from_labels : The same from a label for each sample.

        Examples
        --------
        >>> Constraints.from_piles([[4, 7, 9], [2]]).to_frame()
           a  b         type  weight
        0  4  7    must-link     1.0
        1  7  9    must-link     1.0
        2  4  2  cannot-link     1.0
        """
        piles = [as_rows(pile, "a pile", n_samples).tolist() for pile in piles]
        rows = [row for pile in piles for row in pile]
        twice = sorted({row for row in rows if rows.count(row) > 1})[:N_NAMED]
        if twice:
            raise InvalidConstraintsError(
                f"piles: no row can lie in two piles; found {', '.join(map(str, twice))}."
            )
        return cls(
            *pairs_of_piles(piles),
            must_link_weight=weight,
            cannot_link_weight=weight,
            n_samples=n_samples,
        )

    @classmethod
    def from_groups(cls, together: Any = None, apart: Any = None) -> "Constraints":
        """Read columns: "same customer → together", "same photo → apart".

        Parameters
        ----------
        together, apart : array-like of shape (n_samples,), default=None
            A group for each sample; -1, None or NaN for samples in no group. Samples of one
            `together` group are must-linked; samples of one `apart` group are all kept apart
            from each other. An `apart` group is stored as its members, not as pairs, so a group
            of 10 000 costs 10 000 numbers.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> photos = ["p1", "p1", "p1", None, "p2", "p2"]
        >>> Constraints.from_groups(apart=photos)
        Constraints(1 cannot-link, 1 group of 3 apart; 6 samples)
        """
        if together is None and apart is None:
            raise InvalidConstraintsError("from_groups needs `together`, `apart` or both.")
        pieces, n_samples = [], None
        for name, column in (("together", together), ("apart", apart)):
            if column is None:
                continue
            codes, n_groups = codes_of(column, name, -1)
            if n_samples is not None and n_samples != len(codes):
                raise InvalidConstraintsError(
                    f"together has {n_samples} entries and apart {len(codes)}; "
                    "both need one entry per sample."
                )
            n_samples = len(codes)
            order, starts = members_by_code(codes, n_groups)
            stops = np.append(starts[1:], len(order))
            if name == "together":
                chain = np.column_stack([order[:-1], order[1:]])
                chain = np.delete(chain, starts[1:] - 1, axis=0) if n_groups else chain
                pieces.append(cls(must_link=chain, n_samples=n_samples))
            else:
                pieces.append(cls._from_apart(order, starts, stops, n_samples))
        return pieces[0] if len(pieces) == 1 else pieces[0] + pieces[1]

    @classmethod
    def _from_apart(
        cls,
        members: IntArray,
        starts: IntArray,
        stops: IntArray,
        n_samples: int | None,
        weight: float = 1.0,
    ) -> "Constraints":
        sizes = stops - starts
        pair = starts[sizes == 2]
        group = sizes > 2
        rows = np.concatenate(
            [
                three_columns(np.column_stack([members[pair], members[pair + 1]])),
                three_columns(np.column_stack([starts[group], stops[group]])),
            ]
        )
        kind = np.repeat(np.array([CANNOT_LINK, APART], np.int8), [len(pair), group.sum()])
        weights = as_weights(weight, "weight", len(kind))
        return cls._made(kind, rows, weights, members=members, n_samples=n_samples)

    @classmethod
    def from_matrix(cls, S: Any) -> "Constraints":
        """Read a square matrix: positive = must-link, negative = cannot-link, magnitude = weight.

        Parameters
        ----------
        S : sparse matrix or array-like of shape (n_samples, n_samples)
            One triangle, or both if they agree. A positive diagonal says nothing and is ignored.

        Returns
        -------
        Constraints

        Examples
        --------
        >>> Constraints.from_matrix([[0, 2, 0], [0, 0, -1], [0, 0, 0]]).to_frame()
           a  b         type  weight
        0  0  1    must-link     2.0
        1  1  2  cannot-link     1.0
        """
        pairs, value, n_samples = pairs_of_matrix(S)
        return cls._made(
            np.sign(value).astype(np.int8),
            three_columns(pairs),
            np.abs(value),
            n_samples=n_samples,
        )

    @classmethod
    def from_hierarchy(cls, tree: Any, *, ids: Any = None) -> "Constraints":
        """The informative triplets of a taxonomy: few statements that imply all the others.

        Parameters
        ----------
        tree : nested lists, nested dicts, Newick text, scipy linkage or labels
            Nested lists or tuples hold samples: ``[[0, 1], [2, [3, 4]]]``. Nested dicts name
            their branches: ``{"animals": {"cats": [0, 1], "dogs": [2]}, "plants": [3, 4]}``; a
            name whose value is a plain sample is a leaf. Newick text:
            ``"((0,1),(2,3));"``. A linkage matrix of shape (n - 1, 4), as scipy makes it. A
            one-dimensional array of labels stands for two levels: the classes, and their members
            (-1, None and NaN: in no class).
        ids : array-like of shape (n_samples,), default=None
            The names used as leaves, in the order of the data's rows; without it the leaves are
            positions.

        Returns
        -------
        Constraints
            Σ (deg u - 1)(deg parent(u) - 1) triplets over the inner nodes u but the root: n - 2
            for a binary tree, O(n) when degrees are bounded, (k - 1)(n - k) for k classes.

        Examples
        --------
        >>> known = Constraints.from_hierarchy([[0, 1], [2, 3]])
        >>> known.relative.tolist()
        [[0, 1, 2], [2, 3, 0]]
        >>> known.implies(0, 1, 3)
        True
        """
        read = as_hierarchy(tree, ids)
        triplets = informative_triplets(read)
        return cls._made(
            np.full(len(triplets), RELATIVE, np.int8),
            triplets,
            np.ones(len(triplets)),
            n_samples=read.n_samples,
            ids=None if ids is None else np.asarray(ids),
            index_of_ids=index_of(ids),
        )

    @classmethod
    def from_frame(cls, frame: "pd.DataFrame", ids: Any = None) -> "Constraints":
        """Read a table with columns ``a``, ``b``, ``type`` and optionally ``c``, ``weight``.

        Parameters
        ----------
        frame : DataFrame
            As in the files; see :func:`read_constraints`. Other columns become `provenance`.
        ids : array-like of shape (n_samples,), default=None
            The names used in `frame`, in the order of the data's rows. Without it the values
            must be positions.

        Returns
        -------
        Constraints
        """
        parsed = resolve(table_from_frame(frame), ids)
        return cls._made(**parsed._asdict(), index_of_ids=index_of(ids))

    # ------------------------------------------------------------------ parts and sizes

    def _of_kind(self, kind: int, width: int) -> IntArray:
        return frozen(self._rows[self._kind == kind, :width])

    @property
    def must_link(self) -> IntArray:
        """(m, 2) samples that belong together, in the order given."""
        return self._of_kind(MUST_LINK, 2)

    @property
    def cannot_link(self) -> IntArray:
        """(c, 2) samples that do not belong together, in the order given."""
        return self._of_kind(CANNOT_LINK, 2)

    @property
    def relative(self) -> IntArray:
        """(r, 3) rows ``(a, b, c)``: a and b are closer to each other than to c."""
        return self._of_kind(RELATIVE, 3)

    @property
    def apart_groups(self) -> list[IntArray]:
        """Groups of samples all apart from each other, each an array of samples."""
        return [self._members[s:e] for s, e in self._of_kind(APART, 2)]

    @property
    def must_link_weight(self) -> FloatArray:
        """(m,) weights of `must_link`."""
        return frozen(self._weight[self._kind == MUST_LINK])

    @property
    def cannot_link_weight(self) -> FloatArray:
        """(c,) weights of `cannot_link`."""
        return frozen(self._weight[self._kind == CANNOT_LINK])

    @property
    def relative_weight(self) -> FloatArray:
        """(r,) weights of `relative`."""
        return frozen(self._weight[self._kind == RELATIVE])

    @property
    def apart_weight(self) -> FloatArray:
        """(g,) weights of `apart_groups`; the weight holds for each pair of the group."""
        return frozen(self._weight[self._kind == APART])

    @property
    def weight(self) -> FloatArray:
        """(len(self),) weight of each statement, in the order given."""
        return self._weight

    @property
    def kinds(self) -> npt.NDArray[np.str_]:
        """(len(self),) 'must-link', 'cannot-link', 'relative' or 'apart', in the order given."""
        return frozen(NAME_OF_KIND[self._kind])

    @property
    def samples(self) -> IntArray:
        """The samples that some statement names, sorted."""
        named = [self._rows[self._kind != APART].ravel(), *self.apart_groups]
        found: IntArray = np.unique(np.concatenate(named))
        return found[found >= 0]

    @property
    def dropped(self) -> "Constraints":
        """What :meth:`repaired` or :meth:`without` left out."""
        return self._dropped if self._dropped is not None else Constraints()  # type: ignore[attr-defined]

    @property
    def pairwise(self) -> "Constraints":
        """The set without its relative statements."""
        return self if not (self._kind == RELATIVE).any() else self[self._kind != RELATIVE]

    @property
    def n_group_pairs(self) -> int:
        """How many pairs the `apart` groups stand for."""
        sizes = np.diff(self._of_kind(APART, 2), axis=1).ravel()
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def shape(self) -> tuple[int]:
        """``(len(self),)``: statements can be indexed like the entries of an array."""
        return (StatementCount(len(self)),)

    def __len__(self) -> int:
        return len(self._kind)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Statement]:
        for i in range(len(self)):
            yield self._statement(i)

    def _statement(self, i: int) -> Statement:
        kind = int(self._kind[i])
        a, b, c = self._rows[i].tolist()
        if kind == APART:
            samples: tuple[int, ...] = tuple(self._members[a:b].tolist())
        else:
            samples = (a, b, c) if kind == RELATIVE else (a, b)
        return Statement(KIND_NAMES[kind], samples, float(self._weight[i]))

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Statement: ...

    @overload
    def __getitem__(self, index: Any) -> "Constraints": ...

    def __getitem__(self, index: Any) -> "Statement | Constraints":
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]  # how scikit-learn takes the rows of an array
        if isinstance(index, int | np.integer):
            return self._statement(range(len(self))[index])
        return self._take(np.arange(len(self))[index])

    def _take(self, index: IntArray, **more: Any) -> "Constraints":
        return Constraints._made(
            self._kind[index],
            self._rows[index],
            self._weight[index],
            members=self._members,
            n_samples=self.n_samples,
            ids=self.ids,
            index_of_ids=self._index_of_ids,
            provenance={name: v[index] for name, v in self.provenance.items()},
            **more,
        )

    # ------------------------------------------------------------------ what methods work on

    def pairs(self, limit: int = PAIR_LIMIT) -> SignedPairs:
        """All pairwise statements in the order given, groups written out pair by pair.

        Parameters
        ----------
        limit : int, default=20_000_000
            More pairs than this from `apart` groups are refused.

        Returns
        -------
        SignedPairs
            `pairs` (m, 2), `sign` (m,) of +1 and -1, `weight` (m,), and `statement` (m,), the
            statement each pair comes from.
        """
        plain = np.flatnonzero(np.abs(self._kind) == 1)
        group = np.flatnonzero(self._kind == APART)
        if not len(group):
            return SignedPairs(
                np.ascontiguousarray(self._rows[plain, :2]),
                self._kind[plain],
                self._weight[plain],
                plain,
            )
        check_group_pairs(self.n_group_pairs, limit)
        expanded = [self._group_pairs(i) for i in group]
        pairs = np.concatenate([self._rows[plain, :2], *expanded])
        statement = np.concatenate([plain, np.repeat(group, [len(e) for e in expanded])])
        order = np.argsort(statement, kind="stable")
        statement = statement[order]
        return SignedPairs(
            pairs[order],
            np.sign(self._kind[statement]).astype(np.int8),
            self._weight[statement],
            statement,
        )

    def _group_pairs(self, i: Any) -> IntArray:
        start, stop = self._rows[i, :2]
        a, b = np.triu_indices(stop - start, k=1)
        return np.column_stack([self._members[start + a], self._members[start + b]])

    def on(self, n_samples: int) -> "Constraints":
        """Return the same set, checked against the number of samples of a data set.

        Parameters
        ----------
        n_samples : int
            How many rows the data set has.

        Returns
        -------
        Constraints
            The set, which now knows `n_samples`.
        """
        n_samples = int(n_samples)
        if self.n_samples == n_samples:
            return self
        if self.n_samples is not None:
            raise InvalidConstraintsError(
                f"The constraints are about {self.n_samples} samples, but X has {n_samples} rows. "
                "Positions change when rows are dropped or sorted; read the constraints again "
                "with `ids=` of the rows you cluster."
            )
        named = self.samples
        if len(named) and named[-1] >= n_samples:
            where = next(s for s in self if max(s.samples) >= n_samples)
            raise InvalidConstraintsError(
                f"A {where.kind} names the samples {where.samples[:N_NAMED]}, but X has "
                f"{n_samples} rows, so positions end at {n_samples - 1}."
            )
        return Constraints._made(
            self._kind,
            self._rows,
            self._weight,
            members=self._members,
            n_samples=n_samples,
            ids=self.ids,
            index_of_ids=self._index_of_ids,
            provenance=self.provenance,
            skipped=self.skipped,
            dropped=self._dropped,  # type: ignore[attr-defined]
        )

    def extended(self, n_samples: int, ids: Any = None) -> "Constraints":
        """Return the same statements about a table with further rows at its end.

        Parameters
        ----------
        n_samples : int
            Of the longer table.
        ids : array-like of shape (n_samples,), default=None
            Names of all its rows; without them the names are left out.

        Returns
        -------
        Constraints
            The statements with those added.

        Examples
        --------
        >>> Constraints([(0, 1)], n_samples=2).extended(5)
        Constraints(1 must-link; 5 samples)
        """
        if self.n_samples is not None and n_samples < self.n_samples:
            raise InvalidConstraintsError(
                f"n_samples={n_samples} is fewer than the {self.n_samples} samples that the "
                "constraints are about; rows can only be added."
            )
        longer = Constraints._made(
            self._kind,
            self._rows,
            self._weight,
            members=self._members,
            ids=None if ids is None else np.asarray(ids),
            provenance=self.provenance,
            skipped=self.skipped,
            dropped=self._dropped,  # type: ignore[attr-defined]
        )
        return longer.on(n_samples)

    def on_rows_of(self, X: Any) -> "Constraints":
        """Return the same set about the rows of X, by the names in its index where it has some.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            A data frame whose index holds the ids of the set in another order is followed, one
            with other names is refused. Rows that are only counted 0, 1, 2, … have no names.

        Returns
        -------
        Constraints
            The same statements, about these rows.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"x": [1, 2, 3]}, index=["ann", "bob", "cid"])
        >>> links = pd.DataFrame({"a": ["ann"], "b": ["cid"], "type": ["same"]})
        >>> known = Constraints.from_frame(links, ids=table.index)
        >>> known.on_rows_of(table[::-1]).must_link.tolist()
        [[2, 0]]
        """
        found = self.on(n_rows(X))
        names = index_of(X)
        if names is None or self.ids is None:
            return found
        order = order_of_rows(names, self.ids, self._index_of_ids)
        return found if order is None else found._in_order(order)

    def _in_order(self, order: IntArray) -> "Constraints":
        """Of rows that stand in another order: `order` holds where each stood before."""
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return self.moved(place, len(order), None if self.ids is None else self.ids[order])

    def moved(self, place: Any, n_samples: int, ids: Any = None) -> "Constraints":
        """Return the same statements about another table that has the rows they name.

        Parameters
        ----------
        place : array-like of int
            Where each row of this table stands in the other; not looked at for rows that no
            statement names.
        n_samples : int
            Rows of the other table.
        ids : array-like of shape (n_samples,), default=None
            Names of its rows.

        Returns
        -------
        Constraints
            With the same weights, about the rows of the other table.

        Examples
        --------
        >>> Constraints([(0, 2)]).moved([7, -1, 5], 9).must_link.tolist()
        [[7, 5]]
        """
        place = np.asarray(place)
        is_sample = (self._kind != APART)[:, np.newaxis] & (self._rows >= 0)  # groups are slices
        rows = self._rows.copy()
        rows[is_sample] = place[self._rows[is_sample]]
        return Constraints._made(
            self._kind,
            rows,
            self._weight,
            members=place[self._members].astype(np.int64),
            ids=None if ids is None else np.asarray(ids),
            provenance=self.provenance,
            skipped=self.skipped,
        ).on(n_samples)

    def name(self, sample: int) -> str:
        """The user's name of a sample: its id if the set was read with ids, else its position.

        Parameters
        ----------
        sample : int
            Its position.

        Returns
        -------
        str
            Its id, or the position itself.
        """
        return str(self.ids[sample]) if self.ids is not None else str(sample)

    # ------------------------------------------------------------------ algebra

    def __add__(self, other: Any) -> "Constraints":
        if not isinstance(other, Constraints):
            return NotImplemented
        if None not in (self.n_samples, other.n_samples) and self.n_samples != other.n_samples:
            raise InvalidConstraintsError(
                f"Cannot join constraints about {self.n_samples} samples with constraints about "
                f"{other.n_samples}: positions would not mean the same samples."
            )
        ids = self.ids if self.ids is not None else other.ids
        if self.ids is not None and other.ids is not None and not same_arrays(self.ids, other.ids):
            raise InvalidConstraintsError(
                "Cannot join constraints read with different `ids`: positions would not mean the "
                "same samples. Read both with the ids of the same table."
            )
        n_samples = self.n_samples if self.n_samples is not None else other.n_samples
        rows = other._rows
        if len(self._members):
            rows = rows.copy()
            rows[other._kind == APART, :2] += len(self._members)
        columns = {**self.provenance, **other.provenance}
        joined = Constraints._made(
            np.concatenate([self._kind, other._kind]),
            np.concatenate([self._rows, rows]),
            np.concatenate([self._weight, other._weight]),
            members=np.concatenate([self._members, other._members]),
            ids=ids,
            index_of_ids=self._index_of_ids if self.ids is not None else other._index_of_ids,
            provenance={
                name: np.concatenate([_column(self, name), _column(other, name)])
                for name in columns
            },
            skipped=self.skipped + other.skipped,
        )
        return joined if n_samples is None else joined.on(n_samples)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constraints):
            return NotImplemented
        return (
            self.n_samples == other.n_samples
            and same_arrays(self._kind, other._kind)
            and same_arrays(self._sorted_rows(), other._sorted_rows())
            and same_arrays(self._weight, other._weight)
            and all(
                map(same_arrays, map(np.sort, self.apart_groups), map(np.sort, other.apart_groups))
            )
        )

    def _sorted_rows(self) -> IntArray:
        """Rows in which neither a nor b comes first: both orders say the same."""
        return np.column_stack([np.sort(self._rows[:, :2], axis=1), self._rows[:, 2]])

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------------ decisions as verbs

    def together(self, rows: Any, *, weight: float = 1.0) -> "Constraints":
        """Say that these rows belong to one cluster.

        Parameters
        ----------
        rows : sequence of int or id
            Whole numbers are positions; what else was read with the set is a name.
        weight : float, default=1.0
            Of each statement.

        Returns
        -------
        Constraints
            This set and a chain of must-links through the rows. Cannot-links between rows that
            are joined now are left out: the newest word counts, and `dropped` has the older.

        Examples
        --------
        >>> known = Constraints(cannot_link=[(0, 2)]).together([0, 1, 2])
        >>> known
        Constraints(2 must-link; 3 samples named; 1 dropped)
        """
        return self._decided(put_together(self, self._rows_named(rows, "rows")), weight)

    def apart(self, rows: Any, others: Any = None, *, weight: float = 1.0) -> "Constraints":
        """Say that no two of these rows belong to one cluster.

        Parameters
        ----------
        rows : sequence of int or id
            Whole numbers are positions; what else was read with the set is a name.
        others : sequence of int or id, default=None
            Where given, each of `rows` is apart from each of these, and nothing is said of two
            of `rows`.
        weight : float, default=1.0
            Of each pair.

        Returns
        -------
        Constraints
            This set and a cannot-link or a group, which is stored as its rows (cannot-links with
            `others`). Must-links between the rows are left out: the newest word counts, and
            `dropped` has the older. A longer path of must-links stays; :meth:`conflicts` names it.

        Examples
        --------
        >>> Constraints(must_link=[(0, 1), (1, 2)]).apart([0, 1])
        Constraints(1 must-link, 1 cannot-link; 3 samples named; 1 dropped)
        >>> Constraints().apart([3, 4, 5])
        Constraints(1 group of 3 apart; 3 samples named)
        """
        others = None if others is None else self._rows_named(others, "others")
        return self._decided(set_apart(self, self._rows_named(rows, "rows"), others), weight)

    def merge(
        self,
        cluster_a: Any,
        cluster_b: Any,
        labels: Any,
        X: Any = None,
        *,
        n_rows: int | None = None,
        weight: float = 1.0,
        random_state: Any = 0,
    ) -> "Constraints":
        """Say that two clusters are one.

        Parameters
        ----------
        cluster_a, cluster_b : scalar
            Values of `labels`.
        labels : array-like of shape (n_samples,)
            The cluster of each row, as the person saw it.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            Where given, rows from the middle of each cluster to its edge stand for it; without it
            rows are drawn.
        n_rows : int, default=None
            Rows that stand for each cluster; twice the square root of its size by default.
        weight : float, default=1.0
            Of each statement.
        random_state : int, RandomState or None, default=0
            Draws the rows where there is no X.

        Returns
        -------
        Constraints
            This set and must-links that each cross from one cluster to the other and together
            join all rows chosen. Cannot-links between the two clusters are left out: the newest
            word counts, and `dropped` has the older.

        Notes
        -----
        Cluster again with one cluster less, or another one will be divided. Where others lie
        between the two, few statements may not hold them together; ``n_rows=len(labels)`` says it
        of every row.

        Examples
        --------
        >>> Constraints().merge(0, 1, [0, 0, 0, 1, 1, 2, 2], n_rows=2)
        Constraints(3 must-link; 7 samples)
        """
        labels = self._check_labels(labels)
        typical = Typical(X, len(labels), n_rows, random_state)
        decision = merge_clusters(self, (cluster_a, cluster_b), labels, typical)
        return self._decided(decision, weight).on(len(labels))

    def split(
        self,
        cluster: Any,
        labels: Any,
        X: Any = None,
        *,
        rows: Any = None,
        n_rows: int | None = None,
        weight: float = 1.0,
        random_state: Any = 0,
    ) -> "Constraints":
        """Say that a cluster is two.

        Parameters
        ----------
        cluster : scalar
            A value of `labels`.
        labels : array-like of shape (n_samples,)
            The cluster of each row, as the person saw it.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            Finds the two parts, by two-means among the rows of the cluster, and the rows that
            stand for them.
        rows : sequence of int or id, default=None
            The rows of the cluster that are to leave it. X is then needed only to find typical
            ones; without it rows are drawn.
        n_rows : int, default=None
            How many rows stand for each part; see :meth:`merge`.
        weight : float, default=1.0
            Of each statement.
        random_state : int, RandomState or None, default=0
            Draws rows, and begins the two-means.

        Returns
        -------
        Constraints
            This set, a chain of must-links through typical rows of each part, and cannot-links
            between the first ones, the second ones and so on. Must-links between the parts are
            left out: the newest word counts, and `dropped` has the older.

        Notes
        -----
        Cluster again with one cluster more.

        Examples
        --------
        >>> Constraints().split(0, [0, 0, 0, 0, 1], [[1], [2], [8], [9], [30]])
        Constraints(2 must-link, 2 cannot-link; 5 samples)
        """
        labels = self._check_labels(labels)
        typical = Typical(X, len(labels), n_rows, random_state)
        leaving = None if rows is None else self._rows_named(rows, "rows")
        decision = split_cluster(self, cluster, labels, typical, leaving)
        return self._decided(decision, weight).on(len(labels))

    def _rows_named(self, rows: Any, name: str) -> IntArray:
        if isinstance(rows, Iterable) and not isinstance(rows, str):
            rows = [self._position(row) for row in rows]
        return as_rows(rows, name, self.n_samples)

    def _decided(self, decision: Decision, weight: float) -> "Constraints":
        """This set and what was decided, without what that overrules."""
        rest = self._split(np.flatnonzero(decision.overruled))
        pairs = Constraints(
            decision.must_link,
            decision.cannot_link,
            must_link_weight=weight,
            cannot_link_weight=weight,
        )
        start, stop = np.array([0]), np.array([len(decision.apart)])
        group = Constraints._from_apart(decision.apart, start, stop, self.n_samples, weight)
        joined = rest + pairs + group
        return joined._take(
            np.arange(len(joined)), dropped=self.dropped + rest.dropped, skipped=joined.skipped
        )

    # ------------------------------------------------------------------ what follows from it

    def closure(self, n_samples: int | None = None) -> Closure:
        """Everything the pairwise statements imply.

        Parameters
        ----------
        n_samples : int, default=None
            The number of samples; the set's own `n_samples`, or one more than the largest
            position, by default.

        Returns
        -------
        Closure
            Must-link components, and which components must stay apart.

        Raises
        ------
        InconsistentConstraintsError
            When a cannot-link lies inside a must-link component.
        """
        return close(self if n_samples is None else self.on(n_samples))

    def conflicts(
        self, n_clusters: int | None = None, *, max_listed: int | None = MAX_LISTED
    ) -> list[Conflict]:
        """Smallest sets of statements that cannot all hold, each with the reason.

        Parameters
        ----------
        n_clusters : int, default=None
            When given, also statements that cannot hold with so few clusters.
        max_listed : int or None, default=100
            Stop after so many conflicts of each sort (of relative statements, of links, with the
            number of clusters), each of which takes a search of its own; None finds all. A list
            with so many of a sort may not be complete.

        Returns
        -------
        list of Conflict
            One for each cannot-link inside a must-link component, with a shortest must-link path
            between its ends. With `n_clusters`, also groups of samples that would need more
            clusters: mutually apart ones (the usual case), an odd cycle (two clusters), or a
            smallest part of the cannot-link graph that cannot be coloured. That search is exact
            on small graphs and stops after a budget on large ones, whatever `max_listed`, so an
            empty list is then no proof. No two of these share a cannot-link: mending one can bring
            up another. Relative statements (with the must-links and cannot-links they meet) that
            no hierarchy keeps are listed as minimal sets, no two with a triplet in common.

        Examples
        --------
        >>> known = Constraints([(0, 1), (1, 2)], [(0, 2)])
        >>> print(known.conflicts()[0])
        0 and 2 may not share a cluster, yet must-links join them: 0 – 1 – 2.
        """
        by_triplets = [
            Conflict("contradiction", index, self, None, reason)
            for index, reason in relative_conflicts(self, max_listed)
        ]
        return by_triplets + find_conflicts(self, n_clusters, max_listed)

    def without(self, conflicts: Sequence[Conflict]) -> "Constraints":
        """Drop a light set of statements that touches every one of these conflicts.

        Parameters
        ----------
        conflicts : sequence of Conflict
            Some or all of :meth:`conflicts`.

        Returns
        -------
        Constraints
            The rest; its `dropped` holds what was left out.
        """
        drop = hitting_set([c.index for c in conflicts], self._weight)
        return self._split(drop)

    def repaired(self) -> "Constraints":
        """Return the heaviest consistent subset found; its `dropped` holds what was left out.

        The best of three searches: statements taken by falling weight (must-links before
        cannot-links of the same weight, and the reverse), and a greedy hitting set of the
        conflicts; each completed by whatever else fits. Relative statements are then taken by
        falling weight as far as they fit, or first those that a tree found by votes satisfies,
        whichever drops less. A consistent set comes back unchanged.

        Returns
        -------
        Constraints
            What can all hold; `dropped` has the rest.
        """
        return self._split(repair_all(self))

    def implies(self, a: Any, b: Any, c: Any) -> bool:
        """Whether the statements force ``ab|c``: every hierarchy that keeps them satisfies it.

        Parameters
        ----------
        a, b, c : int or id
            Three samples: whole numbers are positions; what else was read with the set is a name.

        Returns
        -------
        bool
            Whether it follows.

        Raises
        ------
        InconsistentConstraintsError
            When no hierarchy keeps the statements.

        Examples
        --------
        >>> known = Constraints(relative=[(0, 1, 2), (2, 3, 0)])
        >>> known.implies(0, 1, 3), known.implies(1, 2, 3)
        (True, False)
        """
        asked = [tuple(map(self._position, (a, b, c)))]
        ((a, b, c),) = as_positions(asked, "relative", self.n_samples).tolist()
        return forces(self, a, b, c)

    def _position(self, sample: Any) -> Any:
        """The position of a sample given by position or by name."""
        if self.ids is None or isinstance(sample, int | np.integer):
            return sample
        try:
            return position_reader(self.ids)[1](sample)
        except LookupError as error:
            raise InvalidConstraintsError(f"The sample {error.args[0]}.") from None

    def satisfied_by(self, tree: Any) -> npt.NDArray[np.bool_]:
        """Which relative statements a hierarchy satisfies (Liu, Zhang & Wang 2011, Def. 4.1).

        Parameters
        ----------
        tree : nested lists, nested dicts, Newick text or scipy linkage
            As in :meth:`from_hierarchy`; every sample named by a statement is a leaf.

        Returns
        -------
        ndarray of bool, shape (len(self.relative),)
            ``ab|c`` holds when a and b meet below the node where they meet c.

        Examples
        --------
        >>> Constraints(relative=[(0, 1, 2), (1, 2, 0)]).satisfied_by([[0, 1], 2]).tolist()
        [True, False]
        """
        read = as_hierarchy(tree, self.ids)
        return satisfied_by_tree(read.parent, read.leaves(self.relative))

    def _split(self, drop: IntArray) -> "Constraints":
        gone = np.zeros(len(self), dtype=bool)
        gone[drop] = True
        dropped = self._take(np.flatnonzero(gone))
        return self._take(np.flatnonzero(~gone), dropped=dropped, skipped=self.skipped)

    def satisfied(self, labels: Any) -> npt.NDArray[np.bool_]:
        """Which statements a clustering keeps, in the order given.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each row.

        Returns
        -------
        ndarray of bool, shape (len(self),)
            A relative statement ``ab|c`` holds unless c shares a cluster with exactly one of a
            and b. An `apart` group holds when no two of its members share a cluster. Rows labelled
            -1 are in no cluster: two of them share none, and a must-link holds if both are.
        """
        labels = self._check_labels(labels)
        kept = np.empty(len(self), dtype=bool)
        pair = np.abs(self._kind) == 1
        rel, group = self._kind == RELATIVE, np.flatnonzero(self._kind == APART)
        kept[pair] = ~violated(labels, self._rows[pair, :2], self._kind[pair])
        a, b, c = (labels[self._rows[rel, i]] for i in range(3))
        kept[rel] = ((a != c) & (b != c)) | ((a == c) & (b == c))
        for i in group:
            start, stop = self._rows[i, :2]
            inside = labels[self._members[start:stop]]
            inside = inside[inside != -1]
            kept[i] = len(np.unique(inside)) == len(inside)
        return kept

    def report(self, labels: Any) -> ConstraintReport:
        """Say how many statements a clustering keeps, and list the broken ones.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each row.

        Returns
        -------
        ConstraintReport
            What holds and what is broken.
        """
        return ConstraintReport(self, self._check_labels(labels))

    def _check_labels(self, labels: Any) -> npt.NDArray[Any]:
        labels = np.asarray(brought_here(labels))
        if labels.ndim != 1:
            raise ValueError(
                f"labels must be one-dimensional, one label per sample; got shape {labels.shape}."
            )
        needed = self.n_samples
        if needed is None:
            needed = int(self.samples[-1:].max(initial=-1)) + 1
        if len(labels) < needed or (self.n_samples is not None and len(labels) != needed):
            raise ValueError(
                f"labels has {len(labels)} entries, but the constraints are about "
                f"{needed} samples; pass one label per sample."
            )
        return labels

    # ------------------------------------------------------------------ out again

    def to_frame(self, ids: Any = None) -> "pd.DataFrame":
        """One row per statement: ``a``, ``b``, ``c`` (if needed), ``type``, ``weight``, the rest.

        Parameters
        ----------
        ids : array-like of shape (n_samples,), default=None
            Names to write instead of positions; by default those the set was read with.

        Returns
        -------
        DataFrame
            Groups of mutually apart samples are written out as pairs.
        """
        return to_frame(self, ids)

    def write(self, path: str | Path, ids: Any = None) -> None:
        """Write a file that :func:`read_constraints` reads back, atomically.

        Parameters
        ----------
        path : str or Path
            ``.csv``, ``.tsv``, ``.json`` or ``.jsonl``.
        ids : array-like of shape (n_samples,), default=None
            Names to write instead of positions; by default those the set was read with.
        """
        write(self, Path(path), ids)

    def __repr__(self) -> str:
        counts = [
            f"{n} {KIND_NAMES[kind]}"
            for kind in (MUST_LINK, CANNOT_LINK, RELATIVE)
            if (n := int((self._kind == kind).sum()))
        ]
        sizes = [len(g) for g in self.apart_groups]
        if len(sizes) == 1:
            counts.append(f"1 group of {sizes[0]} apart")
        elif sizes:
            counts.append(f"{len(sizes)} groups of {min(sizes)} to {max(sizes)} apart")
        if self.n_samples is not None:
            about = f"{self.n_samples} samples"
        else:
            about = f"{len(self.samples)} samples named"
        notes = [", ".join(counts) or "none", about]
        if self.skipped:
            notes.append(f"{len(self.skipped)} skipped")
        if self.dropped:
            notes.append(f"{len(self.dropped)} dropped")
        return f"Constraints({'; '.join(notes)})"

    def _repr_html_(self) -> str:
        return constraints_html(self)


N_NAMED = 5


def read_constraints(
    path: str | Path,
    ids: Any = None,
    *,
    encoding: str | None = None,
    skip_unknown: bool = False,
) -> Constraints:
    r"""Read constraints from a table or JSON, or a taxonomy from Newick or JSON.

    Parameters
    ----------
    path : str or Path
        CSV, TSV and XLSX (extra ``excel``) need a header with ``a``, ``b`` and ``type`` and may
        have ``c`` and ``weight``, in any case; commas, semicolons or tabs separate. `type` is
        must-link (ml, must, same, true, 1), cannot-link (cl, cannot, different, false, -1),
        relative (triplet), or skip (unsure), in any case. Other columns are kept as provenance.
        A file packed with gzip ends in ``.gz`` besides. JSON holds ``{"version": 1,
        "must_link": [...], "cannot_link": [...], "relative": [...]}``; JSONL one object per answer
        with the columns as keys. A ``.nwk`` or ``.newick`` file holds Newick text, and JSON may
        hold nested lists or dicts instead: a taxonomy, read as
        :meth:`Constraints.from_hierarchy` does.
    ids : array-like of shape (n_samples,), default=None
        The names used in the file, in the order of the data's rows (the id column or index of
        the table). Without it the values must be 0-based positions.
    encoding : str, default=None
        Of a text file. By default UTF-8 or UTF-16, and Windows-1252 where CSV is neither.
    skip_unknown : bool, default=False
        Leave out statements about names that are not in `ids`, with a
        :class:`~conclust.exceptions.ConstraintsIgnoredWarning` that says how many.

    Returns
    -------
    Constraints
        The statements of the file.

    Raises
    ------
    InvalidConstraintsError
        Unknown or duplicate ids, self-links, unknown types, missing columns, a file that is not
        text: one message with the first five offenders and their lines.

    See Also
    --------
    Constraints.write : The way back.
    Constraints.from_frame : The same from a table in memory.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "links.csv")
    >>> _ = path.write_text("a,b,type,who\nann,bob,same,me\nann,cid,different,me\n")
    >>> read_constraints(path, ids=["ann", "bob", "cid"])
    Constraints(1 must-link, 1 cannot-link; 3 samples)
    """
    parsed = resolve(read_table(Path(path), encoding), ids, skip_unknown=skip_unknown)
    return Constraints._made(**parsed._asdict(), index_of_ids=index_of(ids))


def _column(constraints: Constraints, name: str) -> npt.NDArray[Any]:
    if name in constraints.provenance:
        return constraints.provenance[name].astype(object)
    return np.full(len(constraints), None, dtype=object)
