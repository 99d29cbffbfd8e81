"""Tensors of torch: their rows are swept on the device where they lie."""

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from conclust._lloyd.on_device import RowsOnDevice, nearest_centers
from conclust._validation import refuse_large
from conclust.blocks._blocks import Blocks
from conclust.blocks._sources import Rows, Source
from conclust.blocks._summary import Summary
from conclust.exceptions import MissingExtraError

# Numbers that are looked at, or brought here, at a time: 128 MB in double precision.
NUMBERS = 1 << 24


class Tensor(Source):
    """A tensor with two dimensions, float32 or float64."""

    def __init__(self, tensor: Any, name: str = "X"):
        import torch

        kinds = {torch.float32: np.float32, torch.float64: np.float64}
        if tensor.layout != torch.strided or tensor.ndim != 2:
            what = "a sparse tensor" if tensor.layout != torch.strided else "a tensor"
            raise ValueError(
                f"{name} is {what} of shape {tuple(tensor.shape)}; rows are the first of two "
                "dimensions of a dense one."
            )
        if tensor.dtype not in kinds:
            raise TypeError(
                f"{name} is a tensor of type {tensor.dtype}; distances are taken in float32 or "
                "float64. Pass X.float()."
            )
        if tensor.device.type not in {"cpu", "cuda"}:
            raise TypeError(
                f"{name} lies on the device {str(tensor.device)!r}, for which sums in double "
                "precision are not promised. Pass X.cpu()."
            )
        self.name, self.tensor = name, tensor.detach()
        self.n_rows, self.n_features = tensor.shape
        self.dtype = np.dtype(kinds[tensor.dtype])

    def read(self, block_rows: int) -> Iterator[Rows]:
        for start in range(0, self.n_rows, block_rows):
            yield self.tensor[start : start + block_rows].cpu().numpy()


class TensorBlocks(Blocks):
    """Rows of a tensor, checked and prepared on its device; made by `conclust.blocks.open`.

    Attributes
    ----------
    tensor : Tensor of shape (n_rows, n_features)
        The rows as they are compared.
    shape, dtype, columns, block_rows
        As in `Blocks`.
    """

    def __init__(self, tensor: Any, block_rows: int | None = None):
        source = Tensor(tensor)
        super().__init__(source, block_rows)
        self.tensor = source.tensor.contiguous()

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]} on {self.tensor.device})"

    def __getitem__(self, rows: Any) -> npt.NDArray[Any]:
        """Rows by number, in any order, in memory."""
        import torch

        numbers = torch.from_numpy(np.asarray(rows, dtype=np.int64)).to(self.tensor.device)
        found: npt.NDArray[Any] = self.tensor[numbers].cpu().numpy()
        return found

    def compared(self, *, unit: bool, dtype: Any = None) -> Self:
        """The same rows, brought to unit length or not, in another type."""
        import torch

        rows = copy.copy(self)
        rows.dtype = self.dtype if dtype is None else np.dtype(dtype)
        for start, part in self._pieces():
            if not torch.isfinite(part.sum(dtype=torch.float64)) or (
                unit and not part.any(dim=1).all()
            ):
                rows.preparation = self.preparation._replace(unit=unit)
                rows._refuse_holes(start, part.cpu().numpy())
        kind = torch.float32 if rows.dtype == np.float32 else torch.float64
        rows.tensor = self.tensor.to(kind)
        if unit:
            lengths = torch.linalg.vector_norm(rows.tensor, dim=1, dtype=torch.float64)
            rows.tensor = rows.tensor / lengths[:, None].to(kind)
        return rows

    def checked(self, *, unit: bool = False) -> Self:
        """The same rows, known to be finite and not too large; `unit`: brought to unit length."""
        import torch

        rows = self.compared(unit=unit)
        how = {"dtype": torch.float64, "device": rows.tensor.device}
        sums, squares = torch.zeros(self.shape[1], **how), torch.zeros(self.shape[1], **how)
        least, most = torch.aminmax(rows.tensor)
        largest = max(float(most), -float(least))
        refuse_large(largest, self.shape, self.dtype, self.name)
        for _, part in rows._pieces():
            sums += part.sum(dim=0, dtype=torch.float64)
        mean = sums / self.shape[0]
        for _, part in rows._pieces():
            squares += ((part.double() - mean) ** 2).sum(dim=0)
        variance = squares / self.shape[0]
        rows._summary = Summary(self.shape[0], mean.cpu().numpy(), variance.cpu().numpy(), largest)
        rows._sample = None
        return rows

    def centered(self) -> Self:
        """The same rows moved to their mean: a copy on the device."""
        import torch

        rows = super().centered()
        rows.tensor = self.tensor - torch.from_numpy(self.mean).to(self.tensor.device)
        rows._sample = None
        return rows

    def parts(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """One pass over prepared rows in memory, ``start, rows``."""
        for start, part in self._pieces():
            yield start, part.cpu().numpy()

    def nearest(self, centers: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """Nearest of some centres for each row, found on the device."""
        labels = nearest_centers(self.tensor, centers)
        self.keep_labels(labels)
        return labels

    def open_rows(self, n_clusters: int, **how: Any) -> RowsOnDevice:  # type: ignore[override]
        """Make them ready for k-means; see `conclust._lloyd.rows.open_rows`."""
        return RowsOnDevice(self, n_clusters, **how)

    def _pieces(self) -> Iterator[tuple[int, Any]]:
        step = max(NUMBERS // self.shape[1], 1)
        for start in range(0, self.shape[0], step):
            yield start, self.tensor[start : start + step]


def on_device(rows: Blocks, device: Any) -> TensorBlocks:
    """Rows of any source, brought to a device."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(
            f"device={device!r}: rows are brought to a device with torch, which is not installed; "
            "pip install 'conclust[gpu]'."
        ) from error
    try:
        tensor = torch.empty(rows.shape, dtype=getattr(torch, rows.dtype.name), device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device={device!r} cannot be used: {error}") from error
    for start, block in rows.read():
        prepared = torch.from_numpy(rows.prepared(block))
        tensor[start : start + len(block)] = prepared.to(tensor.device)
    found = TensorBlocks(tensor, rows.block_rows)
    found.name = found.source.name = rows.name
    found.columns = rows.columns
    return found
