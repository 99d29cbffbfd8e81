"""What `cluster` and `compare` begin with: the table as numbers, the statements, k."""

import hashlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conclust.cli._embeddings import prepare_embeddings
from conclust.cli._errors import BadInput
from conclust.cli._options import TableOptions
from conclust.cli._prepare import Prepared, prepare
from conclust.cli._table import Table, read_table

if TYPE_CHECKING:
    from conclust.cli._big_table import BigTable


@dataclass(frozen=True)
class Job:
    """Everything read from the user's files."""

    table: Table
    prepared: Prepared
    constraints: Any
    links: Path | None
    about_links: list[str]  # statements that were left out
    embeddings: Path | None = None  # the file of vectors, where there is one
    about_data: dict[str, Any] | None = None  # of a table too long for a checksum

    @property
    def X(self) -> Any:  # noqa: N802
        """The numbers to cluster."""
        return self.prepared.X

    @property
    def notes(self) -> list[str]:
        """What was done to the table."""
        return self.table.notes + self.prepared.notes + self.about_links

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the table unless the user does something."""
        return self.prepared.warnings

    @property
    def inputs(self) -> dict[str, dict[str, Any]]:
        """Names and checksums of the files."""
        files = {} if self.about_data else {"data": self.table.path}
        if self.links is not None:
            files["constraints"] = self.links
        if self.embeddings is not None:
            files["embeddings"] = self.embeddings
        known = {"data": self.about_data} if self.about_data else {}
        return known | {
            role: {"path": str(path), "sha256": checksum(path)} for role, path in files.items()
        }


def read_job(
    data: Path, links: Path | None, options: TableOptions, skip_unknown: bool = False
) -> Job:
    """Read the table and the statements about it."""
    table = read_table(data, options)
    # Before the slower work on the table.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        constraints = read_links(links, table, options.encoding, skip_unknown)
    about_links = [str(each.message) for each in caught]
    if options.embeddings is None:
        return Job(table, prepare(table, options), constraints, links, about_links)
    prepared = prepare_embeddings(table, options)
    file = None if options.embeddings in table.lists else Path(options.embeddings)
    return Job(table, prepared, constraints, links, about_links, file)


def read_links(
    path: Path | None,
    table: "Table | BigTable",
    encoding: str | None = None,
    skip_unknown: bool = False,
) -> Any:
    """The statements, checked against the rows of the table."""
    from conclust import Constraints, read_constraints
    from conclust.exceptions import InvalidConstraintsError

    if path is None:
        return Constraints(n_samples=len(table))
    if not path.exists():
        raise BadInput(f"{path}: no such file.")
    try:
        known = read_constraints(path, ids=table.ids, encoding=encoding, skip_unknown=skip_unknown)
        return known.on(len(table))
    except InvalidConstraintsError as error:
        # The library's way out is an argument; here it is an option.
        way_out = "name the table's id column with --id-col"
        text = str(error).replace("pass `ids=`", way_out).replace("read them with `ids=`", way_out)
        if "is not among the" in text:
            text += " --skip-unknown leaves out statements about ids that no row has."
        raise BadInput(text) from error


def check_n_clusters(n_clusters: int, n_rows: int) -> None:
    """No more clusters than rows."""
    if n_clusters > n_rows:
        raise BadInput(
            f"-k {n_clusters}: there are only {n_rows} rows, so at most {n_rows} clusters."
        )


def checksum(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
