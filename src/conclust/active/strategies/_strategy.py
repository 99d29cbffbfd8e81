"""What every strategy is."""

import numpy as np
from sklearn.base import BaseEstimator

from conclust.active._question import Proposal
from conclust.active._state import State


class Strategy(BaseEstimator):
    """Which question next; holds parameters only.

    What it learns on the way goes into ``state.memory``, from where it may vanish: it must be able
    to find it again from the rest of the state. One that makes a clustering of its own has a method
    ``labels(state)``, which gives the labels of all rows.

    See Also
    --------
    Session : Asks what a strategy proposes.
    State : What a strategy sees.

    Examples
    --------
    >>> from conclust.active import Proposal, Session, Strategy
    >>> class InOrder(Strategy):
    ...     def propose(self, state, n, random_state):
    ...         pairs = [(i, i + 1) for i in range(state.n_samples - 1)]
    ...         return [Proposal(p, "next in line", 1.0) for p in pairs if state.is_open(*p)][:n]
    >>> session = Session([[0.0], [0.1], [5.0]], n_clusters=2, strategy=InOrder())
    >>> [question.samples for question in session.ask(2)]
    [(0, 1), (1, 2)]
    """

    def propose(self, state: State, n: int, random_state: np.random.RandomState) -> list[Proposal]:
        """Questions worth asking now, best first.

        Parameters
        ----------
        state : State
            Rows and answers so far; not to be changed.
        n : int
            How many questions at most.
        random_state : RandomState
            The only source of randomness, so that a session can be repeated.

        Returns
        -------
        list of Proposal
            Distinct, open (see :meth:`State.is_open`), neither asked nor held; fewer than n, or
            none, when there are no more.
        """
        raise NotImplementedError
