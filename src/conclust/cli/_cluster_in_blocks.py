"""``conclust cluster`` on a table that memory does not hold, and ``--resume``."""

import contextlib
import copy
import csv
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from conclust._arrays import IntArray
from conclust._declare import Method, methods, why_not
from conclust.cli._big_table import (
    BigTable,
    open_big,
    sampled_table,
    survey,
    texts_of_ids,
    write_prepared,
)
from conclust.cli._cluster import (
    Labels,
    Outcome,
    Whole,
    confidence_of,
    for_the_user,
    labels_checksum,
    number_of_clusters,
    say_job,
    sizes_of,
    way_out_of_clashes,
    write,
)
from conclust.cli._errors import BadInput, about
from conclust.cli._job import Job, check_n_clusters, checksum, read_links
from conclust.cli._names import check_names
from conclust.cli._options import TableOptions, on_terminal, output_folder, passing, say, working
from conclust.cli._prepare import Prepared, prepare
from conclust.cli._resume import State
from conclust.cli._table import Table

# Rows on the page, and those by which the number of clusters is chosen, beside the linked ones.
SHOWN = 20_000
# What `auto` is beyond memory.
BEYOND = "ckm"


@dataclass(frozen=True)
class Request:
    """What was asked for, as far as it decides on the labels."""

    data: Path
    links: Path | None
    skip_unknown: bool
    n_clusters: int | str
    method: str
    settings: dict[str, Any]
    seed: int
    options: TableOptions

    def fingerprint(self, table: BigTable) -> dict[str, Any]:
        """By what a run is known again."""
        import conclust

        options = {f"--{name.replace('_', '-')}": v for name, v in asdict(self.options).items()}
        return options | {
            "table": table.facts,
            "statements": None if self.links is None else checksum(self.links),
            "--skip-unknown": self.skip_unknown,
            "-k": self.n_clusters,
            "--method": self.method,
            "--set": self.settings,
            "--seed": self.seed,
            "--block-rows": table.block_rows,
            "conclust": conclust.__version__,
        }


def cluster_in_blocks(
    asked: Request,
    output: Path,
    block_rows: int | None,
    resume: bool,
    projection: str,
    model: bool | None,
    labels_file: Labels,
    *,
    quiet: bool,
) -> tuple[Job, Outcome, dict[str, Any]]:
    """Read, fit and write; return the rows shown, what was found, and what run.json holds."""
    from conclust.reporting import check_projection

    table = open_big(asked.data, asked.options, block_rows)
    if asked.links is not None and not asked.links.exists():
        raise BadInput(f"{asked.links}: no such file.")
    if isinstance(asked.n_clusters, int):
        check_n_clusters(asked.n_clusters, len(table))
        check_names(labels_file.names, asked.n_clusters)
    method, reasons = _method(asked.method)
    rows_read = f"{len(table):,} rows, read in blocks of {table.block_rows:,}."
    say(f"{asked.data.name}: {rows_read}", quiet=quiet)
    with output_folder(output) as folder:
        state = State(folder, asked.fingerprint(table), resume=resume)
        with state.kept(), _enough_memory(table):
            job, rows, known, X = _prepared(asked, table, state)
            say_job(job, quiet=quiet)
            with about("--map"):
                check_projection(projection, len(rows))
            found = _fit(asked, method, reasons, job, rows, known, X, state, quiet)
            labels, confidence = found.estimator.labels_, confidence_of(found.estimator, X)
            found = replace(
                found,
                estimator=_for_new_rows(found.estimator),
                confidence=None if confidence is None else confidence[rows],
            )

            def write_labels(path: Path) -> int:
                how = asked.options.id_col, labels, confidence, labels_file.names
                return _write_labels(path, table, *how)

            record = {
                "n_rows": len(table),
                "n_rows_in_report": len(rows),
                "cluster_sizes": sizes_of(labels, found.n_clusters),
                "labels_sha256": labels_checksum(labels),
            }
            whole = Whole(write_labels, record, _remark(len(rows), len(table)), state.folder)
            with working("writing the report"):
                record = write(
                    folder, job, found, asked.seed, projection, model,
                    labels=labels_file, whole=whole,
                )  # fmt: skip
    return job, found, record


def _for_new_rows(estimator: Any) -> Any:
    """A model with centres as `predict` needs it: labels of all rows would be packed in memory."""
    model = copy.copy(estimator)
    if hasattr(model, "cluster_centers_"):
        for name in ("labels_", "report_"):  # which holds them, too
            vars(model).pop(name, None)
    return model


def _remark(n_shown: int, n_rows: int) -> str:
    if n_shown == n_rows:
        return ""
    return (
        f"This page knows {n_shown:,} of the {n_rows:,} rows, drawn at random or named in "
        "statements, and counts these; all are in labels.csv."
    )


@contextlib.contextmanager
def _enough_memory(table: BigTable) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        raise BadInput(
            f"Memory does not suffice for blocks of {table.block_rows:,} rows; a smaller number in "
            "--block-rows needs less."
        ) from error


def _method(name: str) -> tuple[Method, list[str]]:
    """The method, and why; one that needs all rows at once is refused."""
    every = methods()
    if name == "auto":
        why = "The table is read in blocks: k-means that obeys statements by priority."
        return every[BEYOND], [why]
    method = every[name]
    if not method.takes.blocks:
        can = ", ".join(each for each, other in every.items() if other.takes.blocks)
        raise BadInput(
            f"--method {name} needs all rows in memory, and the table is read in blocks. Methods "
            f"that read blocks: {can}. If memory holds the table several times: --no-blocks."
        )
    return method, [f"As asked for: {method.about}."]


# ---------------------------------------------------------------------- rows


def _prepared(asked: Request, table: BigTable, state: State) -> tuple[Job, IntArray, Any, Any]:
    """The rows to show as a job, their numbers, all statements, and all rows as they are compared.

    One pass over the table, and one more where its numbers are not used as they are.
    """
    options = asked.options
    columns = table.columns_for(options)
    known, rows, ids = None, np.empty(0, dtype=np.int64), None
    with _noted() as about_links:
        if asked.links is not None and options.id_col is None:
            known = read_links(asked.links, table, options.encoding, asked.skip_unknown)
            rows = known.samples
        elif options.id_col is not None:
            ids = options.id_col, _names_in(asked.links, options.encoding)
    with passing("looking through the table", len(table)) as show:
        seen = survey(table, columns, rows, ids, show)
    sample, options = sampled_table(table, seen, options, seen.is_drawn)
    prepared = prepare(sample, options)
    where = seen.part(SHOWN, asked.seed)
    rows = seen.rows[where]
    shown = replace(sampled_table(table, seen, options, where)[0], notes=sample.notes)
    with _noted() as more:
        if known is None:
            told = _links_of(asked, shown, len(table))
            known = told.moved(rows, len(table))
        else:
            place = np.zeros(len(table), dtype=np.int32 if len(table) < 2**31 else np.int64)
            place[rows] = np.arange(len(rows))
            told = known.moved(place, len(rows), ids=shown.names)
    X, notes = _rows(table, prepared, options, state)
    part = replace(prepared, X=X[rows], notes=prepared.notes + notes)
    job = Job(shown, part, told, asked.links, about_links + more, about_data=table.facts)
    return job, rows, known, X


@contextlib.contextmanager
def _noted() -> Iterator[list[str]]:
    """A list to which warnings of the block are added."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    found += [str(each.message) for each in caught]


def _names_in(links: Path | None, encoding: str | None) -> list[str]:
    from conclust.constraints import summarize_file

    return [] if links is None else summarize_file(links, encoding).names


def _links_of(asked: Request, shown: Table, n_rows: int) -> Any:
    """The statements about the rows shown, by their ids."""
    try:
        return read_links(asked.links, shown, asked.options.encoding, asked.skip_unknown)
    except BadInput as error:
        among = f"among the {len(shown)} ids"  # of the rows kept, which nobody knows of
        raise BadInput(error.message.replace(among, f"among the {n_rows} ids")) from error


def _rows(
    table: BigTable, prepared: Prepared, options: TableOptions, state: State
) -> tuple[Any, list[str]]:
    """All rows as they are compared: mapped, from the table itself if nothing is done to it."""
    import conclust

    transformer = prepared.transformer
    as_it_is = table.is_array and not transformer.scale and prepared.numbers == table.columns
    if as_it_is and not _holds_missing(table):
        return conclust.blocks.open(table.path, block_rows=table.block_rows), []
    notes = []
    if not state.rows.exists():
        with passing("preparing rows", len(table)) as show:
            notes = write_prepared(state.rows, table, prepared, options, show)
    with about("--resume"):
        return conclust.blocks.open(state.rows, block_rows=table.block_rows), notes


def _holds_missing(table: BigTable) -> bool:
    return any(frame.isna().to_numpy().any() for _, frame in table.read(table.columns, lambda n: 0))


# ---------------------------------------------------------------------- fit


def _fit(
    asked: Request,
    method: Method,
    reasons: list[str],
    job: Job,
    rows: IntArray,
    known: Any,
    X: Any,
    state: State,
    quiet: bool,
) -> Outcome:
    """Choose the number of clusters by the rows shown if it is open, and fit to all rows."""
    from conclust._lloyd.bookmark import remembering

    reason = why_not(method, known, 0)
    if reason is not None:
        raise BadInput(f"--method {method.name}: {reason}; other methods: --no-blocks.")
    curve, k = None, asked.n_clusters
    if isinstance(k, str):
        curve = number_of_clusters(job.X, job.constraints, k, asked.seed, quiet=quiet)
        k = curve.chosen
    conflicts = job.constraints.conflicts(k)
    with about(f"--method {method.name}"):
        estimator = method.make(
            k, asked.seed, verbose=on_terminal() and not quiet, **asked.settings
        )
        goes_on = remembering(state) if method.class_name == "ConstrainedKMeans" else None
        began = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught, goes_on or contextlib.nullcontext():
            warnings.simplefilter("always")
            with way_out_of_clashes(method, estimator, asked.links):
                estimator.fit(X, constraints=known)
        seconds = time.perf_counter() - began
    say(f"Method: {method.name}. {' '.join(reasons)}", quiet=quiet)
    labels = estimator.labels_[rows]
    return Outcome(
        method=method,
        reasons=reasons,
        estimator=estimator,
        n_clusters=k,
        curve=curve,
        seconds=seconds,
        warnings=tuple(dict.fromkeys(str(w.message) for w in caught if for_the_user(w))),
        confidence=None,
        report=job.constraints.report(labels),
        conflicts=conflicts,
        labels=labels,
    )


# ---------------------------------------------------------------------- files


def _write_labels(
    path: Path,
    table: BigTable,
    id_col: str | None,
    labels: Any,
    confidence: Any,
    names: Mapping[str, str],
) -> int:
    """Write the labels block by block; return how many ids were guarded."""
    from conclust._files import guarded, write_parquet

    header = ["id", "label", *(["cluster_name"] if names else [])]
    header += [] if confidence is None else ["confidence"]

    def blocks() -> Iterator[list[Any]]:
        for start, ids in _ids(table, id_col):
            here = labels[start : start + len(ids)].tolist()
            columns: list[Any] = [ids, here]
            if names:
                columns.append([names.get(str(label), "") for label in here])
            if confidence is not None:
                some = confidence[start : start + len(ids)]
                columns.append([round(float(each), 4) for each in some])
            yield columns

    if path.suffix == ".parquet":
        write_parquet(path, header, blocks())
        return 0
    n_guarded = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for ids, *others in blocks():
            safe = [guarded(each) for each in ids]
            n_guarded += sum(a is not b for a, b in zip(safe, ids, strict=True))
            writer.writerows(zip(safe, *others, strict=True))
    return n_guarded


def _ids(table: BigTable, id_col: str | None) -> Iterator[tuple[int, list[str]]]:
    """The names of all rows, block by block."""
    if id_col is None:
        for start in range(0, len(table), table.block_rows):
            stop = min(start + table.block_rows, len(table))
            yield start, [str(row) for row in range(start, stop)]
        return
    with passing("writing labels", len(table)) as show:
        for start, frame in table.read([id_col], show):
            yield start, texts_of_ids(frame[id_col]).tolist()
