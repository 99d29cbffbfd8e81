"""How reliable people are, and how far they agree."""

from statistics import mean, median
from typing import Any

from conclust.studio._book import Book


def people_of(book: Book, doubt: dict[int, float]) -> list[dict[str, Any]]:
    """For each person: answers, the usual time, estimated errors, and contradictions.

    The share of wrong answers is the mean probability, by the clustering, that an answer of theirs
    is wrong; None where no answer of the kind was judged yet.
    """
    disagreed = _disagreements(book)
    found = []
    for person in book.people:
        theirs = [a for a in book.answers.values() if a.by == person and a.origin != "file"]
        times = [a.seconds for a in theirs if a.seconds is not None]
        found.append(
            {
                "name": person,
                "answers": len(theirs),
                "seconds_median": round(median(times), 2) if times else None,
                "error_must": _error(theirs, doubt, 1),
                "error_cannot": _error(theirs, doubt, -1),
                "disagreements": sum(a.number in disagreed for a in theirs),
            }
        )
    return found


def error_rates_of(book: Book, doubt: dict[int, float]) -> dict[str, float | None]:
    """The same estimate over the answers of all, by what they say."""
    answers = list(book.answers.values())
    return {"must": _error(answers, doubt, 1), "cannot": _error(answers, doubt, -1)}


def agreement_of(book: Book) -> dict[str, Any]:
    """How often two people who were asked about the same pair said the same."""
    counts = [_agreed(said) for said in _by_pair(book).values()]
    n_pairs = sum(n for n, _ in counts)
    share = sum(same for _, same in counts) / n_pairs if n_pairs else None
    return {"pairs": n_pairs, "share": share}


def _error(answers: Any, doubt: dict[int, float], sign: int) -> float | None:
    judged = [
        doubt[a.number]
        for a in answers
        if a.number in doubt and a.kind == "pair" and a.pairs and a.pairs[0][2] == sign
    ]
    return round(mean(judged), 4) if judged else None


def _by_pair(book: Book) -> dict[tuple[int, int], list[tuple[str, int, int]]]:
    """Who said what about each pair: name, sign, number of the answer."""
    said: dict[tuple[int, int], list[tuple[str, int, int]]] = {}
    for answer in book.answers.values():
        if answer.by and answer.kind == "pair":
            for a, b, sign in answer.pairs:
                said.setdefault((min(a, b), max(a, b)), []).append((answer.by, sign, answer.number))
    return said


def _agreed(said: list[tuple[str, int, int]]) -> tuple[int, int]:
    """Of the last words of different people: how many pairs of people, and how many agree."""
    last = list({who: sign for who, sign, _ in said}.values())
    n, plus = len(last), last.count(1)
    same = plus * (plus - 1) // 2 + (n - plus) * (n - plus - 1) // 2
    return n * (n - 1) // 2, same


def _disagreements(book: Book) -> set[int]:
    """Answers that contradict what follows from others, or another's word about the same pair."""
    found = set(book.contradicting)
    for said in _by_pair(book).values():
        if len({sign for _, sign, _ in said}) > 1:
            found |= {number for _, _, number in said}
    return found
