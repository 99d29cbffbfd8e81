"""A person at the terminal: what a question looks like, and what was typed."""

import itertools
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from conclust.active._answers import CANNOT_LINK, MUST_LINK, UNSURE, checked
from conclust.active._question import Question
from conclust.active.oracles import Enough
from conclust.exceptions import SessionError

WIDTH = 38  # characters of one value
LIST_WIDTH = 100  # of a line, where rows are listed
MAX_FIELDS = 40  # shown; those that differ first
DIFFERS, EQUAL = "≠", " "

ASKED = {
    "pair": "Do these two belong together?",
    "triple": "Which of these three is the odd one out?",
    "piles": "Which of these belong together?",
}

PROMPTS = {
    "pair": "[y / n / u / q]",
    "triple": "[1 / 2 / 3 / s(ame) / d(ifferent) / u / q]",
    "piles": "[a letter for each row, such as aab / u / q]",
}
OF_ALL = {"s": MUST_LINK, "same": MUST_LINK, "d": CANNOT_LINK, "different": CANNOT_LINK}
WORDS = {"y": MUST_LINK, "yes": MUST_LINK, "n": CANNOT_LINK, "no": CANNOT_LINK}
ENOUGH = ("q", "quit", "enough")


class Terminal:
    r"""Asks the person at the terminal: y, n, u(nsure), q (enough).

    See Also
    --------
    ask : Puts its questions to any oracle.

    Examples
    --------
    >>> import io, sys
    >>> from conclust.active import Terminal, ask
    >>> typed, sys.stdin = sys.stdin, io.StringIO("n\nq\n")  # what a person would type
    >>> session = ask([[0.0], [0.1], [5.0]], Terminal(), 1, 2, "random", random_state=0)
    <BLANKLINE>
    ...
    Do these two belong together? [y / n / u / q]
    >>> sys.stdin = typed
    >>> session.constraints_
    Constraints(1 cannot-link; 3 samples)
    """

    def __call__(self, questions: list[Question]) -> list[Any]:
        answers: list[Any] = []
        for question in questions:
            print(f"\n{shown(question)}\n{question.why}")
            answer = self._asked(question)
            if answer is None:
                raise Enough(answers)
            answers.append(answer)
        return answers

    def _asked(self, question: Question) -> Any:
        prompt = f"{ASKED[question.kind]} {PROMPTS[question.kind]} "
        while True:
            try:
                return typed_answer(question, input(prompt))
            except EOFError:
                return None
            except SessionError as error:
                print(error)


def typed_answer(question: Question, typed: str) -> Any:
    """What a person typed as an answer; None: enough."""
    word = typed.strip().lower()
    if word in ENOUGH:
        return None
    if word in ("u", "unsure"):
        return UNSURE
    if question.kind == "pair":
        if word not in WORDS:
            raise SessionError(f"{typed.strip()[:20]!r}: type y, n, u (unsure) or q (enough).")
        return WORDS[word]
    if question.kind == "triple":
        if word in OF_ALL:
            return OF_ALL[word]
        if word not in ("1", "2", "3"):
            raise SessionError(
                "Type 1, 2 or 3, s (all the same), d (all different), u (unsure) or q (enough)."
            )
        return question.samples[int(word) - 1]
    return checked(question, list(word.replace(" ", "")))


def shown(question: Question) -> str:
    """The rows of a question, a column each, values that differ marked; of piles a list."""
    fields = list(_fields(question.rows))
    fields.sort(key=lambda field: not _differ(field[1]))  # stable: else in the order of the table
    if question.kind == "piles":
        return _listed(_texts(question.names), fields[:MAX_FIELDS])
    lines = [("", " ", _texts(question.names))]
    for name, values in fields[:MAX_FIELDS]:
        lines.append((name, DIFFERS if _differ(values) else EQUAL, values))
    text = "\n".join(_laid_out(lines))
    n_more = len(fields) - MAX_FIELDS
    return f"{text}\n… and {n_more} more columns" if n_more > 0 else text


def _listed(names: list[str], fields: list[tuple[str, list[str]]]) -> str:
    """One row below the other, numbered: ten columns are wider than a terminal."""
    lines = []
    for i, name in enumerate(names):
        values = (f"{field}: {each[i]}" if field else each[i] for field, each in fields)
        head = f"{i + 1:2} {name}   "
        lines += textwrap.wrap(
            head + ", ".join(values), LIST_WIDTH, subsequent_indent=" " * min(len(head), WIDTH)
        )
    return "\n".join(lines)


def _differ(values: list[str]) -> bool:
    return len(set(values)) > 1


def _fields(rows: Any) -> Iterator[tuple[str, list[str]]]:
    """Names of the columns and the value of each row in them."""
    if sp.issparse(rows):
        used = np.unique(rows.tocoo().col)
        dense = rows[:, used].toarray()
        yield from ((f"x{c}", _texts(dense[:, i])) for i, c in enumerate(used))
    elif hasattr(rows, "columns"):
        yield from ((str(name), _texts(rows[name])) for name in rows.columns)
    elif isinstance(rows, np.ndarray) and rows.ndim == 2:
        yield from ((f"x{c}", _texts(rows[:, c])) for c in range(rows.shape[1]))
    else:
        yield "", _texts(rows)


def _texts(values: Any) -> list[str]:
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    # Control characters of a table must not reach the terminal.
    return "".join(c if c.isprintable() else " " for c in str(value))


def _laid_out(lines: list[tuple[str, str, list[str]]]) -> Iterator[str]:
    heads = [f"{mark} {name[:WIDTH]}" for name, mark, _ in lines]
    columns = [[textwrap.wrap(v, WIDTH) or [""] for v in values] for _, _, values in lines]
    widths = [max(map(len, itertools.chain(*column))) for column in zip(*columns, strict=True)]
    head_width = max(map(len, heads))
    for head, cells in zip(heads, columns, strict=True):
        for i, parts in enumerate(itertools.zip_longest(*cells, fillvalue="")):
            row = "   ".join(part.ljust(w) for part, w in zip(parts, widths, strict=True))
            yield f"{'' if i else head:{head_width}}   {row}".rstrip()
