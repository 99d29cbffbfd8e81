"""From the user's columns to numbers: every step explicit, printed, and kept with the model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conclust.cli._errors import BadInput, about

if TYPE_CHECKING:
    import pandas as pd

    from conclust.cli._table import Table

# A column of words with more different values than this names rows rather than groups them.
MAX_LEVELS = 50
# Texts become this many numbers each (latent semantic analysis of at most so many terms).
N_TEXT, MAX_TERMS = 100, 20_000
# Columns whose spread differs by more than this make k-means look at one of them only.
VERY_DIFFERENT = 20.0


@dataclass(frozen=True)
class Prepared:
    """Numbers to cluster.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    transformer : transformer or None
        Fitted; takes rows as the table has them. None: the numbers are used as they are.
    numbers, categories, texts : list of str
        The columns used, by how.
    left_out : list of str
    notes : list of str
        What was done, for the user.
    """

    X: Any
    transformer: Any
    numbers: list[str]
    categories: list[str]
    texts: list[str]
    left_out: list[str]
    notes: list[str]


def prepare(
    table: "Table",
    *,
    asked: list[str] | None = None,
    texts: list[str] | None = None,
    standardize: bool = False,
) -> Prepared:
    """Impute, encode and scale; never drop a row.

    Parameters
    ----------
    table : Table
    asked : list of str, default=None
        Columns named by the user: these are not left out for having many values.
    texts : list of str, default=None
        Columns of running text.
    standardize : bool, default=False
        Give every column of numbers mean 0 and variance 1.
    """
    if table.frame is None:
        return _prepare_sparse(table, standardize)
    frame, texts = table.frame, list(texts or ())
    numbers, categories, left_out, notes = _sort_columns(frame, set(asked or ()), texts)
    if not (numbers or categories or texts):
        raise BadInput(f"{table.path.name}: no column can be clustered by. " + " ".join(notes[:3]))
    _refuse_infinite(table, numbers)
    notes += _missing_notes(frame, numbers, categories, texts)
    transformer = _transformer(frame, numbers, categories, texts, standardize)
    with about(table.path.name):
        X = transformer.fit_transform(fill_texts(frame, texts))
    if standardize and numbers:
        notes.append(f"{_count(numbers, 'column')} of numbers scaled to mean 0 and variance 1.")
    elif not standardize:
        notes += _scale_note(frame, numbers)
    if categories:
        notes.append(f"{_listed(categories)}: each value a column of 0 and 1.")
    if texts:
        notes.append(f"{_listed(texts)}: word frequencies (tf-idf), reduced by an SVD.")
    return Prepared(X, transformer, numbers, categories, texts, left_out, notes)


def _prepare_sparse(table: "Table", standardize: bool) -> Prepared:
    import numpy as np

    if not np.isfinite(table.matrix.data).all():
        raise BadInput(f"{table.path.name} holds values that are missing or infinite.")
    X, transformer, notes = table.matrix, None, []
    if X.dtype.kind != "f":
        X = X.astype(np.float64)
    if standardize:
        from sklearn.preprocessing import StandardScaler

        transformer = StandardScaler(with_mean=False)
        X = transformer.fit_transform(X)
        notes.append("Columns scaled to variance 1 (not centred: the matrix is sparse).")
    return Prepared(X, transformer, [], [], [], [], notes)


def _sort_columns(
    frame: "pd.DataFrame", asked: set[str], texts: list[str]
) -> tuple[list[str], list[str], list[str], list[str]]:
    """Columns of numbers, of categories, and those left out, with the reasons."""
    from pandas.api import types

    numbers, categories, left_out, notes = [], [], [], []
    constant = []
    for name in frame.columns:
        if name in texts:
            continue
        column = frame[name]
        values = column.dropna()
        reason = ""
        if values.empty:
            reason = "every value is missing"
        elif types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
            reason = "dates are not numbers; add a column such as days since the first"
        elif types.is_bool_dtype(values) or not types.is_numeric_dtype(column):
            n_levels = values.astype(str).nunique()
            if n_levels == 1 and len(values) == len(column):
                constant.append(name)
                continue
            if name not in asked and n_levels > min(MAX_LEVELS, len(values) - 1):
                example = str(values.iloc[0])[:30]
                reason = (
                    f"{n_levels} different values, such as {example!r}; name it in --id-col, "
                    "--columns or --text-col to use it"
                )
            else:
                categories.append(name)
        elif values.nunique() == 1 and len(values) == len(column):
            constant.append(name)
            continue
        else:
            numbers.append(name)
            if name not in asked and _counts_rows(column):
                notes.append(f"{name} counts the rows; if it is an id, name it with --id-col.")
        if reason:
            left_out.append(name)
            notes.append(f"{name} is left out: {reason}.")
    if constant:
        verb = "is" if len(constant) == 1 else "are"
        notes.append(f"{_listed(constant)} {verb} left out: the same value in every row.")
    return numbers, categories, left_out + constant, notes


def _counts_rows(column: Any) -> bool:
    """Whether a column is 0, 1, 2, … or 1, 2, 3, …."""
    import numpy as np

    if column.dtype.kind not in "iu" or len(column) < 3:
        return False
    return column.iloc[0] in (0, 1) and bool((np.diff(column.to_numpy()) == 1).all())


def _refuse_infinite(table: "Table", numbers: list[str]) -> None:
    import numpy as np

    assert table.frame is not None
    for name in numbers:
        column = table.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(column).any():
            row = int(np.isinf(column).argmax())
            raise BadInput(
                f"{table.path.name}: {name} is infinite in row {table.names[row]!r}; "
                "correct the value or leave it empty."
            )


def _missing_notes(
    frame: "pd.DataFrame", numbers: list[str], categories: list[str], texts: list[str]
) -> list[str]:
    notes = []
    for names, what in (
        (numbers, "replaced by the median"),
        (categories, "kept as a value of its own"),
        (texts, "read as empty text"),
    ):
        missing = frame[names].isna().sum() if names else []
        found = [(name, int(n)) for name, n in zip(names, missing, strict=False) if n]
        for name, n in found[:5]:
            notes.append(f"{name}: {n} missing {'value' if n == 1 else 'values'}, {what}.")
        if len(found) > 5:
            total = sum(n for _, n in found[5:])
            notes.append(f"{len(found) - 5} more columns: {total} missing values, {what}.")
    return notes


def _scale_note(frame: "pd.DataFrame", numbers: list[str]) -> list[str]:
    if len(numbers) < 2 or len(numbers) > 5000:
        return []
    spread = frame[numbers].std().astype(float)
    spread = spread[spread > 0]
    if len(spread) < 2 or spread.max() < VERY_DIFFERENT * spread.median():
        return []
    times = spread.max() / spread.median()
    return [
        f"{spread.idxmax()} varies {times:,.0f} times as much as most columns and decides alone; "
        "consider --standardize."
    ]


def _transformer(
    frame: "pd.DataFrame",
    numbers: list[str],
    categories: list[str],
    texts: list[str],
    standardize: bool,
) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    parts: list[Any] = []
    if numbers:
        # The imputer stands there even where nothing is missing now: new rows may lack values.
        steps = [SimpleImputer(strategy="median")]
        steps += [StandardScaler()] if standardize else []
        parts.append(("numbers", make_pipeline(*steps), numbers))
    if categories:
        encoder = OneHotEncoder(
            drop="if_binary",
            handle_unknown="ignore",
            max_categories=MAX_LEVELS + 1,
            sparse_output=False,
        )
        parts.append(("categories", encoder, categories))
    for i, name in enumerate(texts):
        words = TfidfVectorizer(sublinear_tf=True, max_features=MAX_TERMS)
        svd = TruncatedSVD(n_components=_n_components(frame[name]), random_state=0)
        parts.append((f"text{i}", make_pipeline(words, svd), name))
    return ColumnTransformer(parts, sparse_threshold=0, verbose_feature_names_out=False)


def _n_components(column: Any) -> int:
    """No more components than rows or terms allow."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    with about(f"column {column.name}"):
        words = TfidfVectorizer(max_features=MAX_TERMS).fit(_as_text(column))
    return max(1, min(N_TEXT, len(column) - 1, len(words.vocabulary_) - 1))


def fill_texts(frame: "pd.DataFrame", texts: list[str]) -> "pd.DataFrame":
    """Missing texts as empty ones; the frame itself is left alone."""
    if not texts:
        return frame
    return frame.assign(**{name: _as_text(frame[name]) for name in texts})


def _as_text(column: Any) -> Any:
    return column.astype(object).where(column.notna(), "").astype(str)


def _count(names: list[str], what: str) -> str:
    return f"1 {what}" if len(names) == 1 else f"{len(names)} {what}s"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
