"""Which statements to doubt: soft clusterings that are told a part of them judge them all."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from conclust._arrays import Matrix
from conclust._lloyd.start import Centered
from conclust._pairs import violated
from conclust._placement.links import link_rows
from conclust._sklearn import scaled_tolerance
from conclust._statements import by_statement
from conclust.cluster import pckmeans, price_by_regret
from conclust.constraints import Constraints
from conclust.ensemble._members import CodesMixin, Member

# Judges hear this share of the statements; on the others they are impartial.
SHARE = 0.75
# Thirty judges do not find more wrong statements than ten, nor thirty iterations more than six.
N_JUDGES = 10
MAX_ITER = 6
TOL = 1e-4


def draw_heard(
    n_judges: int, n_statements: int, share: float, random_state: np.random.RandomState
) -> npt.NDArray[np.bool_]:
    """Which statements each judge is told, (n_judges, n_statements).

    Drawn one by one, not in units that imply each other: what follows from the statements a judge
    was told is evidence about the others, and doubt is what is asked for.
    """
    return random_state.uniform(size=(n_judges, n_statements)) < share


@dataclass(frozen=True, eq=False)
class Judges:
    """What is needed to doubt statements after a fit: the rows they name, and where to start.

    A judge clusters those rows softly (`pckmeans`), at a price at which the median row gives way to
    two statements but not to one, from the centres of a member of the ensemble.
    """

    X: Matrix  # (n_named, n_features), the rows that statements name
    weight: np.ndarray  # (n_named,)
    pairs: np.ndarray  # (n_pairs, 2) positions among them
    sign: np.ndarray  # (n_pairs,)
    price: np.ndarray  # (n_pairs,) weights of the statements
    statement: np.ndarray  # (n_pairs,) the statement each pair comes from
    n_statements: int
    starts: list[np.ndarray]  # centres, (n_clusters, n_features)
    seed: int
    spherical: bool = False

    @classmethod
    def of(
        cls,
        data: Centered,
        constraints: Constraints,
        members: list[Member],
        sample_weight: np.ndarray | None,
        seed: int,
    ) -> "Judges":
        """Take what is needed from the data of a fit and its last members."""
        given = constraints.pairs()
        named, pairs = given.named()
        return cls(
            X=data.X[named],
            weight=np.ones(len(named), data.X.dtype)
            if sample_weight is None
            else sample_weight[named],
            pairs=pairs,
            sign=given.sign,
            price=given.weight,
            statement=given.statement,
            n_statements=len(constraints),
            starts=[member.centers - data.mean for member in members[-N_JUDGES:]],
            seed=seed,
            spherical=data.spherical,
        )

    @cached_property
    def doubt(self) -> np.ndarray:
        """Share of judges that break each statement, (n_statements,); 0 for relative ones."""
        broken = np.zeros(len(self.pairs))
        if not len(broken) or len(self.starts[0]) == 1:
            return np.zeros(self.n_statements)
        rng = np.random.RandomState(self.seed)
        price = price_by_regret(self.X, self.starts[-1], self.weight, spherical=self.spherical)
        tol = scaled_tolerance(self.X, TOL)
        for heard in draw_heard(N_JUDGES, self.n_statements, SHARE, rng):
            judge = pckmeans(
                self.X,
                link_rows(self._told(heard[self.statement])),
                price,
                self.starts[rng.randint(len(self.starts))],
                sample_weight=self.weight,
                max_iter=MAX_ITER,
                tol=tol,
                spherical=self.spherical,
                n_threads=1,
            )
            broken += violated(judge.labels, self.pairs, self.sign)
        return by_statement(broken / N_JUDGES, self.statement, self.n_statements)

    def _told(self, heard: npt.NDArray[np.bool_]) -> Constraints:
        must, cannot = heard & (self.sign > 0), heard & (self.sign < 0)
        return Constraints(
            self.pairs[must],
            self.pairs[cannot],
            must_link_weight=self.price[must],
            cannot_link_weight=self.price[cannot],
            n_samples=len(self.weight),
        )


class JudgedMixin(CodesMixin):
    """`doubt` by judges that the fit has left as `_judges`."""

    _judges: Judges

    def doubt(self) -> np.ndarray:
        """How far each statement is doubted; see :meth:`suspects` for the worst of them.

        Ten soft clusterings of the rows that statements name, each told three quarters of the
        statements, are run by the first call.

        Returns
        -------
        ndarray of shape (len(constraints),)
            Share of these clusterings that break the statement.
        """
        check_is_fitted(self)
        return self._judges.doubt

    def _doubts(self) -> np.ndarray:
        return self.doubt()
