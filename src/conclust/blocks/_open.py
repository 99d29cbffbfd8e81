"""`conclust.blocks.open`: which class reads what."""

import os
import struct
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from conclust._arrays import engine_of, is_tensor
from conclust.blocks._blocks import Blocks
from conclust.blocks._sources import ManyArrays, OneArray, Parquet, Source

PARQUET = (".parquet", ".pq", ".parq")
LOCAL_HEADER = 30  # bytes of a zip's entry before its name


def open(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    member: str | None = None,
    block_rows: int | None = None,
    device: Any = None,
    labels_file: str | os.PathLike[str] | None = None,
) -> Blocks:
    """Make rows that are not one array ready to be passed as X.

    Parameters
    ----------
    source : path, array, or arrays one after the other
        A ``.npy`` file (mapped into memory), an ``.npz`` file, a ``.parquet`` file or a folder of
        such, in the order of their names; an array or a memory map; a dask array or data frame; a
        Ray dataset; a tensor of torch; a list of arrays, or a function that returns an iterator of
        arrays, the same each time it is called.
    columns : sequence of str, default=None
        Columns of a Parquet file, data frame or dataset to use; all by default.
    member : str, default=None
        Array of an ``.npz`` file to use, where it holds several.
    block_rows : int, default=None
        Rows that are read at a time at most; by default as many as 4 million numbers are.
    device : str or torch.device, default=None
        Bring all rows to this device, such as ``"cuda"``, and cluster them there; needs torch. A
        tensor is clustered where it lies.
    labels_file : path, default=None
        A ``.npy`` file for the labels, which are then mapped, not held in memory: 4 bytes per row.
        Each `fit` or `predict` of a clusterer with centres or a mixture replaces it as a whole
        when it ends; an ensemble's `fit`, too.

    Returns
    -------
    Blocks
        X for `fit` and `predict` of `ConstrainedKMeans`, `MiniBatchConstrainedKMeans`,
        `COPKMeans`, `PCKMeans`, their ensembles, and `ConstrainedGaussianMixture` with a shared
        covariance.

    See Also
    --------
    conclust.MiniBatchConstrainedKMeans : Looks at a sample of the rows in each iteration.

    Examples
    --------
    >>> import conclust
    >>> halves = [[[0.0], [1.0]], [[8.0], [9.0]]]
    >>> X = conclust.blocks.open(halves)
    >>> X
    Blocks(X: 4 × 1, float64)
    >>> known = conclust.Constraints(must_link=[(1, 2)], cannot_link=[(0, 1)])
    >>> conclust.COPKMeans(2, random_state=0).fit(X, constraints=known).report_
    ConstraintReport(2 of 2 kept: 1 of 1 must-link, 1 of 1 cannot-link)
    """
    if labels_file is not None:
        is_path = isinstance(source, str | os.PathLike)
        if is_path and Path(source).resolve() == Path(labels_file).resolve():
            raise ValueError(f"labels_file={str(labels_file)!r} is the file of the rows.")
        rows = open(source, columns, member=member, block_rows=block_rows, device=device)
        return rows.writing_to(labels_file)
    if device is not None:
        from conclust.blocks._tensor import on_device

        return on_device(open(source, columns, member=member, block_rows=block_rows), device)
    if isinstance(source, Blocks):
        return source
    if is_tensor(source):
        from conclust.blocks._tensor import TensorBlocks

        if columns is not None:
            raise ValueError(f"columns={list(columns)!r}, but a tensor has no names of columns.")
        return TensorBlocks(source, block_rows)
    if isinstance(source, str | os.PathLike):
        found: Source = _file(Path(source), columns, member)
    elif engine_of(source) == "dask":
        from conclust.blocks._dask import Dask

        found = Dask(source, columns)
    elif engine_of(source) == "Ray":
        from conclust.blocks._ray import Ray

        found = Ray(source, columns)
    elif hasattr(source, "dtype") and hasattr(source, "shape"):
        found = OneArray(np.asanyarray(source))
    elif callable(source):
        found = ManyArrays(source)
    elif isinstance(source, Iterator):
        raise TypeError(
            f"source is a {type(source).__name__}, which can be passed over once only, and k-means "
            "does so again and again. Pass the function that makes it, or a list of arrays."
        )
    elif hasattr(source, "__iter__"):
        found = ManyArrays(source.__iter__)
    else:
        raise TypeError(
            f"source is a {type(source).__name__}; pass a path, an array, a list of arrays or a "
            "function that returns an iterator of arrays."
        )
    if columns is not None and found.columns is None:
        raise ValueError(f"columns={list(columns)!r}, but {found.name} has no names of columns.")
    return Blocks(found, block_rows)


def _file(path: Path, columns: Sequence[str] | None, member: str | None) -> Source:
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in PARQUET)
        if not files:
            raise ValueError(f"The folder {path} holds no file whose name ends in .parquet.")
        return Parquet(files, columns, path.name)
    suffix = path.suffix.lower()
    if suffix in PARQUET:
        return Parquet([path], columns, path.name)
    if suffix == ".npy":
        return OneArray(_mapped(path), path.name)
    if suffix == ".npz":
        return _member(path, member)
    raise ValueError(
        f"{path.name}: files that can be read in blocks end in .npy, .npz or .parquet. Save the "
        "rows as one of these, for example with numpy.save."
    )


def _mapped(path: Path) -> npt.NDArray[Any]:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path.name} cannot be read as an array of numbers: {error}") from error


def _member(path: Path, member: str | None) -> Source:
    """One array of an .npz file: mapped where it is stored as it is, else unpacked in passing."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path.name} is not a whole .npz file: {error}") from error
    with archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if (member is None and len(names) != 1) or (member is not None and member not in names):
            said = "Choose one of its arrays" if member is None else f"There is no {member!r} there"
            raise ValueError(f"{path.name}: {said}: member= {', '.join(map(repr, names[:10]))}.")
        entry = archive.getinfo(f"{member or names[0]}.npy")
        name = f"{path.name}[{member or names[0]}]"
        with archive.open(entry) as file:
            shape, is_fortran, dtype = _header(file, name)
            length = file.tell()
    if entry.compress_type == zipfile.ZIP_STORED:
        offset = _offset(path, entry) + length
        order = "F" if is_fortran else "C"
        return OneArray(np.memmap(path, dtype, "r", offset, shape, order), name)  # type: ignore[call-overload]
    if is_fortran or len(shape) != 2:
        raise ValueError(
            f"{name} has shape {shape}{', stored by columns' * is_fortran}; unpacked in passing, "
            "it must hold rows one after the other. Save it with numpy.save as it is."
        )
    return ManyArrays(_unpacking(path, entry.filename, shape, dtype), name)


def _header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, is_fortran, dtype = read(file)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as an array: {error}") from error
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects, which are never loaded; rows are numbers.")
    return shape, is_fortran, dtype


def _offset(path: Path, entry: zipfile.ZipInfo) -> int:
    """Where the bytes of an entry begin: its name and extra field there may differ in length."""
    with path.open("rb") as file:
        file.seek(entry.header_offset)
        header = file.read(LOCAL_HEADER)
    n_name, n_extra = struct.unpack("<HH", header[26:30])
    return int(entry.header_offset + LOCAL_HEADER + n_name + n_extra)


def _unpacking(
    path: Path, entry: str, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Callable[[], Iterator[npt.NDArray[Any]]]:
    step = max((1 << 22) // shape[1], 1)

    def again() -> Iterator[npt.NDArray[Any]]:
        with zipfile.ZipFile(path) as archive, archive.open(entry) as file:
            _header(file, path.name)
            for start in range(0, shape[0], step):
                n_rows = min(step, shape[0] - start)
                content = file.read(n_rows * shape[1] * dtype.itemsize)
                yield np.frombuffer(content, dtype).reshape(n_rows, shape[1])

    return again
