"""Statements, and why some cannot all hold, in words, with the user's names of the samples."""

from collections.abc import Sequence
from typing import Any

N_NAMED = 12  # samples named in one sentence
N_SAID = 8  # statements written out in one sentence
N_ACTED_ON = 20  # statements of one conflict that a person can look through
N_NOTED = 6  # samples of one statement in a note


def note(kind: str, names: Sequence[Any]) -> str:
    """Write a statement in short: ``must-link: ann, bob``, ``relative: ann, bob | cid``."""
    if kind == "relative":
        return f"relative: {names[0]}, {names[1]} | {names[2]}"
    more = ", …" if len(names) > N_NOTED else ""
    return f"{kind}: {', '.join(map(str, names[:N_NOTED]))}{more}"


def note_of_row(row: dict[str, Any]) -> str:
    """Write a row of `Constraints.to_frame` in short."""
    return note(row["type"], [row[name] for name in ("abc" if row["type"] == "relative" else "ab")])


def violation(row: dict[str, Any]) -> str:
    """Write a row of `ConstraintReport.violated` with the clusters of its samples."""
    parts = [f"{row[s]} (cluster {row[f'label_{s}']})" for s in "ab"]
    if row["type"] == "relative":
        parts.append(f"| {row['c']} (cluster {row['label_c']})")
    return f"{row['type']} {', '.join(parts)}"


def relative_words(count: Any) -> str:
    """What clusters make of relative statements, in a sentence."""
    return (
        f"Of the relative ones {count.shown:,} show (two in one cluster, the third in another), "
        f"{count.together:,} lie inside one cluster, {count.apart:,} in three, "
        f"{count.broken:,} are broken."
    )


def claim(kind: str, names: Sequence[str]) -> str:
    """Write a statement as a clause."""
    a, b = names[:2]
    if kind == "must-link":
        return f"{a} and {b} belong together"
    if kind == "cannot-link":
        return f"{a} and {b} may not share a cluster"
    if kind == "apart":
        return f"no two of {shortened(names, ', ')} may share a cluster"
    return f"{a} and {b} are closer to each other than to {names[2]}"


def no_hierarchy(claims: Sequence[str]) -> str:
    """Say that no tree keeps all of these."""
    if len(claims) > N_ACTED_ON:
        return (
            f"No hierarchy keeps all of {len(claims):,} statements that hang together, such as "
            f"{claims[0]}; without any one of them the others can hold, so none is to blame. A "
            "repair finds few to drop: `constraints.repaired()`, or `conclust check --repair FILE`."
        )
    more = f"; and {len(claims) - N_SAID} more" if len(claims) > N_SAID else ""
    return f"No hierarchy keeps all of these: {'; '.join(claims[:N_SAID])}{more}."


def joined_yet_apart(walk: Sequence[str]) -> str:
    """Say that must-links lead along `walk` from one end of a cannot-link to the other."""
    a, b = walk[0], walk[-1]
    if len(walk) == 2:
        return f"{a} and {b} are both must-linked and cannot-linked."
    return (
        f"{a} and {b} may not share a cluster, yet must-links join them: {shortened(walk, ' – ')}."
    )


def one_cluster(names: Sequence[str]) -> str:
    """Say that two samples need more than one cluster."""
    return f"{' and '.join(names)} may not share a cluster, but n_clusters=1."


def crowded_group(n_members: int, names: Sequence[str], n_clusters: int) -> str:
    """Say that a group of mutually apart samples is too large; `names` may be the first few."""
    return (
        f"{n_members} samples of one group must all be apart, but n_clusters={n_clusters}: "
        f"{shortened(names, ', ')}."
    )


def crowd(names: Sequence[str], n_links: int, n_clusters: int) -> str:
    """Say that a part of the cannot-link graph needs more clusters; a ring is named along it."""
    n = len(names)
    if n_links == n * (n - 1) // 2:
        return (
            f"{n} samples (or must-linked groups) must all be apart from each other, but "
            f"n_clusters={n_clusters}: {shortened(names, ', ')}."
        )
    if n_clusters == 2:
        return (
            f"A ring of {n} cannot-links, an odd number, cannot be kept with n_clusters=2: "
            f"{shortened(names, ' – ')}."
        )
    return (
        f"{n} samples (or must-linked groups) with {n_links} cannot-links among them need "
        f"more than n_clusters={n_clusters} clusters: {shortened(names, ', ')}."
    )


def count_conflicts(n: int, max_listed: int) -> str:
    """Say how many conflicts are listed, and that there may be more."""
    return f"{n} conflict{'s' * (n != 1)}{' or more' * (n >= max_listed)}"


def shortened(names: Sequence[str], separator: str) -> str:
    """Join names, leaving out the middle of a long list."""
    if len(names) <= N_NAMED:
        return separator.join(names)
    half = N_NAMED // 2
    return separator.join([*names[:half], "…", *names[-half:]])
