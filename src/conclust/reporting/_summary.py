"""The first sentences: what was grouped, what came out, what to distrust."""

from conclust.reporting._facts import Facts

MANY_BROKEN = 0.2  # of the statements
SMALL = 0.01  # of the rows: a cluster this small is rather a few odd rows


def summary(facts: Facts) -> list[str]:
    """Say it in plain words, most important first.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    list of str
        Sentences.
    """
    sentences = [_grouped(facts), _statements(facts), _distrust(facts), _changed(facts)]
    return [sentence for sentence in sentences if sentence]


def warnings_of(facts: Facts) -> list[str]:
    """What a reader should know before relying on the clusters."""
    found = list(facts.warnings)
    if facts.decides and not any("decides alone" in warning for warning in found):
        found.insert(
            0,
            f"{facts.decides} decides alone: nearly all the difference between clusters lies in "
            "this column. Is that what they should be about?",
        )
    if facts.n_conflicts:
        sets = "One set" if facts.n_conflicts == 1 else f"{facts.n_conflicts:,} sets"
        found.append(f"{sets} of statements cannot all hold, whatever the clusters; see Conflicts.")
    return found


def _grouped(facts: Facts) -> str:
    rows = f"{facts.n_samples:,} rows"
    of = f" of {facts.source}" if facts.source else ""
    if not facts.n_clusters:
        return f"None of the {rows}{of} is in a cluster."
    aside = f"; {_are(facts.n_set_aside)} in none" if facts.n_set_aside else ""
    if facts.n_clusters == 1:
        return f"{rows}{of} form one group (cluster){aside}."
    small, large = min(facts.sizes), max(facts.sizes)
    sizes = f"{small:,} to {large:,} rows" if small < large else f"{small:,} rows each"
    return f"{rows}{of} fall into {facts.n_clusters:,} groups (clusters) of {sizes}{aside}."


def _are(n: int) -> str:
    return f"{n:,} is" if n == 1 else f"{n:,} are"


def _statements(facts: Facts) -> str:
    given = sum(given for _, given, _ in facts.counts)
    if not given:
        return "Nothing was said about which rows belong together."
    n = facts.n_violated
    if not n:
        kept = f"All {given:,} statements" if given > 1 else "The one statement"
        kept += f" about which rows belong together {'are' if given > 1 else 'is'} kept"
    else:
        kept = f"Of {given:,} statements about which rows belong together {_are(given - n)} kept"
        kept += f"; {_are(n)} broken"
        if facts.n_doubted == n:
            kept += " and looks wrong" if n == 1 else " and look wrong"
        elif facts.n_doubted:
            looks = "looks" if facts.n_doubted == 1 else "look"
            kept += f", of which {facts.n_doubted:,} {looks} wrong"
        else:
            kept += ": wrong, or against what the rows say"
    open_ = facts.relative.together + facts.relative.apart
    if open_:
        kept += (
            f"; of the {sum(facts.relative):,} relative ones these clusters show "
            f"{facts.relative.shown:,} and leave {open_:,} open"
        )
    return f"{kept}."


def _distrust(facts: Facts) -> str:
    found = []
    if facts.decides:
        found.append(f"one column, {facts.decides}, decides alone")
    n_small = sum(size < SMALL * facts.n_samples for size in facts.sizes)
    if n_small and facts.n_clusters <= 20:
        found.append(
            "one cluster is very small" if n_small == 1 else f"{n_small} clusters are very small"
        )
    given = sum(given for _, given, _ in facts.counts)
    if facts.n_violated - facts.n_doubted > MANY_BROKEN * given:
        found.append("clusters and statements disagree")
    if facts.n_conflicts:
        found.append("some statements contradict each other")
    if not found and facts.warnings:
        found.append("see the warning below" if len(facts.warnings) == 1 else "see the warnings")
    return f"Careful: {'; '.join(found)}." if found else ""


def _changed(facts: Facts) -> str:
    if facts.before is None:
        return ""
    given = sum(given for _, given, _ in facts.counts)
    n = facts.before.n_moved
    if not n:
        rows = "these rows" if facts.n_set_aside else "all rows"
        return f"Plain k-means, which is told nothing, would place {rows} in the same way."
    share = n / (facts.n_samples - facts.n_set_aside)
    return (
        f"Plain k-means, which is told nothing, would keep {facts.before.n_kept:,} of the "
        f"{given:,} and place {n:,} {'row' if n == 1 else 'rows'} "
        f"({f'{share:.0%}' if share >= 0.01 else 'under 1%'}) elsewhere."
    )
