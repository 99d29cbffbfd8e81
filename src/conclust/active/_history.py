"""Answers as tables: one row each, or one row for each statement they make."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from conclust.active._answers import NO_ANSWER, Said, Told, statements
from conclust.constraints import Constraints

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["number", "question", "kind", "samples", "names", "answer", "weight"]
COLUMNS += ["by", "when", "seconds", "why", "worth"]


def history_of(answers: Iterable[Told]) -> "pd.DataFrame":
    """One row for each answer."""
    import pandas as pd

    return pd.DataFrame([_history_row(told) for told in answers], columns=COLUMNS)


def _history_row(told: Told) -> tuple[Any, ...]:
    asked = told.question
    about = (asked.id, asked.kind, asked.samples, asked.names)
    said = (told.answer, told.weight, told.by, told.when, told.seconds)
    return (told.number, *about, *said, asked.why, asked.worth)


def constraints_of(answers: Iterable[Told], names: Any, n_rows: int) -> Constraints:
    """All answers as statements, who told them and when beside them."""
    import pandas as pd

    rows = [row for told in answers for row in _statement_rows(told, names)]
    if not rows:
        return Constraints(n_samples=n_rows)
    frame = pd.DataFrame(rows, dtype=object).dropna(axis=1, how="all")
    return Constraints.from_frame(frame, ids=names).on(n_rows)


def _statement_rows(told: Told, names: Any) -> list[dict[str, Any]]:
    """An answer as rows of a file of constraints."""
    more = {"weight": told.weight, "who": told.by, "when": told.when}

    def row(kind: str, samples: Sequence[int]) -> dict[str, Any]:
        named = samples if names is None else [names[s] for s in samples]
        return {**dict(zip("abc", named, strict=False)), "type": kind, **more}

    if isinstance(told.answer, str) and told.answer in NO_ANSWER:
        # A line has room for three rows; of more, nothing is said rather than something else.
        return [row(told.answer, told.question.samples)] if len(told.question.samples) <= 3 else []
    said = statements(told.question, told.answer)
    return [
        row(kind.replace("_", "-"), samples)
        for kind in Said._fields
        for samples in getattr(said, kind)
    ]
