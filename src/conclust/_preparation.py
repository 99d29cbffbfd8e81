"""From the columns of a table to numbers in which distances make sense: a fitted transformer."""

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from conclust._association import associations, bins_of, falls_apart
from conclust._columns import read_column, words_of

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]

# A category of more values than this has its rarer ones in one column.
MAX_LEVELS = 50
OTHER = "\ufffdother"  # no cell reads so
# Texts become this many numbers each (latent semantic analysis of at most so many terms).
N_TEXT, MAX_TERMS = 100, 20_000
# Numbers that stand for "not known", if they lie farther from all others than these do apart.
UNKNOWN = frozenset(sign * float("9" * n) for n in range(1, 8) for sign in (1, -1))
# A column as skewed as an exponential is judged by ratios, if their logarithms are less skewed.
SKEWED = 1.0
# Values farther than this many quartile ranges from the quartiles, if they are few.
FAR_OUT, FEW = 3.0, 0.02
# Splitting along a category takes away all of its variance, along a number a part: so it has less.
OF_CATEGORY = 0.25
# A column that goes with others to this extent, or more, counts in full; one that goes with none
# is noise to groups that show in several columns, and counts so much. Not sought among many.
IN_FULL, ALONE, MAX_COMPARED = 0.1, 0.1, 300
# Directions are kept that vary more than a category does alone, by this factor at least. Wider
# tables keep their columns.
MORE, MAX_TURNED = 1.1, 2000


class TablePreparation(TransformerMixin, BaseEstimator):
    """Columns of numbers, categories and texts as numbers to cluster by.

    Each column of numbers is divided by the geometric mean of its standard deviation and its
    range, and all of them by one factor, so that their variances are 1 on average. A text has
    variance 1, a category a quarter, its values taken together. Columns that go with no other one
    count a tenth of that, for groups of rows show in several columns, unless their numbers lie
    in separate groups by themselves.

    Where there are categories, numbers and categories are turned to their main directions, and
    those that vary no more than a single category does are dropped: else its values, between
    which there is nothing, would be the clearest clusters of all.

    Parameters
    ----------
    numbers, categories, texts : sequence of str, default=()
        Names of the columns, by kind. A column that is both a number and a category counts half
        as each.
    in_full : sequence of str, default=()
        Columns that count in full even if they go with no other.
    scale : bool, default=True
        False: numbers as they are, a column of 0 and 1 for each value of a category.
    id_col : str, default=None
        The column that named the rows; kept for those who read the model.

    Attributes
    ----------
    feature_names_in_ : ndarray of str
        The columns used.
    weights_ : dict of str to float
        How much each column counts, between 0.1 and 1.
    logarithms_ : list of str
        Columns of numbers whose logarithm is used.
    unknown_ : dict of str to list of float
        Columns in which numbers such as -999 stand for missing ones.
    clipped_ : dict of str to int
        Columns with a few values far from all others, and how many; they count as the largest or
        smallest of the others.

    Notes
    -----
    Division by the range keeps the weight of columns that separate groups, which division by the
    standard deviation takes away [1]_, but lets columns of a few even values decide; their mean
    does neither to excess. Both are taken of the logarithm in columns of skewed positive numbers,
    and without values far out. ``python benchmarks/tables.py`` compares the outcome with
    preparation by hand.

    References
    ----------
    .. [1] Milligan & Cooper (1988), A study of standardization of variables in cluster analysis,
       Journal of Classification 5, 181-204. https://doi.org/10.1007/BF01897163
    """

    def __init__(
        self,
        numbers: Sequence[str] = (),
        categories: Sequence[str] = (),
        texts: Sequence[str] = (),
        *,
        in_full: Sequence[str] = (),
        scale: bool = True,
        id_col: str | None = None,
    ):
        self.numbers = numbers
        self.categories = categories
        self.texts = texts
        self.in_full = in_full
        self.scale = scale
        self.id_col = id_col

    def fit(self, X: "pd.DataFrame", y: Any = None) -> "TablePreparation":
        """Learn medians, ranges, the values of categories and the words of texts.

        Parameters
        ----------
        X : DataFrame
            With the columns named; others are not looked at.
        y : None
            Ignored.

        Returns
        -------
        TablePreparation
        """
        names = list(dict.fromkeys([*self.numbers, *self.categories, *self.texts]))
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        values = _number_columns(X, self.numbers)
        words = self._words_in(X)
        self.weights_ = self._weigh(values, words) if self.scale else {}
        self._fit_numbers(values)
        self.levels_: list[Any] = []
        self.shares_: list[FloatArray] = []
        self.level_weights_: list[float] = []
        for name in self.categories:
            self._fit_category(words[name], OF_CATEGORY * self._share_of(name))
        self.words_: list[Any] = []
        self.text_weights_: list[float] = []
        for name in self.texts:
            self._fit_text(_text_column(X[name]))
        self._fit_directions(values, words)
        return self

    def transform(self, X: "pd.DataFrame") -> FloatArray:
        """The numbers to cluster by.

        Parameters
        ----------
        X : DataFrame
            With the columns of the fit. Missing numbers count as the median. A value that a
            category did not have counts as the average row there, with a warning if it is not
            missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        words = self._words_in(X)
        blocks = self._blocks(_number_columns(X, self.numbers), words)
        if self.directions_ is not None:
            blocks = [(np.hstack(blocks) - self.origin_) @ self.directions_]
        for i, name in enumerate(self.texts):
            blocks.append(self.words_[i].transform(_text_column(X[name])) * self.text_weights_[i])
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the numbers: columns, values of categories, or directions.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        names = list(self.numbers)
        for name, levels in zip(self.categories, self.levels_, strict=True):
            shown = levels if self.scale or len(levels) != 2 else levels[1:]
            names += [f"{name} = {level}" for level in shown.tolist()]
        if self.directions_ is not None:
            names = [f"direction {i + 1}" for i in range(self.directions_.shape[1])]
        for name, words in zip(self.texts, self.words_, strict=True):
            names += [f"{name} {i + 1}" for i in range(words[-1].n_components)]
        return np.array(names, dtype=object)

    def _words_in(self, frame: "pd.DataFrame") -> dict[str, Any]:
        return {name: words_of(frame[name]).to_numpy().astype(str) for name in self.categories}

    def _blocks(self, values: FloatArray, words: dict[str, Any]) -> list[FloatArray]:
        indicators = [self._indicators(words[name], i) for i, name in enumerate(self.categories)]
        return [self._scaled(values), *indicators]

    def _fit_directions(self, values: FloatArray, words: dict[str, Any]) -> None:
        """The directions in which columns vary together."""
        self.origin_, self.directions_ = np.zeros(0), None
        if not self.scale or not self.categories:
            return
        numbers, *categories = self._blocks(values, words)
        whole = np.hstack([numbers, *categories])
        if whole.shape[1] > MAX_TURNED:
            return
        alone = max(np.linalg.eigvalsh(np.cov(each.T, bias=True))[-1] for each in categories)
        variances, axes = np.linalg.eigh(np.cov(whole.T, bias=True))
        kept = variances > MORE * alone
        if not kept.any():  # no column goes with another
            return
        axes = axes[:, kept][:, ::-1]
        largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
        self.directions_, self.origin_ = axes * np.sign(largest), whole.mean(axis=0)

    def _weigh(self, values: FloatArray, words: dict[str, Any]) -> dict[str, float]:
        """How much each column counts, by how far others tell what it says."""
        codes = {name: np.unique(folded(w), return_inverse=True)[1] for name, w in words.items()}
        codes |= {name: bins_of(values[:, j]) for j, name in enumerate(self.numbers)}
        if len(codes) > MAX_COMPARED:
            return dict.fromkeys(codes, 1.0)
        told = associations(list(codes.values())).sum(axis=0)
        weights = np.clip(told / IN_FULL, ALONE, 1.0) if told.any() else np.ones(len(codes))
        found = dict(zip(codes, weights.tolist(), strict=True))
        for j, name in enumerate(self.numbers):
            if found[name] < 1 and falls_apart(values[:, j]):
                found[name] = 1.0
        return found | dict.fromkeys((name for name in self.in_full if name in found), 1.0)

    def _share_of(self, name: str) -> float:
        """The part of its variance a column may have as a number, and as a category."""
        half = 0.5 if name in self.numbers and name in self.categories else 1.0
        return half * self.weights_.get(name, 1.0)

    # ------------------------------------------------------------------ numbers

    def _fit_numbers(self, values: FloatArray) -> None:
        n = values.shape[1]
        self.unknown_ = {
            name: found
            for j, name in enumerate(self.numbers if self.scale else ())
            if (found := stand_ins(values[:, j]))
        }
        values = self._without_unknown(values)
        self.medians_ = np.array([np.median(v[~np.isnan(v)]) for v in values.T])
        self.low_, self.high_ = np.full(n, -np.inf), np.full(n, np.inf)
        self.units_ = np.zeros(n)  # where the logarithm is taken, of the value in these
        self.offsets_ = np.zeros(n)  # 1 where there are zeros among the values
        self.centers_, self.spreads_ = np.zeros(n), np.ones(n)
        self.logarithms_: list[str] = []
        self.clipped_: dict[str, int] = {}
        if not self.scale or not n:
            return
        for j, name in enumerate(self.numbers):
            present = values[~np.isnan(values[:, j]), j]
            if is_better_as_logarithm(present):
                self.logarithms_.append(name)
                self.units_[j] = np.median(present[present > 0])
                self.offsets_[j] = float(present.min() == 0)
                self.low_[j] = present.min()  # new rows may have less, even nothing
            self._clip(j, name, present)
        bent = self._bent(values)
        self.centers_ = bent.mean(axis=0)
        spreads = np.sqrt(bent.std(axis=0) * np.ptp(bent, axis=0))
        spreads[spreads == 0] = 1.0
        shares = np.array([self._share_of(name) for name in self.numbers])
        variance = float(np.mean((bent / spreads).var(axis=0)))
        self.spreads_ = spreads * np.sqrt((variance or 1.0) / shares)

    def _without_unknown(self, values: FloatArray) -> FloatArray:
        values = values.copy()
        for j, name in enumerate(self.numbers):
            for number in self.unknown_.get(name, ()):
                values[values[:, j] == number, j] = np.nan
        return values

    def _clip(self, j: int, name: str, present: FloatArray) -> None:
        """Note the largest and smallest value that is not far out, if a few are."""
        bent = self._log(present, j)
        first, third = np.percentile(bent, [25, 75])
        reach = FAR_OUT * (third - first)
        near = (bent >= first - reach) & (bent <= third + reach)
        n_far = int((~near).sum())
        if reach > 0 and 0 < n_far <= FEW * len(bent):
            self.clipped_[name] = n_far
            self.low_[j], self.high_[j] = present[near].min(), present[near].max()

    def _log(self, values: FloatArray, j: int) -> FloatArray:
        return np.log(values / self.units_[j] + self.offsets_[j]) if self.units_[j] else values

    def _bent(self, values: FloatArray) -> FloatArray:
        values = self._without_unknown(values)
        filled = np.where(np.isnan(values), self.medians_, values)
        filled = np.clip(filled, self.low_, self.high_)
        return np.column_stack([self._log(filled[:, j], j) for j in range(filled.shape[1])])

    def _scaled(self, values: FloatArray) -> FloatArray:
        if not values.shape[1]:
            return values
        return (self._bent(values) - self.centers_) / self.spreads_

    # ------------------------------------------------------------------ categories

    def _fit_category(self, words: Any, share: float) -> None:
        levels, counts = np.unique(folded(words), return_counts=True)
        if len(levels) > MAX_LEVELS + 1:
            frequent = np.sort(np.argsort(-counts, kind="stable")[:MAX_LEVELS])
            levels = np.append(levels[frequent], OTHER)
        self.levels_.append(levels)
        self.shares_.append(np.zeros(len(levels)))
        self.level_weights_.append(1.0)
        i = len(self.levels_) - 1
        found = self._one_hot(words, i)
        self.shares_[i] = found.mean(axis=0)
        if self.scale:
            variance = float(found.var(axis=0).sum())
            self.level_weights_[i] = float(np.sqrt(share / variance)) if variance else 1.0

    def _one_hot(self, words: Any, i: int) -> FloatArray:
        """A column per value; a value not seen in the fit counts as the average row."""
        levels = self.levels_[i]
        at = {level: column for column, level in enumerate(levels.tolist())}
        column = np.array([at.get(word, at.get(OTHER, -1)) for word in folded(words)])
        found = np.zeros((len(words), len(levels)))
        seen = column >= 0
        found[np.flatnonzero(seen), column[seen]] = 1
        found[~seen] = self.shares_[i]
        new = words[~seen & (words != "")]
        if len(new):
            self._warn_of_new(i, new)
        return found

    def _indicators(self, words: Any, i: int) -> FloatArray:
        found = self._one_hot(words, i) * self.level_weights_[i]
        return found if self.scale or found.shape[1] != 2 else found[:, 1:]

    def _warn_of_new(self, i: int, words: Any) -> None:
        shown = ", ".join(repr(str(word)) for word in np.unique(words)[:3])
        warnings.warn(
            f"{self.categories[i]}: {len(words)} rows hold a value the model has not seen "
            f"({shown}); they count as the average row there.",
            UserWarning,
            stacklevel=4,
        )

    # ------------------------------------------------------------------ texts

    def _fit_text(self, texts: list[str]) -> None:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline

        words = TfidfVectorizer(sublinear_tf=True, max_features=MAX_TERMS)
        n_terms = len(words.fit(texts).vocabulary_)
        n_components = max(1, min(N_TEXT, len(texts) - 1, n_terms - 1))
        steps = make_pipeline(words, TruncatedSVD(n_components, random_state=0))
        variance = float(steps.fit_transform(texts).var(axis=0).sum())
        self.words_.append(steps)
        self.text_weights_.append(variance**-0.5 if self.scale and variance else 1.0)


def folded(words: npt.NDArray[np.str_]) -> list[str]:
    """Words in small letters: Berlin and BERLIN are one value."""
    return [word.casefold() for word in words.tolist()]


def is_better_as_logarithm(values: FloatArray) -> bool:
    """Whether numbers from zero on are skewed, and their logarithms much less."""
    if len(values) < 3 or values.min() < 0:
        return False
    before = skewness(values)
    if before <= SKEWED:
        return False
    unit = np.median(values[values > 0])
    return abs(skewness(np.log(values / unit + (values.min() == 0)))) < before / 2


def stand_ins(values: FloatArray) -> list[float]:
    """Numbers such as -999 that stand, several times, far from all others.

    >>> stand_ins(np.array([1.0, 2, 3, 4, -999, -999, np.nan]))
    [-999.0]
    """
    values = values[~np.isnan(values)]
    if not {values.min(initial=np.inf), values.max(initial=-np.inf)} & UNKNOWN:
        return []
    numbers, counts = np.unique(values, return_counts=True)
    found = []
    for at, next_to in ((0, 1), (-1, -2)):
        others = numbers[numbers != numbers[at]]
        if len(others) < 3 or numbers[at] not in UNKNOWN or counts[at] < 2:
            continue
        if abs(numbers[at] - numbers[next_to]) > np.ptp(others):
            found.append(float(numbers[at]))
    return found


def skewness(values: FloatArray) -> float:
    """The third moment of the standardized values; 0 where they are all equal."""
    centered = (values - values.mean()) / (np.ptp(values) or 1.0)
    spread = centered.std()
    return float(np.mean(centered**3) / spread**3) if spread > 0 else 0.0


def _number_columns(frame: "pd.DataFrame", names: Iterable[str]) -> FloatArray:
    columns = [_numbers_of(frame[name], name) for name in names]
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def _numbers_of(column: "pd.Series", name: str) -> FloatArray:
    """Numbers, or cells that can be read as numbers or dates."""
    read = read_column(column)
    values = column if read is None else read.values
    try:
        found = values.to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        example = next(iter(column.dropna().astype(str)), "")
        raise ValueError(
            f"the column {name!r} must hold numbers; it holds {example[:30]!r}."
        ) from None
    if np.isinf(found).any():
        row = int(np.isinf(found).argmax())
        raise ValueError(f"{name} is infinite in row {row} (counted from 0).")
    return found


def _text_column(column: "pd.Series") -> list[str]:
    return column.astype(object).where(column.notna(), "").astype(str).tolist()
