"""From the user's columns to numbers: every step explicit, printed, and kept with the model."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conclust.cli._errors import BadInput, about
from conclust.cli._options import TableOptions

if TYPE_CHECKING:
    import pandas as pd

    from conclust.cli._table import Table

# A column of words with more different values than this names rows rather than groups them.
MAX_LEVELS = 50
# Rows that tell whether there are more.
N_FIRST = 1000
# Whole numbers are codes if each is said so many times, on average, and they lie so far apart.
REPEATED, APART = 5, 3
# Whole numbers of so many values may be amounts as well as codes.
FEW_VALUES = 10
# Columns whose spread differs by more than this make k-means look at one of them only.
VERY_DIFFERENT = 20.0
# Two columns correlated like this are one, in two units perhaps; of more columns none is compared.
SAME, MAX_COMPARED = 0.99999, 2000

ANSWERS = {"label", "labels", "class", "classes", "target", "targets", "cluster", "clusters"}
ID_WORDS = {"id", "ids", "nr", "no", "num", "nummer", "number", "key", "index", "row", "rownames",
            "uuid", "#", "unnamed", "column"}  # fmt: skip
AMOUNT_WORDS = {"of", "von", "der", "per", "je", "anzahl", "count"}  # number of rooms
CODE_WORDS = {"plz", "zip", "zipcode", "postcode", "postleitzahl", "postal", "code", "codes"}


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
    warnings : list of str
        What is wrong with the result unless the user does something.
    """

    X: Any
    transformer: Any
    numbers: list[str]
    categories: list[str]
    texts: list[str]
    left_out: list[str]
    notes: list[str]
    warnings: list[str]


@dataclass
class _Sorted:
    """Columns by what they are."""

    numbers: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)  # left out, and why
    constant: list[str] = field(default_factory=list)

    @property
    def left_out(self) -> list[str]:
        return [*self.reasons, *self.constant]

    @property
    def notes(self) -> list[str]:
        notes = [f"{name} is left out: {reason}." for name, reason in self.reasons.items()]
        if self.constant:
            verb = "is" if len(self.constant) == 1 else "are"
            notes.append(f"{_listed(self.constant)} {verb} left out: the same value in every row.")
        return notes


def prepare(table: "Table", options: TableOptions = TableOptions()) -> Prepared:  # noqa: B008
    """Impute, encode and scale; never drop a row.

    Parameters
    ----------
    table : Table
    options : TableOptions
        Columns named by the user are used as told; `raw` and `standardize` decide on scaling.
    """
    from conclust._preparation import TablePreparation

    if table.frame is None:
        return _prepare_sparse(table, options.standardize)
    frame = table.frame
    named = options.named([str(name) for name in frame.columns])
    texts = named["--text-col"]
    scale = options.standardize if table.is_array else not options.raw
    asked = [*named["--columns"], *named["--category"]]
    sort = _Sorted()
    if table.is_array:
        _sort_array(frame, sort)
    else:
        _sort_columns(frame, set(named["--columns"]), named["--category"], texts, sort)
    if not (sort.numbers or sort.categories or texts):
        raise BadInput(
            f"{table.path.name}: no column can be clustered by. "
            + " ".join([*sort.notes[:3], *(note for note in table.notes if "--embeddings" in note)])
        )
    _refuse_infinite(table, sort.numbers)
    transformer = TablePreparation(
        sort.numbers,
        sort.categories,
        texts,
        in_full=frame.columns.tolist() if table.is_array else asked,
        scale=scale,
        id_col=options.id_col,
    )
    with about(table.path.name):
        X = transformer.fit_transform(frame)
    notes = sort.notes + _missing_notes(frame, sort.numbers, sort.categories, texts)
    notes += _notes_of(transformer)
    warnings = [] if scale else _drowned(frame, sort.numbers)
    return Prepared(
        X, transformer, sort.numbers, sort.categories, texts, sort.left_out, notes, warnings
    )


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
    return Prepared(X, transformer, [], [], [], [], notes, [])


# ---------------------------------------------------------------------- kinds of columns


def _sort_array(frame: "pd.DataFrame", sort: _Sorted) -> None:
    for name in frame.columns:
        values = frame[name].dropna()
        if values.empty:
            sort.reasons[name] = "every value is missing"
        elif values.nunique() == 1 and len(values) == len(frame):
            sort.constant.append(name)
        else:
            sort.numbers.append(name)


def _sort_columns(
    frame: "pd.DataFrame",
    asked: Collection[str],
    categories: Collection[str],
    texts: Collection[str],
    sort: _Sorted,
) -> None:
    """Decide for each column whether it is numbers, a category, or left out and why."""
    for name in frame.columns:
        if name in texts:
            continue
        values = frame[name].dropna()
        n_levels = _n_levels(values)
        if values.empty:
            sort.reasons[name] = "every value is missing"
        elif n_levels == 1 and len(values) == len(frame):
            sort.constant.append(name)
        elif name in categories:
            sort.categories.append(name)
        elif name not in asked and (reason := _why_left_out(name, values, n_levels)):
            sort.reasons[name] = reason
        else:
            _use(name, values, n_levels, sort)
    _drop_repeated(frame, asked, sort)


def _n_levels(values: Any) -> int:
    """How many different values there are; of measured numbers, those of the first rows do."""
    if not _is_number(values):
        return int(values.astype(str).nunique())
    first = int(values.head(N_FIRST).nunique())
    return first if first > MAX_LEVELS and not _are_whole(values) else int(values.nunique())


def _use(name: str, values: Any, n_levels: int, sort: _Sorted) -> None:
    if not _is_number(values) or n_levels == 2 or _are_codes(name, values, n_levels):
        sort.categories.append(name)
    else:
        sort.numbers.append(name)
        if _may_be_codes(values, n_levels):
            sort.categories.append(name)


def _why_left_out(name: str, values: Any, n_levels: int) -> str:
    if name.strip().lower() in ANSWERS:
        return "by its name it holds the answer; name it in --columns to use it"
    if not _is_number(values):
        if n_levels <= min(MAX_LEVELS, len(values) - 1):
            return ""
        example = str(values.iloc[0])[:30]
        return (
            f"{n_levels} different values, such as {example!r}; name it in --id-col, --category "
            "or --text-col to use it"
        )
    if not _are_whole(values):
        return ""
    called_id = _words_of(name) & ID_WORDS and not _words_of(name) & AMOUNT_WORDS
    if n_levels == len(values) >= 3 and (_count_up(values) or called_id):
        return "it counts or names the rows; if links name it, name it in --id-col"
    if n_levels > MAX_LEVELS and _words_of(name) & CODE_WORDS:
        return f"{n_levels} codes; name it in --category or --columns to use it"
    return ""


def _is_number(values: Any) -> bool:
    from pandas.api import types

    return types.is_numeric_dtype(values) and not types.is_bool_dtype(values)


def _are_whole(values: Any) -> bool:
    numbers = values.to_numpy(dtype=float)
    return bool(((numbers == numbers.round()) & (abs(numbers) < float("inf"))).all())


def _count_up(values: Any) -> bool:
    """Whether different whole numbers lie without a gap, in whatever order."""
    return values.max() - values.min() == len(values) - 1


def _are_codes(name: str, values: Any, n_levels: int) -> bool:
    """Whether numbers name things, such as postal codes, rather than count or measure.

    Few different whole numbers of equally many digits, far from each other and not round; or any
    few in a column that is called a code.
    """
    import numpy as np

    if not _are_whole(values) or n_levels > MAX_LEVELS or len(values) < REPEATED * n_levels:
        return False
    if _words_of(name) & CODE_WORDS:
        return True
    levels = np.unique(values.to_numpy(dtype=float))
    digits = {len(f"{abs(level):.0f}") for level in levels}
    far = np.ptp(levels) >= APART * (len(levels) - 1)
    return len(digits) == 1 and min(digits) >= 3 and far and bool((levels % 10 != 0).any())


def _may_be_codes(values: Any, n_levels: int) -> bool:
    return n_levels <= FEW_VALUES and len(values) >= REPEATED * n_levels and _are_whole(values)


def _words_of(name: str) -> set[str]:
    """KundenNr, kunden_nr and Kunden-Nr. as {"kunden", "nr"}."""
    spaced = re.sub(r"(?<=[a-zäöü])(?=[A-Z])", " ", name)
    return set(re.findall(r"[^\W\d_]+|#", spaced.lower()))


def _drop_repeated(frame: "pd.DataFrame", asked: Collection[str], sort: _Sorted) -> None:
    """Of columns that say the same, the first is used."""
    import numpy as np
    import pandas as pd

    both = set(sort.numbers) & set(sort.categories)
    first: dict[bytes, str] = {}
    for name in [c for c in sort.categories if c not in both][:MAX_COMPARED]:
        codes = pd.factorize(frame[name], use_na_sentinel=False)[0]  # numbered as they appear
        twin = first.setdefault(codes.astype(np.int32).tobytes(), name)
        if twin != name and name not in asked:
            sort.categories.remove(name)
            sort.reasons[name] = f"it says the same as {twin}"
    if not 2 <= len(sort.numbers) <= MAX_COMPARED:
        return
    values = frame[sort.numbers].to_numpy(dtype=np.float64, na_value=np.nan)
    values = np.where(np.isinf(values), 0.0, values)  # refused later, with the row
    values = np.nan_to_num(values - np.nanmean(values, axis=0))
    length = np.sqrt((values**2).sum(axis=0))
    values = values / np.where(length > 0, length, 1)
    alike = np.abs(values.T @ values) > SAME
    missing = frame[sort.numbers].isna().to_numpy()
    names = list(sort.numbers)
    for j in range(1, len(names)):
        twins = [i for i in np.flatnonzero(alike[j, :j]) if (missing[:, i] == missing[:, j]).all()]
        if twins and names[j] not in asked:
            sort.numbers.remove(names[j])
            if names[j] in sort.categories:
                sort.categories.remove(names[j])
            sort.reasons[names[j]] = f"it says the same as {names[twins[0]]}"


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


# ---------------------------------------------------------------------- words


def _missing_notes(
    frame: "pd.DataFrame", numbers: list[str], categories: list[str], texts: list[str]
) -> list[str]:
    notes = []
    for names, what in (
        (numbers, "replaced by the median"),
        ([c for c in categories if c not in numbers], "kept as a value of its own"),
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


def _notes_of(transformer: Any) -> list[str]:
    """What the preparation did to the columns it used."""
    from conclust._preparation import OTHER

    numbers, categories = transformer.numbers, transformer.categories
    both = [c for c in categories if c in numbers]
    only = [c for c in categories if c not in numbers]
    notes = []
    if transformer.scale and numbers:
        notes.append(f"{_count(numbers, 'column')} of numbers scaled (--raw: not).")
    alone = [name for name, weight in transformer.weights_.items() if weight < 0.5]
    if alone:
        them = "it" if len(alone) == 1 else "them"
        notes.append(
            f"{_listed(alone)}: no other column goes with {them}, so counted little "
            "(named in --columns: in full)."
        )
    if transformer.logarithms_:
        notes.append(f"{_listed(transformer.logarithms_)}: skewed, so by the logarithm.")
    for name, found in transformer.unknown_.items():
        notes.append(f"{name}: {', '.join(f'{v:g}' for v in found)} read as missing.")
    for name, n in list(transformer.clipped_.items())[:5]:
        notes.append(f"{name}: {n} far {'value' if n == 1 else 'values'} drawn in to the others.")
    if only:
        notes.append(f"{_listed(only)}: each value a column of 0 and 1.")
    many = [
        name
        for name, levels in zip(categories, transformer.levels_, strict=True)
        if OTHER in levels
    ]
    if many:
        notes.append(f"{_listed(many)}: the {MAX_LEVELS} most frequent values, the rest as one.")
    if both:
        notes.append(f"{_listed(both)}: few whole numbers, half as amounts and half as codes.")
    if transformer.directions_ is not None:
        n = transformer.directions_.shape[1]
        which = "main direction" if n == 1 else f"{n} main directions"
        notes.append(f"Numbers and categories are turned to their {which}.")
    if transformer.texts:
        notes.append(f"{_listed(transformer.texts)}: word frequencies (tf-idf), reduced by an SVD.")
    return notes


def _drowned(frame: "pd.DataFrame", numbers: list[str]) -> list[str]:
    """Whether one column varies so much more than the others that it decides alone."""
    if len(numbers) < 2 or len(numbers) > 5000:
        return []
    spread = frame[numbers].std().astype(float)
    spread = spread[spread > 0]
    if len(spread) < 2 or spread.max() < VERY_DIFFERENT * spread.median():
        return []
    times = spread.max() / spread.median()
    return [
        f"{spread.idxmax()} varies {times:,.0f} times as much as most columns and decides alone."
    ]


def _count(names: list[str], what: str) -> str:
    return f"1 {what}" if len(names) == 1 else f"{len(names)} {what}s"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
