"""Where a fit of several starts stands, so that another process can go on from there."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

Arrays = Mapping[str, np.ndarray]


class Memory(Protocol):
    """Arrays by name, kept somewhere that outlives the process."""

    def found(self, name: str) -> Arrays | None:
        """What was left under this name, if anything."""

    def leave(self, name: str, arrays: Arrays, *, now: bool) -> None:
        """Keep these instead; `now`: at once, else when it is time to."""


_memory: ContextVar[Memory | None] = ContextVar("memory", default=None)


@contextlib.contextmanager
def remembering(memory: Memory) -> Iterator[None]:
    """Around the fit of one `ConstrainedKMeans`: it leaves there where it stands, and goes on."""
    token = _memory.set(memory)
    try:
        yield
    finally:
        _memory.reset(token)


@dataclass
class Standing:
    """A run between two iterations: all that the next one needs.

    Labels are not among it: assigned to `before` once more, the rows have the same.
    """

    centers: np.ndarray
    before: np.ndarray | None = None  # the centres of the last assignment
    history: list[Any] = field(default_factory=list)
    seen: list[int] = field(default_factory=list)  # fingerprints of labels met
    unchanged: bool = False  # no label changed in the last iteration
    converged: bool = False
    cycles: bool = False  # labels came back
    drawn: np.ndarray | None = None  # the generator before the last order was drawn


class Bookmark:
    """Number of the start, the best run before it, and where the run stands.

    Parameters
    ----------
    random_state : RandomState
        From which starts draw; put back to where it was.
    run, record : type
        Of a run, and of the records of its history: NamedTuples. A run has labels, centers,
        inertia, n_iter, converged and history.

    Notes
    -----
    Outside of `remembering` all this does nothing. The labels of the best run are written when
    there is a new one, the rest, some k × d numbers, after iterations.
    """

    def __init__(
        self,
        random_state: np.random.RandomState,
        run: Callable[..., Any],
        record: Callable[..., Any],
    ):
        self._random_state, self._run, self._record = random_state, run, record
        self._memory = _memory.get()
        self._place = None if self._memory is None else self._memory.found("place")
        self.number = 0 if self._place is None else int(self._place["number"])

    def best(self) -> Any:
        """The best run before this start; None where there is none."""
        found = None if self._memory is None else self._memory.found("best")
        if found is None:
            return None
        return self._run(
            found["labels"],
            found["centers"],
            float(found["inertia"]),
            len(found["history"]),
            bool(found["converged"]),
            self._records(found["history"]),
        )

    def keep(self, best: Any) -> None:
        """Leave a new best run."""
        if self._memory is not None:
            found = {
                "labels": best.labels,
                "centers": best.centers,
                "inertia": np.array(best.inertia),
                "converged": np.array(best.converged),
                "history": _table(best.history),
            }
            self._memory.leave("best", found, now=True)

    def begin(self, number: int) -> Standing | None:
        """Note that a start begins; return where it stands if it is the one left off."""
        self.number = number
        if self._memory is None:
            return None
        if self._place is None:
            self._began = state_of(self._random_state)
            self._memory.leave("place", self._here(), now=True)
            return None
        place, self._place = self._place, None
        self._began = place["began"]
        set_state(self._random_state, self._began)
        return self._standing(place) if "centers" in place else None

    @property
    def note(self) -> Callable[[Standing], None] | None:
        """The function that leaves where the run stands after an iteration, if one is to be."""
        memory = self._memory
        if memory is None:
            return None
        return lambda standing: memory.leave(
            "place", self._here() | _arrays_of(standing), now=False
        )

    def _here(self) -> dict[str, np.ndarray]:
        return {"number": np.array(self.number), "began": self._began}

    def _records(self, table: np.ndarray) -> list[Any]:
        kinds = self._record.__annotations__.values()
        return [
            self._record(*(kind(x) for kind, x in zip(kinds, row, strict=True)))
            for row in table.tolist()
        ]

    def _standing(self, place: Arrays) -> Standing:
        unchanged, converged, cycles = place["flags"].tolist()
        return Standing(
            place["centers"],
            place["before"],
            self._records(place["history"]),
            place["seen"].tolist(),
            unchanged,
            converged,
            cycles,
            place["drawn"] if len(place["drawn"]) else None,
        )


def state_of(generator: np.random.RandomState) -> np.ndarray:
    """The state of a generator as one array; every number in it is exact in double precision."""
    _, key, *more = generator.get_state()
    return np.append(np.asarray(key, dtype=np.float64), more)


def set_state(generator: np.random.RandomState, state: np.ndarray) -> None:
    """Put a generator back to where it was."""
    *key, position, has_gauss, gauss = state
    words = np.array(key).astype(np.uint32)
    generator.set_state(("MT19937", words, int(position), int(has_gauss), float(gauss)))


def _arrays_of(standing: Standing) -> dict[str, np.ndarray]:
    assert standing.before is not None
    return {
        "centers": standing.centers,
        "before": standing.before,
        "history": _table(standing.history),
        "seen": np.array(standing.seen, dtype=np.uint64),
        "flags": np.array([standing.unchanged, standing.converged, standing.cycles]),
        "drawn": np.empty(0) if standing.drawn is None else standing.drawn,
    }


def _table(history: list[Any]) -> np.ndarray:
    return np.array([tuple(record) for record in history], dtype=np.float64)
