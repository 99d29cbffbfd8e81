"""What pages show of answers: listed, contradicting each other, and how far it is."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from conclust.exceptions import SessionError
from conclust.studio._book import Contradiction
from conclust.studio._people import agreement_of, error_rates_of, people_of
from conclust.studio._views import finite

if TYPE_CHECKING:
    from conclust.studio._project import Project

MAX_LISTED = 500


def answers(
    project: "Project", offset: int = 0, limit: int = 100, order: str = "time"
) -> dict[str, Any]:
    """The answers, the latest first, or those that seem wrong first."""
    if order not in ("time", "suspects"):
        raise SessionError(f"order={order!r:.40} is none of 'time', 'suspects'.")
    offset, limit = max(offset, 0), min(max(limit, 0), MAX_LISTED)
    with project.lock:
        doubted = suspects(project)
        listed = sorted(project.book.answers, reverse=True)
        if order == "suspects":
            marked = [n for n in project.book.contradicting if n not in project.book.kept]
            first = list(dict.fromkeys([*doubted, *marked]))
            chosen = set(first)
            listed = first + [n for n in listed if n not in chosen]
        page = listed[offset : offset + limit]
        return {
            "total": len(listed),
            "suspects": len(doubted),
            "answers": [_listed(project, n, n in doubted) for n in page],
        }


def suspects(project: "Project") -> list[int]:
    """Answers that seem wrong, the most doubtful first."""
    if project.clustering is None:
        return []
    return [n for n in project.clustering.suspects(project.book.kept) if n in project.book.answers]


def _listed(project: "Project", number: int, is_suspect: bool) -> dict[str, Any]:
    answer = project.book.answers[number]
    doubt = None if project.clustering is None else project.clustering.doubt.get(number)
    return {
        **_told(project, number),
        "samples": list(answer.samples),
        "seconds": answer.seconds,
        "weight": answer.weight,
        "doubt": None if doubt is None else round(doubt, 4),
        "suspect": is_suspect,
        "conflict": number in project.book.contradicting,
        "kept": number in project.book.kept,
        "from": answer.origin,
    }


def _told(project: "Project", number: int) -> dict[str, Any]:
    answer = project.book.answers[number]
    said = answer.answer
    if answer.kind == "piles" and isinstance(said, list):
        piles: dict[int, list[int]] = {}
        for row, pile in zip(answer.samples, said, strict=True):
            piles.setdefault(pile, []).append(row)
        said = list(piles.values())
    return {
        "number": number,
        "kind": answer.kind,
        "names": [project.data.row_name(row) for row in answer.samples],
        "answer": said,
        "by": answer.by,
        "when": answer.when,
    }


def conflicts(project: "Project") -> list[dict[str, Any]]:
    """Answers that cannot all hold."""
    with project.lock:
        found = [
            _conflict(project, each) for each in islice(project.book.contradictions(), MAX_LISTED)
        ]
        among = {p["number"] for each in found for p in each["path"]}
        among |= {each["new"] for each in found}
        for sentence, numbers in project.clustering.conflicts if project.clustering else ():
            stands = all(n in project.book.answers for n in numbers)
            if stands and not among.issuperset(numbers):
                found.append(_other_conflict(project, sentence, numbers))
        return found


def conflict_with(project: "Project", numbers: Iterable[int]) -> dict[str, Any] | None:
    """What one of these answers contradicts; the pages of others hear of it too."""
    new = set(numbers)
    if not new & project.book.contradicting.keys():
        return None
    found = (each for each in project.book.contradictions() if each.number in new)
    conflict = next((_conflict(project, each) for each in found), None)
    if conflict is not None:
        project.tell_listeners("conflict", conflict)
    return conflict


def _conflict(project: "Project", found: Contradiction) -> dict[str, Any]:
    a, b, sign = found.pair
    names = f"{project.data.row_name(a)!r} and {project.data.row_name(b)!r}"
    here, there = ("together", "apart") if sign > 0 else ("apart", "together")
    n = len(found.path)
    others = f"{n} other answers" if n > 1 else "another answer"
    options = [{"label": f"Take back answer {found.number}", "retract": [found.number]}]
    options += [
        {"label": f"Take back {_in_words(project, number)}", "retract": [number]}
        for number in found.path
    ]
    return {
        "sentence": f"{names} are {here} by answer {found.number}, but {there} by {others}.",
        "path": [_told(project, number) for number in found.path],
        "options": options,
        "new": found.number,
    }


def _other_conflict(project: "Project", sentence: str, numbers: list[int]) -> dict[str, Any]:
    return {
        "sentence": sentence,
        "path": [_told(project, number) for number in numbers],
        "options": [
            {"label": f"Take back {_in_words(project, number)}", "retract": [number]}
            for number in numbers
        ],
        "new": max(numbers),
    }


def _in_words(project: "Project", number: int) -> str:
    answer = project.book.answers[number]
    names = ", ".join(project.data.row_name(row) for row in answer.samples[:3])
    return f"answer {number} ({names}: {answer.answer}, {answer.by or 'nobody'})"[:200]


def progress(project: "Project") -> dict[str, Any]:
    """How far it is."""
    with project.lock:
        now, answers = project.clustering, project.book.answers.values()
        share, sentence = (None, "Nothing was answered yet.") if now is None else now.expected
        doubt = {} if now is None else now.doubt
        stability = [] if now is None else now.stability
        said = sum(a.says_something for a in answers)
        return {
            "asked": len(project.book.closed),
            "answered": said,
            "unsure": len(answers) - said,
            "kept_share": None if now is None else now.kept_share,
            "stability": [{"n": n, "share": s} for n, s in stability],
            "expected_change": {"share": finite(share), "sentence": sentence},
            "flip_rate": error_rates_of(project.book, doubt),
            "people": people_of(project.book, doubt),
            "agreement": agreement_of(project.book),
            "suspects": len(suspects(project)),
            "conflicts": len(project.book.contradicting),
            "busy": project.background.stage,
            "trouble": project.background.trouble,
        }
