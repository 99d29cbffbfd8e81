"""From stored files to their content: checksum first, then the parser; nothing is unpickled."""

import csv
import gzip
import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from conclust.datasets._checksums import SHA256
from conclust.datasets._content import Content
from conclust.datasets._registry import Dataset
from conclust.exceptions import DatasetNotFoundError


def missing_files(dataset: Dataset, folder: Path) -> list[str]:
    """The files of a set that a folder does not hold."""
    return [file for file in dataset.files if not (folder / file).is_file()]


def read_files(dataset: Dataset, folder: Path) -> Content:
    """The content of a set from a folder that holds all its files."""
    blobs = [_verified_bytes(folder / file) for file in dataset.files]
    return READERS[dataset.layout](dataset, blobs)


def _verified_bytes(path: Path) -> bytes:
    # Hash what is parsed, not the file a second time: it might change in between.
    blob = path.read_bytes()
    found, expected = hashlib.sha256(blob).hexdigest(), SHA256[path.name]
    if found != expected:
        raise DatasetNotFoundError(
            f"{path} is not the file the registry knows: its sha256 is {found}, expected "
            f"{expected}. It is damaged, or another version; nothing was read. "
            "Replace it by a good copy, or remove it to let the next source serve."
        )
    return blob


def _read_table(dataset: Dataset, blobs: list[bytes]) -> Content:
    header, *lines = gzip.decompress(blobs[0]).decode("utf-8").splitlines()
    numbers, labels = zip(*(line.rsplit(",", 1) for line in lines), strict=True)
    data = np.loadtxt(numbers, delimiter=",", comments=None, dtype=dataset.dtype, ndmin=2)
    return Content(data, np.array(labels), header.split(",")[:-1])


def _read_texts(dataset: Dataset, blobs: list[bytes]) -> Content:
    ids, labels, *views = _columns(blobs[0])
    return Content(views, np.array(labels), [None] * len(views), np.array(ids))


def _read_views(dataset: Dataset, blobs: list[bytes]) -> Content:
    *matrices, table = blobs
    views = [sp.csr_array(sp.load_npz(io.BytesIO(matrix))) for matrix in matrices]
    ids, labels = _columns(table)
    data = [view.astype(dataset.dtype) for view in views]
    return Content(data, np.array(labels), [None] * len(views), np.array(ids))


def _read_images(dataset: Dataset, blobs: list[bytes]) -> Content:
    with np.load(io.BytesIO(blobs[0]), allow_pickle=False) as arrays:
        data, labels = arrays["X"], arrays["y"].astype(str)
    return Content(data, labels, [f"p{pixel}" for pixel in range(data.shape[1])])


def _read_cover(dataset: Dataset, blobs: list[bytes]) -> Content:
    with np.load(io.BytesIO(blobs[0]), allow_pickle=False) as arrays:
        columns = {name: arrays[name] for name in arrays.files}
    labels = columns.pop("label").astype(str)
    groups = {"wilderness": 4, "soil": 40}
    codes = {group: columns.pop(group) for group in groups}
    names = list(columns) + [f"{g}_{k}" for g, size in groups.items() for k in range(1, size + 1)]

    data = np.zeros((len(labels), len(names)), dtype=dataset.dtype)
    data[:, : len(columns)] = np.column_stack(list(columns.values()))
    rows = np.arange(len(labels))
    for group, code in codes.items():
        data[rows, names.index(f"{group}_1") + code.astype(np.intp) - 1] = 1
    return Content(data, labels, names)


def _columns(blob: bytes) -> list[list[str]]:
    # newline="": line ends inside quoted text are part of it.
    text = io.StringIO(gzip.decompress(blob).decode("utf-8"), newline="")
    _, *rows = csv.reader(text)
    return [list(column) for column in zip(*rows, strict=True)]


READERS: dict[str, Callable[[Dataset, list[bytes]], Content]] = {
    "table": _read_table,
    "texts": _read_texts,
    "views": _read_views,
    "images": _read_images,
    "cover": _read_cover,
}
