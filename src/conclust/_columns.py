"""Cells of one column as people write them: numbers, dates, words."""

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

# A column is one of numbers although a few cells hold words such as "n/a": these are missing.
MAX_ODD_WORDS, MAX_ODD_SHARE = 3, 0.1
N_TRIED = 50  # cells that decide whether the rest is looked at
DAYS_IN_YEAR = 365.2425

CURRENCY = re.compile(r"[€$£¥₹%]|\b(?:EUR|USD|CHF|GBP|JPY)\b", re.IGNORECASE)
GROUPING = re.compile(r"(?<=\d)[\u00a0\u202f '’](?=\d{3})")  # 1 000, 1'000
PLAIN = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
ENGLISH = r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?"  # 1,234.50
GERMAN = r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?"  # 1.234,50
GERMAN_ONLY = r"[+-]?(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,}))"  # not 1,234 or 1.234
UNIT = r"(?<=\d)\s*([^\W\d_]{1,4}[²³]?)$"  # 12 kg, if all cells have the same
LEADING_ZERO = r"[+-]?0\d+"

TIME = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
YEAR_FIRST = rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){TIME}"
YEAR_LAST = rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){TIME}"
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
GERMAN_MONTHS = {"mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12}
NAMED_MONTH = r"(\d{1,2})\.?[- ]([^\W\d]{3,9})\.?,?[- ](\d{4})"  # 3 Jan 2020, 3. Januar 2020
MONTH_FIRST = r"([^\W\d]{3,9})\.? (\d{1,2}),? (\d{4})"  # Jan 3, 2020


class Read(NamedTuple):
    """A column as numbers, and what the user may want to know of it."""

    values: "pd.Series"
    note: str = ""


def read_column(column: "pd.Series", decimal_comma: bool = False) -> Read | None:
    """Text, or dates, as numbers; None where a column holds words.

    Parameters
    ----------
    column : Series
        Of text (missing cells allowed), of dates or of anything else.
    decimal_comma : bool, default=False
        Where 1,234 may be a little more than one or a thousand: whether it is the former.
    """
    from pandas.api import types

    if types.is_datetime64_any_dtype(column):
        return Read(_years(column), "dates read as years (1 July 2021 is 2021.5)")
    if types.is_timedelta64_dtype(column):
        return Read(column.dt.total_seconds() / 86_400, "durations read as days")
    if types.is_numeric_dtype(column) or types.is_bool_dtype(column):
        return None
    if column.dtype == object and column.map(_is_date, na_action="ignore").dropna().any():
        column = column.astype(object).where(column.isna(), column.astype(str))
    text = column.dropna().astype(str).str.strip()
    if text.empty:
        return None
    return _numbers(column, text, decimal_comma) or _dates(column, text)


def _is_date(value: Any) -> bool:
    import datetime

    return isinstance(value, datetime.date)


def has_decimal_commas(column: "pd.Series") -> bool:
    """Whether some cell can only be read with a decimal comma, such as 1,5 or 1.234,50."""
    return bool(_bare(column.dropna().astype(str).head(1000)).str.fullmatch(GERMAN_ONLY).any())


def has_leading_zeros(column: "pd.Series") -> bool:
    """Whether some cell is a whole number written with zeros in front, such as 01067."""
    return bool(column.dropna().astype(str).str.strip().str.fullmatch(LEADING_ZERO).any())


def _few_odd(odd: Any, text: Any) -> bool:
    """Whether cells that are not like the others are few words, said again and again."""
    return odd.mean() <= MAX_ODD_SHARE and text[odd].nunique() <= MAX_ODD_WORDS


def _filled(column: Any, text: Any, values: Any) -> Any:
    """Values of the cells that are there, at their rows."""
    import numpy as np
    import pandas as pd

    full = pd.Series(np.full(len(column), np.nan), index=column.index, name=column.name)
    full[text.index] = values
    return full


def _odd_note(odd: Any, text: Any) -> str:
    if not odd.any():
        return ""
    words = ", ".join(repr(word[:20]) for word in text[odd].unique())
    return f"{words} read as missing ({int(odd.sum())} cells)"


# ---------------------------------------------------------------------- numbers


def _numbers(column: Any, text: Any, decimal_comma: bool) -> Read | None:
    head = text.head(N_TRIED)
    if not head.str.contains(r"\d").mean() >= 0.5:
        return None
    bare = _bare(text)
    styles = {
        "english": bare.str.fullmatch(f"{PLAIN}|{ENGLISH}"),
        "german": bare.str.fullmatch(GERMAN),
    }
    german_first = decimal_comma or _dots_are_for_thousands(bare)
    order = ["german", "english"] if german_first else ["english", "german"]
    style = max(order, key=lambda name: styles[name].sum())  # of equals, the first
    odd = ~styles[style]
    if odd.all() or not _few_odd(odd, text) or bare.str.fullmatch(LEADING_ZERO).any():
        return None
    clean = bare[~odd].str.replace("." if style == "german" else ",", "", regex=False)
    if style == "german":
        clean = clean.str.replace(",", ".", regex=False)
    notes = [_odd_note(odd, text)]
    if style == "german" and bare.str.contains(",", regex=False).any():
        notes.insert(0, "decimal commas read as decimal points")
    values = _filled(column, clean, clean.map(float))
    return Read(values, "; ".join(filter(None, notes)))


def _bare(text: Any) -> Any:
    """Cells without currency, unit and spaces between thousands; minus signs in front."""
    bare = text.str.replace(CURRENCY, "", regex=True).str.strip()
    bare = bare.str.replace("\u2212", "-", regex=False)
    if bare.str.extract(UNIT)[0].nunique(dropna=False) == 1:
        bare = bare.str.replace(UNIT, "", regex=True)
    bare = bare.str.replace(GROUPING, "", regex=True).str.strip()
    return bare.str.replace(r"^\((.+)\)$|^([\d.,]+)-$", r"-\1\2", regex=True)  # accounts: (5), 5-


def _dots_are_for_thousands(bare: Any) -> bool:
    """Whether some cells are like 1.234 and all others like 567: no measure has decimals so."""
    grouped = bare.str.fullmatch(r"[+-]?\d{1,3}(?:\.\d{3})+")
    return bool(
        grouped.any() and not grouped.all() and bare[~grouped].str.fullmatch(r"[+-]?\d{1,3}").all()
    )


# ---------------------------------------------------------------------- dates


def _years(dates: Any) -> Any:
    """Dates as years since Christ: numbers one can read, in proportion to time."""
    import pandas as pd

    if getattr(dates.dt, "tz", None) is not None:
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    return 1970 + (dates - pd.Timestamp(1970, 1, 1)) / pd.Timedelta(days=1) / DAYS_IN_YEAR


def _dates(column: Any, text: Any) -> Read | None:
    for read in (_year_first, _year_last, _named_month):
        head = read(text.head(N_TRIED))
        if head is None or head[0].notna().mean() < 1 - 2 * MAX_ODD_SHARE:
            continue
        found = read(text)
        dates, note = found
        odd = dates.isna()
        if _few_odd(odd, text):
            notes = ["dates read as years (1 July 2021 is 2021.5)", note, _odd_note(odd, text)]
            return Read(_filled(column, text, _years(dates)), "; ".join(filter(None, notes)))
    return None


def _stamps(year: Any, month: Any, day: Any, parts: Any) -> Any:
    import pandas as pd

    year = pd.to_numeric(year).astype(float)
    year = year.where(year > 99, year + 1900 + 100 * (year < 70))
    day_at = pd.to_datetime(
        pd.DataFrame({"year": year, "month": month.astype(float), "day": day.astype(float)}),
        errors="coerce",
    )
    seconds = sum(
        pd.to_numeric(part).fillna(0) * unit
        for part, unit in zip(parts, (3600, 60, 1), strict=True)
    )
    return day_at + pd.to_timedelta(seconds, unit="s")


def _year_first(text: Any) -> Any:
    found = text.str.extract(f"^{YEAR_FIRST}$")
    return _stamps(found[0], found[2], found[3], [found[i] for i in (4, 5, 6)]), ""


def _year_last(text: Any) -> Any:
    """3.1.2020 is in January; 3/1/2020 and 3-1-2020 as the other rows tell."""
    import pandas as pd

    found = text.str.extract(f"^{YEAR_LAST}$")
    first, second = pd.to_numeric(found[0]), pd.to_numeric(found[2])
    dots = (found[1] == ".").any()
    day_first = dots or (first > 12).sum() > (second > 12).sum()
    doubtful = not dots and not (first > 12).any() and not (second > 12).any()
    day, month = (found[0], found[2]) if day_first else (found[2], found[0])
    note = "the month first" if doubtful and first.notna().any() else ""
    return _stamps(found[3], month, day, [found[i] for i in (4, 5, 6)]), note


def _named_month(text: Any) -> Any:
    import pandas as pd

    found = text.str.extract(f"^{NAMED_MONTH}$")
    other = text.str.extract(f"^{MONTH_FIRST}$")[[1, 0, 2]].set_axis([0, 1, 2], axis=1)
    found = found.where(found[0].notna(), other, axis=0)
    numbers = {name: i + 1 for i, name in enumerate(MONTHS)} | GERMAN_MONTHS
    month = found[1].str.lower().str[:3].map(numbers)
    none = pd.Series(0.0, index=text.index)
    return _stamps(found[2], month, found[0], [none, none, none]), ""


# ---------------------------------------------------------------------- words


def words_of(column: "pd.Series") -> "pd.Series":
    """Each cell as the text a person would write; a missing one is empty."""
    return column.map(_word, na_action="ignore").astype(object).where(column.notna(), "")


def _word(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
