"""Two threads: one looks for questions, the other clusters. Requests wait for neither."""

import logging
import threading
import time
from typing import TYPE_CHECKING

from conclust.studio._checks import KINDS

if TYPE_CHECKING:
    from conclust.studio._project import Project

REST = 0.5  # seconds between two fits, at least
AFTER_TROUBLE = 5.0  # seconds until what failed is tried again

log = logging.getLogger("conclust.studio")


class Background:
    """What is computed while people answer.

    Attributes
    ----------
    stage : str or None
        What takes time just now.
    trouble : str or None
        What failed, in a sentence.
    """

    def __init__(self, project: "Project"):
        self.project = project
        self.stage: str | None = None
        self.trouble: str | None = None
        self._threads: list[threading.Thread] = []
        self._exhausted_at = -1  # the event after which there was nothing left to ask

    def start(self) -> None:
        """Begin to look for questions and to cluster."""
        for work in (self._look_for_questions, self._keep_clustering):
            thread = threading.Thread(target=work, name=work.__name__, daemon=True)
            thread.start()
            self._threads.append(thread)

    def join(self, wait: bool) -> bool:
        """Whether nothing is being computed any more; wait until then, or hardly."""
        for thread in self._threads:
            thread.join(timeout=None if wait else 0.2)
        return not any(thread.is_alive() for thread in self._threads)

    # ------------------------------------------------------------------ questions

    def _look_for_questions(self) -> None:
        project, seen = self.project, -1
        while True:
            with project.changed:
                while not (project.is_stopped or self._wanted() or project.book.n_events != seen):
                    project.changed.wait(timeout=1.0)
                if project.is_stopped:
                    return
                answers, n_clusters = dict(project.book.answers), project.n_clusters
                seen, wanted = project.book.n_events, self._wanted()
            try:
                project.finder.follow(answers, n_clusters)
                if wanted:
                    self._find(wanted)
            except Exception as error:
                self._note_trouble("Looking for questions failed", error)

    def _wanted(self) -> dict[str, int]:
        """How many questions of each kind should be found."""
        if self.project.book.n_events == self._exhausted_at:
            return {}
        return {kind: n for kind in KINDS if (n := self.project.desk.n_wanted(kind))}

    def _find(self, wanted: dict[str, int]) -> None:
        project = self.project
        pairs = project.finder.find(sum(wanted.values()))
        with project.changed:
            self._exhausted_at = -1 if pairs else project.book.n_events
            ready = project.desk.ready_rows()
            fresh = [pair for pair in pairs if frozenset(pair.samples) not in ready]
            for kind, n in wanted.items():
                mine, fresh = fresh[:n], fresh[n:]
                made = mine if kind == "pair" else [project.around(q, kind) for q in mine]
                project.desk.put([question for question in made if question is not None])
        if pairs:
            project.tell_listeners("question")

    # ------------------------------------------------------------------ clusters

    def _keep_clustering(self) -> None:
        project = self.project
        while True:
            with project.changed:
                while not (project.is_stopped or project.is_stale):
                    project.changed.wait(timeout=1.0)
                if project.is_stopped:
                    return
            began = time.monotonic()
            self._show("clustering")
            try:
                project.recluster()
                self.trouble = None
            except Exception as error:
                self._note_trouble("Clustering failed", error)
            self._show(None)
            # Rests as long as it worked, so that half of the time is for others.
            self._rest(max(REST, time.monotonic() - began))

    def _show(self, stage: str | None) -> None:
        self.stage = stage
        self.project.tell_listeners("busy", {"stage": stage})

    # ------------------------------------------------------------------ both

    def _rest(self, seconds: float) -> None:
        until, changed = time.monotonic() + seconds, self.project.changed
        with changed:
            while not self.project.is_stopped and (left := until - time.monotonic()) > 0:
                changed.wait(timeout=left)

    def _note_trouble(self, what: str, error: Exception) -> None:
        sentence = f"{what}: {str(error).splitlines()[0] if str(error) else repr(error)}"
        if sentence != self.trouble:  # it is tried again and again
            log.warning(sentence, exc_info=not isinstance(error, ValueError))
        self.trouble = sentence
        self.project.tell_listeners("progress")
        self._rest(AFTER_TROUBLE)
