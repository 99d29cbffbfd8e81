"""``conclust ask``: which rows belong together? Asked at the terminal, kept in a file."""

import shlex
from pathlib import Path
from typing import Any

import click

from conclust.cli._errors import BadInput, about
from conclust.cli._options import (
    PATH,
    ClusterCount,
    TableOptions,
    common_options,
    say,
    seed_option,
    show_json,
    table_options,
    working,
)

# In larger tables clustering three times, to say what more answers would change, takes too long.
MAX_ROWS_JUDGED, MIN_JUDGED = 5_000, 10
ALWAYS = "u: unsure, undo: the last answer, q: enough"
KEYS = {
    "pair": f"y: together, n: apart, {ALWAYS}",
    "triple": f"1, 2, 3: the odd one out, s: all the same, d: all different, {ALWAYS}",
    "piles": f"a letter for each row, those of a pile the same, such as aab; {ALWAYS}",
}
# The names that the package has, as a test checks: help and completion load no class.
STRATEGIES = (
    "auto",
    "random",
    "explore",
    "minmax",
    "npu",
    "cobras",
    "boundary",
    "disagreement",
    "relative",
    "piles",
)
UNDO, ENOUGH = ("undo", "z"), ("q", "quit", "enough")


@click.command("ask")
@click.argument("data", type=PATH)
@click.option(
    "--constraints",
    "links",
    type=PATH,
    required=True,
    help="Where answers are kept: CSV, TSV, JSON or JSONL; added to when it is there.",
)
@click.option("--budget", type=click.IntRange(min=1), help="How many questions at most.")
@click.option("-k", "--n-clusters", type=ClusterCount(), default="auto", help="If it is known.")
@click.option(
    "--strategy",
    type=click.Choice(STRATEGIES),
    default="auto",
    help="Which question next; piles: ten rows to sort at once.",
)
@click.option("--by", help="Your name, kept beside the answers.")
@table_options
@seed_option
@common_options
def command(
    data: Path,
    links: Path,
    budget: int | None,
    n_clusters: int | str,
    strategy: str,
    by: str | None,
    options: TableOptions,
    seed: int,
    as_json: bool,
) -> None:
    r"""Answer which rows of DATA belong together; the most useful questions are asked first.

    Each answer is in the file before the next question is asked: stop whenever you like, and go on
    with the same command.

    \b
    conclust ask table.csv --constraints links.csv --id-col key
    conclust ask table.csv --constraints links.csv --id-col key -k 6 --budget 50
    conclust ask texts.csv --constraints links.csv --id-col key --strategy piles
    """
    session = _session(data, links, n_clusters, strategy, options, seed)
    found = _Dialogue(session, links, by, as_json).run(budget)
    if as_json:
        show_json(found)
    else:
        _print(found, ["conclust", "cluster", str(data), *options.words], links, session)


def _session(
    data: Path,
    links: Path,
    n_clusters: int | str,
    strategy: str,
    options: TableOptions,
    seed: int,
) -> Any:
    from conclust.active import Session
    from conclust.cli._job import check_n_clusters, read_job

    if not links.parent.is_dir():
        raise BadInput(f"{links.parent}: no such folder.")
    job = read_job(data, links if links.exists() else None, options)
    if not isinstance(n_clusters, str):
        check_n_clusters(n_clusters, len(job.table))
    constraints = job.constraints
    if constraints.ids is None and job.table.ids is not None:
        constraints = _named(job.table.ids)
    _refuse_formulas(links, job.table.ids)
    constraints.write(links)  # says now, not after the first answer, that it cannot be written
    with about(data.name):
        session = Session(
            job.X,
            None if isinstance(n_clusters, str) else n_clusters,
            strategy=strategy,
            constraints=constraints,
            content=job.X if job.table.frame is None else job.table.frame,
            random_state=seed,
        )
    for note in job.notes:
        click.echo(f"- {note}", err=True)
    return session


def _named(ids: list[str]) -> Any:
    """No statements yet, about rows with names."""
    import pandas as pd

    from conclust import Constraints

    return Constraints.from_frame(pd.DataFrame({"a": [], "b": [], "type": []}), ids=ids)


def _refuse_formulas(links: Path, ids: list[str] | None) -> None:
    from conclust._files import is_formula

    risky = [name for name in ids or () if is_formula(name)]
    if risky and links.suffix.lower() in (".csv", ".tsv"):
        raise BadInput(
            f"The id {risky[0][:60]!r} would be run as a formula by a spreadsheet; keep answers in "
            f"a JSON file instead: --constraints {links.with_suffix('.json')}"
        )


class _Dialogue:
    """Questions and answers, one after the other."""

    def __init__(self, session: Any, links: Path, by: str | None, to_stderr: bool):
        self.session, self.links, self.by = session, links, by
        self.to_stderr = to_stderr
        self.kind: str | None = None  # of the last question
        self.waiting: list[Any] = []  # questions to be asked once more, the last one first

    def say(self, text: str, *, nl: bool = True) -> None:
        click.echo(text, nl=nl, err=self.to_stderr)

    def run(self, budget: int | None) -> dict[str, Any]:
        """Ask until it is enough, or nothing is left to ask."""
        from collections import Counter

        ended = "enough"
        while (question := self._next(budget)) is not None:
            typed = self._typed(question)
            if typed in ENOUGH:
                break
            if typed in UNDO:
                self._undo(question)
            else:
                self._tell(question, typed)
        else:
            ended = "budget" if len(self.session) == budget else "nothing left to ask"
        history = self.session.history_
        answers = Counter(map(_word, history["kind"], history["answer"]))
        return {"ended": ended, "n_answers": len(self.session), "answers": dict(answers)}

    def _next(self, budget: int | None) -> Any:
        if len(self.session) == budget:
            return None
        if self.waiting:
            return self.waiting.pop()
        with working("Looking for the next question …"):
            return next(iter(self.session.ask(by=self.by)), None)

    def _typed(self, question: Any) -> str:
        from conclust.active.terminal import ASKED, shown

        if question.kind != self.kind:
            self.say(KEYS[question.kind])
            self.kind = question.kind
        self.say(f"\n{shown(question)}\n({question.why})")
        self.say(f"{len(self.session) + 1}. {ASKED[question.kind]} ", nl=False)
        try:
            return input().strip().lower()
        except EOFError:
            self.say("")
            return ENOUGH[0]

    def _tell(self, question: Any, typed: str) -> None:
        from conclust.active.terminal import typed_answer
        from conclust.exceptions import SessionError

        try:
            answer = typed_answer(question, typed)
        except SessionError as error:
            self.say(str(error))
            self.waiting.append(question)
        else:
            self.session.tell(question, answer, by=self.by)
            self._write()

    def _undo(self, question: Any) -> None:
        """Take back the last answer, to ask that first and then this."""
        self.waiting.append(question)
        if not len(self.session):
            self.say("There is no answer of this run to take back.")
            return
        told = self.session.undo().question
        self._write()
        self.waiting.append(self.session.pose(told.samples, told.kind, by=self.by, why=told.why))

    def _write(self) -> None:
        self.session.constraints_.write(self.links)


def _word(kind: str, answer: Any) -> str:
    """What answers are counted by: words, and the kind of question where they are rows or piles."""
    return answer if isinstance(answer, str) else kind


def _print(found: dict[str, Any], cluster: list[str], links: Path, session: Any) -> None:
    counts = ", ".join(f"{n} {answer}" for answer, n in found["answers"].items()) or "none"
    n_answers = found["n_answers"]
    say(f"\n{n_answers} answer{'' if n_answers == 1 else 's'} ({counts}), kept in {links}.")
    if found["ended"] == "nothing left to ask":
        say("Nothing is left to ask.")
    if session.conflicts():
        say(f"Some contradict each other; `conclust check --constraints {links}` says which.")
    if n_answers >= MIN_JUDGED and session.n_rows <= MAX_ROWS_JUDGED:
        with working("Clustering with and without the last answers …"):
            say(str(session.expected_change_))
    say(f"Next: {shlex.join([*cluster, '--constraints', str(links)])}")
