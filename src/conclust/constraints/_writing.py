"""Positions to names: constraints as a frame or a file."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import IntArray
from conclust._atomic import atomic_write
from conclust.constraints._kinds import KIND_NAMES, RELATIVE
from conclust.constraints._reading import by_suffix
from conclust.constraints._resolving import position_reader
from conclust.exceptions import InvalidConstraintsError

if TYPE_CHECKING:
    import pandas as pd

    from conclust.constraints._constraints import Constraints


def to_frame(constraints: "Constraints", ids: Any = None) -> "pd.DataFrame":
    """Write out the statements as a frame; see :meth:`conclust.Constraints.to_frame`."""
    import pandas as pd

    columns = _columns(constraints, ids)
    if constraints.ids is None and ids is None and None in columns.get("c", ()):
        columns["c"] = pd.array(columns["c"], dtype="Int64")
    return pd.DataFrame(columns)


def _columns(constraints: "Constraints", ids: Any) -> dict[str, Any]:
    """The columns of the table, in order; None where a cell is empty."""
    statement, kind, rows = _listed(constraints)
    names = _names(constraints, ids)
    columns: dict[str, Any] = {}
    for name, at in zip("abc", rows.T, strict=True):
        if name == "c" and not (kind == RELATIVE).any():
            continue
        column = at.astype(object) if names is None else names[at]
        column[at < 0] = None
        columns[name] = column.tolist()
    columns["type"] = [KIND_NAMES[k] for k in kind.tolist()]
    columns["weight"] = constraints.weight[statement].tolist()
    for name, values in constraints.provenance.items():
        columns[name] = values[statement].tolist()
    return columns


def _listed(constraints: "Constraints") -> tuple[IntArray, npt.NDArray[np.int8], IntArray]:
    """Statements as rows of samples, groups written out: statement, kind, samples."""
    pairs = constraints.pairs()
    relative = np.flatnonzero(constraints.kinds == "relative")
    statement = np.concatenate([pairs.statement, relative])
    kind = np.concatenate([pairs.sign, np.full(len(relative), RELATIVE, dtype=np.int8)])
    padded = np.column_stack([pairs.pairs, np.full(len(pairs.pairs), -1, dtype=np.int64)])
    rows = np.concatenate([padded, constraints.relative])
    order = np.argsort(statement, kind="stable")
    return statement[order], kind[order], rows[order]


def _names(constraints: "Constraints", ids: Any) -> npt.NDArray[Any] | None:
    if ids is None:
        return constraints.ids
    names, _ = position_reader(ids)
    assert names is not None
    named = constraints.samples
    needed = constraints.n_samples or (int(named[-1]) + 1 if len(named) else 0)
    if len(names) < needed:
        raise InvalidConstraintsError(
            f"ids has {len(names)} entries, but the constraints are about {needed} samples."
        )
    return names


def write(constraints: "Constraints", path: Path, ids: Any = None) -> None:
    """Write a file by its suffix; see :meth:`conclust.Constraints.write`."""
    writers: dict[str, Callable[[Constraints, IO[str], Any], None]] = {
        ".csv": lambda c, f, i: _write_separated(c, f, i, ","),
        ".tsv": lambda c, f, i: _write_separated(c, f, i, "\t"),
        ".json": _write_json,
        ".jsonl": _write_jsonl,
    }
    writer = by_suffix(path, writers)
    with atomic_write(path) as file:
        writer(constraints, file, ids)


def _records(constraints: "Constraints", ids: Any) -> tuple[list[str], Iterable[dict[str, Any]]]:
    columns = _columns(constraints, ids)
    names = list(columns)
    for record in constraints.skipped:
        names += [name for name in record if name not in names]

    def records() -> Iterator[dict[str, Any]]:
        for row in zip(*columns.values(), strict=True):
            yield {
                name: value for name, value in zip(columns, row, strict=True) if value is not None
            }
        yield from constraints.skipped

    return names, records()


def _write_separated(constraints: "Constraints", file: IO[str], ids: Any, delimiter: str) -> None:
    names, records = _records(constraints, ids)
    writer = csv.DictWriter(file, names, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)


def _write_jsonl(constraints: "Constraints", file: IO[str], ids: Any) -> None:
    for record in _records(constraints, ids)[1]:
        file.write(json.dumps(record, ensure_ascii=False, default=_plain) + "\n")


def _write_json(constraints: "Constraints", file: IO[str], ids: Any) -> None:
    names = _names(constraints, ids)

    def named(rows: IntArray) -> list[Any]:
        return (rows if names is None else names[rows]).tolist()

    content: dict[str, Any] = {
        "version": 1,
        "must_link": named(constraints.must_link),
        "cannot_link": named(constraints.cannot_link),
        "relative": named(constraints.relative),
    }
    for key in ("must_link", "cannot_link", "relative", "apart"):
        weight = getattr(constraints, f"{key}_weight")
        if (weight != 1).any():
            content[f"{key}_weight"] = weight.tolist()
    if constraints.apart_groups:
        content["apart"] = [named(group) for group in constraints.apart_groups]
    links = constraints.kinds != "apart"
    # by_kind[p] is the statement written at place p; `order` leads back.
    by_kind = np.concatenate(
        [np.flatnonzero(constraints.kinds == k) for k in ("must-link", "cannot-link", "relative")]
    )
    order = np.argsort(by_kind, kind="stable")
    if (order != np.arange(len(order))).any():
        content["order"] = order.tolist()
    if constraints.provenance and links.any():
        content["provenance"] = {
            name: column[by_kind].tolist() for name, column in constraints.provenance.items()
        }
    if constraints.skipped:
        content["skipped"] = list(constraints.skipped)
    json.dump(content, file, ensure_ascii=False, default=_plain)
    file.write("\n")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
