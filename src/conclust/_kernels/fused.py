"""One pass over rows on a GPU: nearest centre, and sums of the clusters, in one kernel.

Products are taken on tensor cores without losing what float32 holds: a float32 is the sum of three
bfloat16 numbers, and the six largest of their nine products leave an error of the size of float32's
own rounding. For the sums the other factor is 0 or 1, and the three products are exact. Each
program adds up its own rows in their order, so that a sum does not depend on who comes first.
"""

from typing import Any, NamedTuple

try:
    import torch
    import triton
    import triton.language as tl
except ImportError:  # whoever has no tensors has no use for this, but tools import every module
    triton = None

# Numbers in registers, or the kernel would spill: clusters × features, each rounded up to a power
# of two, and the larger of them.
MOST, WIDEST = 1 << 14, 256
# Bytes of shared memory that a program may ask for: those of a Hopper GPU.
SHARED = 220_000
# The Triton it was tried with.
OLDEST = (3, 6)
# Weights of rows: all are 1; 0 or 1, where negative means that the caller places the row; any.
ONES, PLACED, ANY = 0, 1, 2


class Tiling(NamedTuple):
    """How the work is cut; what one program adds up, it adds up in float32."""

    rows: int  # in a tile
    warps: int
    stages: int = 1
    tiles: int = 32  # for a program


def fits(X: Any, n_clusters: int) -> bool:
    """Whether rows on a device and so many clusters are a case for this kernel."""
    if X.device.type != "cuda" or X.dtype != torch.float32 or not _is_new_enough():
        return False
    n_padded, d_padded = _padded(n_clusters), _padded(X.shape[1])
    if n_padded * d_padded > MOST or max(n_padded, d_padded) > WIDEST:
        return False
    properties = torch.cuda.get_device_properties(X.device)
    return getattr(properties, "shared_memory_per_block_optin", 0) >= SHARED


def sweep(
    X: Any, labels: Any, weight: Any, kind: int, centers: Any = None, n_clusters: int = 0,
    tiling: Tiling | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Label rows with their nearest centre, and add them up.

    X            (n, d)         float32  in     on the device, C-contiguous, as all others
    labels       (n,)           int32    inout  cluster of each row
    weight       (n,) or None   float32  in     negative: counts neither as a row nor as changed
    kind                        int      in     `ONES`, `PLACED` or `ANY`
    centers      (k, d) or None float32  in     None: labels are given, and stay

    Returns sums (k, d) and masses (k,), float64, and how many rows changed cluster, (), all on the
    device, where they may yet have to be computed.
    """
    n_clusters = n_clusters if centers is None else len(centers)
    n_padded, d_padded = _padded(n_clusters), _padded(X.shape[1])
    tiling = tiling or _tiling(n_padded, d_padded)
    n_programs = triton.cdiv(len(X), tiling.rows * tiling.tiles)
    sums = X.new_empty((n_programs, n_padded, d_padded))
    masses = X.new_empty((n_programs, n_padded))
    n_changed = labels.new_empty(n_programs)
    parts, norms = (X, X) if centers is None else _factors(centers, n_padded, d_padded)
    _sweep[(n_programs,)](
        X, labels, X if weight is None else weight, parts, norms, sums, masses, n_changed,
        len(X), X.shape[1], ASSIGN=centers is not None, KIND=kind, K=n_padded, D=d_padded,
        ROWS=tiling.rows, TILES=tiling.tiles, num_warps=tiling.warps, num_stages=tiling.stages,
    )  # fmt: skip
    total = sums.sum(dim=0, dtype=torch.float64)[:n_clusters, : X.shape[1]]
    return total, masses.sum(dim=0, dtype=torch.float64)[:n_clusters], n_changed.sum()


def _is_new_enough() -> bool:
    return triton is not None and tuple(map(int, triton.__version__.split(".")[:2])) >= OLDEST


def _padded(n: int) -> int:
    # Tensor cores multiply no less than 16 by 16.
    return max(16, 1 << (n - 1).bit_length())


def _tiling(n_padded: int, d_padded: int) -> Tiling:
    """As many rows as leave room in the registers for the scores and for the sums."""
    roomy = n_padded <= 128 and n_padded * d_padded <= MOST // 2
    return Tiling(rows=64, warps=4, tiles=64) if roomy else Tiling(rows=64, warps=8)


def _factors(centers: Any, n_padded: int, d_padded: int) -> tuple[Any, Any]:
    """−2 · centres as three bfloat16 parts, (3, d, k), and their squared norms, ∞ where none is."""
    n_clusters, n_features = centers.shape
    factors = centers.new_zeros((d_padded, n_padded))
    factors[:n_features, :n_clusters] = -2 * centers.T
    norms = centers.new_full((n_padded,), float("inf"))
    norms[:n_clusters] = (centers * centers).sum(dim=1)
    parts = []
    for _ in range(3):
        parts.append(factors.bfloat16())
        factors = factors - parts[-1].float()
    return torch.stack(parts), norms


if triton is not None:

    @triton.jit
    def _split(x):
        """Three bfloat16 numbers whose sum is x."""
        first = x.to(tl.bfloat16)
        rest = x - first.to(tl.float32)
        second = rest.to(tl.bfloat16)
        return first, second, (rest - second.to(tl.float32)).to(tl.bfloat16)

    @triton.jit
    def _sweep(  # type: ignore[no-untyped-def]
        x_at, labels_at, weight_at, parts_at, norms_at, sums_at, masses_at, changed_at,
        n, d,
        ASSIGN: tl.constexpr, KIND: tl.constexpr, K: tl.constexpr, D: tl.constexpr,
        ROWS: tl.constexpr, TILES: tl.constexpr,
    ):  # fmt: skip
        """Sweep some tiles of rows, one after the other; see `sweep`."""
        program = tl.program_id(0)
        clusters, features = tl.arange(0, K), tl.arange(0, D)
        if ASSIGN:
            of_factor = features[:, None] * K + clusters[None, :]
            c1 = tl.load(parts_at + of_factor)
            c2 = tl.load(parts_at + K * D + of_factor)
            c3 = tl.load(parts_at + 2 * K * D + of_factor)
            norms = tl.load(norms_at + clusters)
        sums = tl.zeros((K, D), dtype=tl.float32)
        masses = tl.zeros((K,), dtype=tl.float32)
        n_changed = 0
        for tile in range(TILES):
            rows = ((program * TILES + tile) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
            there = rows < n
            x = tl.load(
                x_at + rows[:, None] * d + features[None, :],
                mask=there[:, None] & (features[None, :] < d),
                other=0.0,
            )
            x1, x2, x3 = _split(x)
            labels = tl.load(labels_at + rows, mask=there, other=0)
            counted = there
            if KIND != 0:
                weight = tl.load(weight_at + rows, mask=there, other=-1.0)
                counted = weight >= 0
            if ASSIGN:
                # The small ones first.
                scores = tl.dot(x3, c1)
                scores = tl.dot(x2, c2, scores)
                scores = tl.dot(x1, c3, scores)
                scores = tl.dot(x2, c1, scores)
                scores = tl.dot(x1, c2, scores)
                scores = tl.dot(x1, c1, scores) + norms[None, :]
                nearest = tl.argmin(scores, axis=1).to(tl.int32)
                n_changed += tl.sum((counted & (nearest != labels)).to(tl.int32), axis=0)
                tl.store(labels_at + rows, nearest, mask=there)
                labels = nearest
            own = (labels[None, :] == clusters[:, None]) & counted[None, :]
            if KIND == 2:
                x1, x2, x3 = _split(x * weight[:, None])
                masses += tl.sum(tl.where(own, weight[None, :], 0.0), axis=1)
            else:
                masses += tl.histogram(labels, K, mask=counted).to(tl.float32)
            own = own.to(tl.bfloat16)
            sums = tl.dot(own, x3, sums)
            sums = tl.dot(own, x2, sums)
            sums = tl.dot(own, x1, sums)
        of_cluster = clusters[:, None] * D + features[None, :]
        tl.store(sums_at + program.to(tl.int64) * K * D + of_cluster, sums)
        tl.store(masses_at + program * K + clusters, masses)
        tl.store(changed_at + program, n_changed)
