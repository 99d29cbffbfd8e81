"""What a file holds as text or cells: packed or not, in whatever encoding, a spreadsheet too."""

import codecs
import contextlib
import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from conclust._atomic import atomic_write
from conclust.exceptions import ConclustError, MissingExtraError

MAX_UNPACKED = 2 << 30  # bytes; a small packed file can hold any number of zeros
CHUNK = 1 << 20
SEPARATORS = (",", ";", "\t")


class UnreadableFileError(ConclustError, ValueError):
    """A file that cannot be read as text or cells; the message says why."""


class Text(NamedTuple):
    """The text of a file, and the encoding it was written in."""

    text: str
    encoding: str

    @property
    def note(self) -> str:
        """What the user may want to know about the encoding, or nothing."""
        if self.encoding.startswith("utf-16"):
            return "The file was read as UTF-16."
        if self.encoding != "cp1252":
            return ""
        return "The file is not UTF-8 and was read as Windows-1252 (Western European)."


def suffixes_of(path: Path) -> tuple[str, bool]:
    """The suffix that says the format, in small letters, and whether the file is packed."""
    packed = path.suffix.lower() == ".gz"
    return Path(path.stem if packed else path.name).suffix.lower(), packed


def content_of(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz."""
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    found = io.BytesIO()
    try:
        with gzip.open(path) as file:
            while chunk := file.read(CHUNK):
                found.write(chunk)
                if found.tell() > MAX_UNPACKED:
                    raise UnreadableFileError(
                        f"{path.name} holds more than {MAX_UNPACKED:,} bytes; unpack it first."
                    )
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UnreadableFileError(f"{path.name} is not a whole gzip file: {error}") from error
    return found.getvalue()


def text_of_file(path: Path, encoding: str | None = None) -> Text:
    """Decode a file: as told, else by its mark, else UTF-8, else what Windows writes in Europe."""
    return decode(content_of(path), path.name, encoding)


def utf8_of_file(path: Path, encoding: str | None = None) -> tuple[bytes, str]:
    """The text of a file as UTF-8, without its mark, and what there is to say of its encoding."""
    content = content_of(path)
    if encoding is None and content.isascii() and b"\0" not in content:
        return content, ""
    found = decode(content, path.name, encoding)
    if found.encoding == "utf-8-sig":
        return content.removeprefix(codecs.BOM_UTF8), found.note
    return found.text.encode("utf-8", "replace"), found.note


def decode(content: bytes, name: str, encoding: str | None = None) -> Text:
    """Decode the bytes of the file called `name`."""
    asked = (encoding,) if encoding else _encodings(content)
    for each in asked:
        try:
            text = content.decode(each)
        except LookupError:
            raise UnreadableFileError(
                f"{name}: there is no encoding {encoding!r}; usual ones are utf-8, utf-16, cp1252."
            ) from None
        except UnicodeDecodeError as error:
            failed, at = each.upper().removesuffix("-SIG"), error.start
            continue
        if "\0" in text:
            raise UnreadableFileError(f"{name} is not a text file.")
        return Text(text.removeprefix("\ufeff"), each)
    raise UnreadableFileError(
        f"{name} is not {failed} text (byte {at}); save it with the encoding UTF-8, or name the "
        "encoding it has."
    )


def _encodings(content: bytes) -> tuple[str, ...]:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ("utf-16",)
    head = content[:200]
    # Letters of Western text in UTF-16: every second byte is zero.
    if len(head) >= 4 and not head[1::2].strip(b"\0") and head[::2].strip(b"\0"):
        return ("utf-16-le",)
    if len(head) >= 4 and not head[::2].strip(b"\0") and head[1::2].strip(b"\0"):
        return ("utf-16-be",)
    return ("utf-8-sig", "cp1252")


def separators_in(header: str) -> list[str]:
    """The separators a header holds outside quotes."""
    outside = "".join(header.split('"')[::2])  # quoted names may hold any of them
    return [s for s in SEPARATORS if s in outside]


# ---------------------------------------------------------------------- spreadsheets


class Sheet(NamedTuple):
    """The cells of a sheet, header first, and which one it is where there are more."""

    rows: list[list[Any]]
    note: str


def sheet_of(path: Path) -> Sheet:
    """The first sheet of a workbook; formulas as their last values."""
    import warnings
    import zipfile

    openpyxl = require_openpyxl(path)
    content = content_of(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            if sum(part.file_size for part in packed.infolist()) > MAX_UNPACKED:
                raise UnreadableFileError(
                    f"{path.name} holds more than {MAX_UNPACKED:,} bytes; save it as CSV."
                )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # styles and extensions that do not concern cells
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            sheets = book.worksheets
            rows = [list(row) for row in sheets[0].iter_rows(values_only=True)]
            book.close()
    except UnreadableFileError:
        raise
    except Exception as error:  # zip, XML and openpyxl each have errors of their own
        text = str(error).strip().split("\n")[0][:200] or type(error).__name__
        raise UnreadableFileError(f"{path.name} is not an Excel workbook: {text}") from error
    while rows and not any(cell is not None for cell in rows[-1]):
        rows.pop()
    width = max((i + 1 for row in rows for i, c in enumerate(row) if c is not None), default=0)
    note = f"Read from {sheets[0].title!r}, the first of {len(sheets)} sheets."
    rows = [row[:width] + [None] * (width - len(row)) for row in rows]
    return Sheet(rows, note if len(sheets) > 1 else "")


def write_sheet(path: Path, rows: list[list[Any]]) -> None:
    """Write cells as a workbook, atomically; text stays text, so no cell is run as a formula."""
    from conclust._atomic import atomic_write

    openpyxl = require_openpyxl(path)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        sheet.append([_as_cell(sheet, value) for value in row])
    with atomic_write(path, "wb") as file:
        book.save(file)


def _as_cell(sheet: Any, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell = WriteOnlyCell(sheet, value=ILLEGAL_CHARACTERS_RE.sub("\ufffd", value))
    cell.data_type = "s"  # whatever it begins with
    return cell


def require_openpyxl(path: Path) -> Any:
    """The module that reads and writes workbooks, or the error that says how to get it."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError(
            f"{path.name}: Excel workbooks are read and written with openpyxl, which is not "
            'installed: pip install "conclust[excel]", or save the sheet as CSV.'
        ) from error
    return openpyxl


def write_parquet(path: Path, header: list[str], blocks: Iterable[Sequence[Any]]) -> None:
    """Write columns as a Parquet file, atomically; each block holds some rows of every column."""
    pyarrow = require_pyarrow(path)
    with atomic_write(path, "wb") as file, contextlib.ExitStack() as stack:
        writer = None
        for columns in blocks:
            table = pyarrow.table(dict(zip(header, columns, strict=True)))
            if writer is None:
                writer = stack.enter_context(pyarrow.parquet.ParquetWriter(file, table.schema))
            writer.write_table(table)


def require_pyarrow(path: Path) -> Any:
    """The module that reads and writes Parquet, or the error that says how to get it."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            f"{path.name}: Parquet files are read and written with pyarrow, which is not "
            'installed: pip install "conclust[parquet]".'
        ) from error
    return pyarrow


def write_rows(path: Path, header: list[str], rows: Any) -> int:
    """Write a CSV file, a workbook or Parquet, atomically; return how many cells were guarded."""
    if path.suffix.lower() == ".xlsx":
        write_sheet(path, [header, *map(list, rows)])  # text is text there: nothing to guard
        return 0
    if path.suffix.lower() == ".parquet":
        write_parquet(path, header, [list(zip(*rows, strict=True))])
        return 0
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([guarded(name) for name in header])
    n_guarded = 0

    def counted(cell: Any) -> Any:
        nonlocal n_guarded
        written = guarded(cell)
        n_guarded += written is not cell
        return written

    # Most cells begin with a letter or a digit, or are numbers: only others are looked at.
    writer.writerows(
        [counted(c) if isinstance(c, str) and c[:1] in SUSPECT else c for c in row] for row in rows
    )
    with atomic_write(path) as file:
        file.write(buffer.getvalue())
    return n_guarded


# A spreadsheet runs a cell that begins so as a formula. The last four are the wide forms.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
SUSPECT = frozenset((" ", *FORMULA_STARTS))


def guarded(cell: Any) -> Any:
    """The same cell, or text that a spreadsheet does not take for a formula."""
    if isinstance(cell, str) and is_formula(cell):
        return "'" + cell
    return cell


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run this text; plain numbers such as -5 are none."""
    return text.lstrip(" ").startswith(FORMULA_STARTS) and not is_number(text)


def is_number(text: str) -> bool:
    """Whether a cell is written like a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
