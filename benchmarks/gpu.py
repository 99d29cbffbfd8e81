"""The k-means family on a GPU: milliseconds per iteration, and where they go.

    python benchmarks/gpu.py --json gpu.json [--rows N] [--only SECTION ...] [--device cpu]
    python benchmarks/gpu.py --table gpu.json

The second line prints the tables of docs/scale.md from what the first one wrote. "fused" is the
kernel of `conclust._kernels.fused`, "torch" is the way where it cannot be used. An iteration is all
of it: linked rows placed, statements counted, centres moved, labels compared with those met before.
"""

import argparse
import contextlib
import json
import platform
import time
import traceback

import numpy as np
import torch

import conclust
from _measure import print_table
from conclust import ConstrainedKMeans, COPKMeans, PCKMeans, blocks, sample_constraints
from conclust._kernels import fused
from conclust._kernels.place_in_order import count_violated, place_pairs
from conclust._lloyd import on_device
from conclust._lloyd.rows import open_rows
from conclust._placement.in_order import plan_of
from conclust.cluster._constrained_kmeans import ConstrainedLloyd, _visits

WAYS = ("fused", "torch")
WHETHER = ("with statements", "without")
N_ITER = 20
SHAPES = [(16, 10), (16, 100), (64, 10), (64, 256), (128, 10), (128, 100), (256, 50), (64, 1000)]


@contextlib.contextmanager
def way(name):
    """One of the two ways to sweep."""
    most = fused.MOST
    fused.MOST = most if name == "fused" else 0
    try:
        yield
    finally:
        fused.MOST = most


def ways(tensor, k):
    return [name for name in WAYS if name == "torch" or fused.fits(tensor, k)]


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def median_ms(device, run, repeats=10):
    """Milliseconds until the device has done what `run` asks for: median after two warm-ups."""
    for _ in range(2):
        run()
    wait(device)
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        wait(device)
        found.append(1e3 * (time.perf_counter() - began))
    return float(np.median(found))


def mixture(n, d, k, device, dtype=torch.float32, spread=0.4):
    """Rows around k places, their truth here, and rows to start from."""
    generator = torch.Generator(device).manual_seed(0)
    how = {"generator": generator, "device": device}
    truth = torch.randint(k, (n,), **how)
    rows = torch.randn((n, d), dtype=dtype, **how)
    rows += (spread * torch.randn((k, d), dtype=dtype, **how))[truth]
    return rows, truth.cpu().numpy(), rows[:k].cpu().numpy().astype(np.float64)


# ---------------------------------------------------------------------- sections


def machine(args):
    found = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "conclust": conclust.__version__,
        "device": str(args.device),
    }
    if args.device.type == "cuda":
        properties = torch.cuda.get_device_properties(args.device)
        found["gpu"] = properties.name
        found["processors"] = properties.multi_processor_count
        found["triton"] = getattr(fused.triton, "__version__", None)
        numbers = torch.empty(1 << 30, device=args.device)
        other = torch.empty_like(numbers)
        ms = median_ms(args.device, lambda: other.copy_(numbers))
        found["copy TB/s"] = 8 * len(numbers) / ms / 1e9
    return found


def labels(args):
    """Labels against float64 in memory: after one sweep, and of whole fits."""
    n, d, k = min(args.rows, 200_000), args.features, args.clusters
    rows, truth, init = mixture(n, d, k, args.device)
    exact = rows.double().cpu().numpy()
    squared = ((exact**2).sum(axis=1)[:, None] - 2 * exact @ init.T) + (init**2).sum(axis=1)
    order = np.argsort(squared, axis=1)[:, :2]
    gap = np.diff(np.take_along_axis(squared, order, axis=1), axis=1)[:, 0]
    known = sample_constraints(truth, n // 100, random_state=0)
    model = ConstrainedKMeans(k, init=init, max_iter=N_ITER)
    memory = model.fit(exact, constraints=known)
    found = {"rows": n, "memory inertia": float(memory.inertia_), "n_iter": memory.n_iter_}
    expected, said = memory.labels_, memory.report_.kept
    for name in ways(rows, k):
        with way(name):
            source = blocks.open(rows)
            with open_rows(source.checked(), k) as near:
                near.sweep(init.astype(np.float32))
                wrong = near.labels != order[:, 0]
            model = ConstrainedKMeans(k, init=init.astype(np.float32), max_iter=N_ITER)
            model.fit(source, constraints=known)
            once = model.labels_.copy()
            model.fit(source, constraints=known)
            found[name] = {
                "one sweep: other labels": int(wrong.sum()),
                "one sweep: largest gap of these": float(gap[wrong].max(initial=0)),
                "one sweep: typical gap": float(np.median(gap)),
                "fit: other labels": int((model.labels_ != expected).sum()),
                "fit: other statements kept": int((model.report_.kept != said).sum()),
                "fit: inertia": float(model.inertia_),
                "fit: the same labels again": bool((model.labels_ == once).all()),
            }
    return found


def iterations(args):
    """The whole loop at full size, then its parts one by one, each waited for."""
    n, d, k = args.rows, args.features, args.clusters
    rows, truth, init = mixture(n, d, k, args.device)
    began = time.perf_counter()
    known = sample_constraints(truth, args.statements, random_state=0)
    found = {"rows": n, "features": d, "clusters": k, "statements": len(known)}
    found["drawing statements, s"] = time.perf_counter() - began
    init = init.astype(np.float32)
    for name in ways(rows, k):
        with way(name):
            here = found[name] = {}
            for what, said in (("with statements", known), ("without", None)):
                model = ConstrainedKMeans(k, init=init, max_iter=N_ITER, tol=0)
                model.fit(blocks.open(rows), constraints=said)  # kernels are compiled
                wait(args.device)
                began = time.perf_counter()
                model.fit(blocks.open(rows), constraints=said)
                wait(args.device)
                here[f"{what}: whole fit, s"] = time.perf_counter() - began
                here[f"{what}: iterations"] = model.n_iter_
            here.update(loop(args, rows, known, init))
            here.update(pieces(args, rows, known, init))
    source = blocks.open(rows)
    found["checking, ms"] = median_ms(args.device, lambda: source.checked(), 3)
    checked = source.checked()
    found["centring, ms"] = median_ms(args.device, lambda: checked.centered(), 3)
    return found


def loop(args, rows, known, init):
    """Milliseconds from one iteration's record to the next, as the estimator runs them."""
    data = blocks.open(rows).checked().centered()
    start = init - data.mean
    found = {}
    for what, said in (("with statements", known), ("without", None)):
        empty = (np.empty((0, 2), np.int32), np.empty(0, np.int8), None)
        pairs, sign, ranks = empty if said is None else _visits(said, None, data.shape[0])
        moments: list[float] = []

        def note(*_, moments=moments, **__):
            moments.append(time.perf_counter())

        with ConstrainedLloyd(data, pairs, sign, len(init)) as lloyd:
            for _ in range(2):
                moments.clear()
                lloyd.run(
                    ranks,
                    start,
                    max_iter=N_ITER,
                    on_round=note,
                )
        steps = 1e3 * np.diff(moments)
        found[f"{what}: iteration, ms"] = float(np.median(steps))
        found[f"{what}: slowest iteration, ms"] = float(steps.max())
    return found


def pieces(args, rows, known, init):
    """Each part of an iteration alone; in the loop placing runs beside the sweep."""
    device, data = args.device, blocks.open(rows).checked().centered()
    centers = init - data.mean
    pairs, sign, _ = _visits(known, None, data.shape[0])
    with ConstrainedLloyd(data, pairs, sign, len(init)) as lloyd:
        near, placed = lloyd._rows, lloyd._placed
        plan = plan_of(
            lloyd._pairs, lloyd._sign, np.arange(len(pairs), dtype=np.uint32), len(placed)
        )
        there, labels = near._there(centers), near._current_labels()
        near.sweep(centers)

        def place():
            place_pairs(near.nearest, near.second, near.nearest_distance, plan, placed)

        place()
        near.add(placed, centers)
        if near._is_fused:
            weight = near._weight_there, near._kind

            def free():
                fused.sweep(near._rows_there, labels, *weight, there)

        else:

            def free():
                near._sweep_free(there, labels)

        parts = {
            "linked rows ranked and brought here": lambda: near._rank(there, labels),
            "free rows labelled and added up": free,
            "linked rows placed (processor)": place,
            "sweep": lambda: near.sweep(centers),
            "linked rows added, sums brought here": lambda: near.add(placed, centers),
            "means (processor)": lambda: near.means(centers),
            "fingerprint": near.fingerprint,
            "statements counted (processor)": lambda: count_violated(
                lloyd._pairs, lloyd._sign, placed
            ),
            "inertia, once": lambda: near.inertia(centers),
        }
        found = {f"part: {name}, ms": median_ms(device, run) for name, run in parts.items()}
        found["linked rows"] = len(placed)
    return found


def tilings(args):
    """How the fused kernel is best cut."""
    rows, _, init = mixture(args.rows, args.features, args.clusters, args.device)
    if not fused.fits(rows, args.clusters):
        return "the kernel cannot be used here"
    centers = torch.tensor(init, dtype=torch.float32, device=args.device)
    labels = torch.zeros(len(rows), dtype=torch.int32, device=args.device)
    weight = torch.ones(len(rows), device=args.device)
    found = {}
    for tile, warps, stages, tiles in [
        (128, 8, 1, 32),
        (128, 8, 1, 64),
        (128, 8, 2, 32),
        (128, 8, 3, 32),
        (128, 4, 1, 32),
        (64, 4, 1, 64),
        (64, 4, 2, 64),
        (64, 8, 1, 64),
        (64, 8, 2, 64),
        (32, 4, 2, 128),
        (256, 8, 1, 16),
    ]:
        tiling = fused.Tiling(tile, warps, stages, tiles)
        with told(found, str(tuple(tiling))):
            found[str(tuple(tiling))] = median_ms(
                args.device,
                lambda tiling=tiling: fused.sweep(
                    rows, labels, weight, fused.PLACED, centers, tiling=tiling
                ),
            )
    return found


def sums(args):
    """Ways to add up rows by cluster with torch alone, and to find the nearest centre."""
    rows, truth, init = mixture(args.rows, args.features, args.clusters, args.device)
    labels, k = torch.tensor(truth, device=args.device), args.clusters
    centers = torch.tensor(init, dtype=torch.float32, device=args.device)
    found = {}

    def in_ranges(use, step):
        for start in range(0, len(rows), step):
            use(rows[start : start + step], labels[start : start + step])

    def adding():
        add = on_device.Adding(rows, k)
        in_ranges(lambda part, own: add(part, own, None), 1 << 20)

    copies = on_device.COPIES
    for number in (1, 4, 16, 32, 64, 128, 256):
        on_device.COPIES = max(number, 2) if args.device.type == "cuda" else 1
        with told(found, f"index_add, {on_device.COPIES} copies"):
            found[f"index_add, {on_device.COPIES} copies"] = median_ms(args.device, adding, 5)
    on_device.COPIES = copies

    def one_hot(part, own):
        hot = torch.zeros((len(part), k), device=part.device).scatter_(1, own[:, None], 1)
        return hot.T @ part

    def one_hot_thrice(part, own):
        hot = torch.zeros((len(part), k), device=part.device, dtype=torch.bfloat16)
        hot.scatter_(1, own[:, None], 1)
        first = part.bfloat16()
        rest = part - first
        second = rest.bfloat16()
        thrice = torch.cat([first, second, (rest - second).bfloat16()], dim=1)
        return torch.mm(hot.T, thrice, out_dtype=torch.float32)

    def scores(part, own):
        return on_device._scores(part, centers)

    def smallest(part, own):
        return scores(part, own).min(dim=1).indices

    def transposed(part, own):
        norms = (centers * centers).sum(dim=1)[:, None]
        return torch.addmm(norms, centers, part.T, alpha=-2).min(dim=0).indices

    for step in (1 << 17, 1 << 19, 1 << 21):
        for use in (one_hot, one_hot_thrice, scores, smallest, transposed):
            name = f"{use.__name__}, {step} rows at a time"
            with told(found, name):
                found[name] = median_ms(
                    args.device, lambda use=use, step=step: in_ranges(use, step), 5
                )
    return found


def shapes(args):
    """Other numbers of features and clusters, without statements."""
    found = {}
    for d, k in SHAPES:
        n = min(args.rows, 4_000_000)
        rows, _, init = mixture(n, d, k, args.device)
        data = blocks.open(rows).checked().centered()
        centers = init.astype(np.float32) - data.mean
        for name in ways(rows, k):
            with way(name), told(found, f"{d} × {k}, {name}"), open_rows(data, k) as near:
                found[f"{n:,} × {d}, k = {k}, {name}"] = median_ms(
                    args.device, lambda near=near, centers=centers: near.sweep(centers), 5
                )
    return found


def family(args):
    """Whole fits of the three estimators at 10^6 rows, beside the same in memory."""
    n, d, k = min(args.rows, 1_000_000), args.features, args.clusters
    rows, truth, init = mixture(n, d, k, args.device)
    init = init.astype(np.float32)
    here = rows.cpu().numpy()
    known = sample_constraints(truth, min(args.statements, n // 100), random_state=0)
    models = {
        "ConstrainedKMeans": ConstrainedKMeans(k, init=init, max_iter=10, tol=0),
        "COPKMeans": COPKMeans(k, init=init, max_iter=10, tol=0),
        "PCKMeans": PCKMeans(k, init=init, penalty=1.0, max_iter=10, tol=0),
    }
    found = {"rows": n, "statements": len(known)}
    for name, model in models.items():
        with told(found, name):
            seconds, answers = {}, {}
            for source in ("gpu", "memory"):
                for _ in range(2):
                    began = time.perf_counter()
                    X = blocks.open(rows) if source == "gpu" else here
                    model.fit(X, constraints=known)
                    seconds[source] = time.perf_counter() - began
                answers[source] = model.labels_.copy()
            other = int((answers["gpu"] != answers["memory"]).sum())
            found[name] = {**{f"{s}, s": t for s, t in seconds.items()}, "other labels": other}
    return found


SECTIONS = [machine, labels, iterations, tilings, sums, shapes, family]


@contextlib.contextmanager
def told(found, name):
    """Go on after an error, which is kept: a machine may be lent for minutes only."""
    try:
        yield
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        found[name] = (
            f"{type(error).__name__}: {str(error)[:300]} ({where.filename}:{where.lineno})"
        )


def show(section, found, depth=0):
    print(f"{'  ' * depth}{section}", flush=True)
    for name, value in found.items() if isinstance(found, dict) else [("", found)]:
        if isinstance(value, dict):
            show(name, value, depth + 1)
        else:
            shown = f"{value:.4g}" if isinstance(value, float) else value
            print(f"{'  ' * (depth + 1)}{name}: {shown}", flush=True)


def tables(report):
    case = report["iterations"]
    names = [name for name in WAYS if name in case]
    rows = [
        (
            {"fused": "one kernel", "torch": "torch alone"}[name],
            *(f"{case[name][f'{what}: iteration, ms']:.1f}" for what in WHETHER),
            f"{case[name]['with statements: whole fit, s']:.2f}",
        )
        for name in names
    ]  # fmt: skip
    print_table(("", "iteration, ms", "without statements, ms", "fit, s"), rows)
    print()
    keys = [key for key in case[names[0]] if key.startswith("part: ")]
    print_table(
        ("", *({"fused": "one kernel, ms", "torch": "torch alone, ms"}[name] for name in names)),
        [
            (key[6:].removesuffix(", ms"), *(f"{case[name][key]:.2f}" for name in names))
            for key in keys
        ],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json")
    parser.add_argument("--table")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--device", type=torch.device, default=torch.device("cuda"))
    parser.add_argument("--only", nargs="+", choices=[each.__name__ for each in SECTIONS])
    args = parser.parse_args()
    if args.table:
        with open(args.table) as file:
            tables(json.load(file))
        return
    report = {}
    for section in SECTIONS:
        if args.only and section.__name__ not in args.only:
            continue
        began = time.perf_counter()
        with told(report, section.__name__):
            report[section.__name__] = section(args)
        seconds = time.perf_counter() - began
        show(f"== {section.__name__} ({seconds:.0f} s)", report[section.__name__])
        if args.device.type == "cuda":
            torch.cuda.empty_cache()
        if args.json:
            with open(args.json, "w") as file:
                json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
