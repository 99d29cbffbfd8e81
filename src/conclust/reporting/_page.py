"""Facts to one HTML page."""

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from conclust.reporting._before import Before
from conclust.reporting._curves_html import curve_section
from conclust.reporting._facts import Facts
from conclust.reporting._html import (
    cluster_name,
    color,
    folded,
    html_table,
    largest_clusters,
    section,
    swatch,
    text,
    wide,
)
from conclust.reporting._map_html import map_section
from conclust.reporting._rows_html import cases, typical_section
from conclust.reporting._summary import summary, warnings_of

N_PROFILES = 200  # clusters, the largest, in the table
N_CROSSED = 12  # clusters in the table of before and after


def page(facts: Facts) -> str:
    """The whole page: style, script and data inside, nothing from elsewhere.

    Parameters
    ----------
    facts : Facts
        What `gather` found.

    Returns
    -------
    str
    """
    style, script = _asset("page.css"), _asset("page.js")
    # Even if a name got through as markup, only this very script would run.
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    sections = [
        map_section(facts),
        _tree_section(facts),
        _cluster_section(facts),
        typical_section(facts),
        _statement_section(facts),
        _conflict_section(facts),
        _comparison_section(facts),
        *(curve_section(curve) for curve in facts.curves if not curve.is_aside),
        _details_section(facts),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="robots" content="noindex">\n'
        f"<title>{text(facts.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{_header(facts)}<main>\n{''.join(sections)}</main>\n{_footer(facts)}"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return resources.files("conclust.reporting").joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


# ---------------------------------------------------------------------- sections


def _header(facts: Facts) -> str:
    given, kept = _totals(facts)
    cards = [
        (f"{facts.n_samples:,}", "rows"),
        (f"{facts.n_clusters:,}", "clusters"),
        *([(f"{facts.n_set_aside:,}", "rows in no cluster")] if facts.n_set_aside else []),
        (f"{kept:,} of {given:,}", "statements kept") if given else ("no", "statements"),
        *(
            [(f"{facts.before.n_moved:,}", "rows placed otherwise than by k-means")]
            if facts.before
            else []
        ),
    ]
    listed = "".join(f"<li><b>{text(v)}</b><span>{text(what)}</span></li>" for v, what in cards)
    first, *others = map(text, summary(facts))
    where = f" The cluster of each row is in {text(facts.labels_in)}." if facts.labels_in else ""
    return (
        f"<header>\n<h1>{text(facts.title)}</h1>\n"
        f'<p class="lead"><b>{first}</b> {" ".join(others)}</p>\n{_warnings(facts)}'
        f'<ul class="cards">{listed}</ul>\n'
        f'<p class="soft">{text(facts.date)}.{where}</p>\n</header>\n'
    )


def _warnings(facts: Facts) -> str:
    listed = "".join(f"<li>{text(warning)}</li>" for warning in warnings_of(facts))
    if not listed:
        return ""
    return (
        '<div class="warn" role="note" aria-label="Warnings">'
        f"<p><b>Before you rely on this</b></p><ul>{listed}</ul></div>\n"
    )


def _totals(facts: Facts) -> tuple[int, int]:
    return sum(g for _, g, _ in facts.counts), sum(k for _, _, k in facts.counts)


def _cluster_section(facts: Facts) -> str:
    largest = max(facts.sizes, default=1) or 1
    rows = []
    shown = largest_clusters(facts, N_PROFILES)
    for cluster in sorted(shown):
        size, phrases = facts.sizes[cluster], facts.phrases[cluster]
        listed = "".join(f"<li>{text(p)}</li>" for p in phrases)
        what = f"<ul>{listed}</ul>" if phrases else '<span class="soft">nothing stands out</span>'
        bar = (
            f'<span class="bar" aria-hidden="true" style="width:{100 * size / largest:.0f}%;'
            f'background:{color(cluster)}"></span>'
        )
        sure = ""
        if facts.confidence:
            sure = f'<td class="n sure">{facts.confidence[cluster]:.2f}</td>'
        rows.append(
            f'<tr><th scope="row">{swatch(cluster)} {cluster_name(facts, cluster)}</th>'
            f"<td>{size:,} rows ({size / facts.n_samples:.0%}){bar}</td>{sure}<td>{what}</td></tr>"
        )
    sure = '<th scope="col" class="n">confidence</th>' if facts.confidence else ""
    told = "; confidence is how sure the method is of its rows, at most 1" if sure else ""
    table = (
        '<table class="clusters"><caption>Size of each cluster, and what distinguishes it from all '
        f"rows{told}</caption>"
        f'<thead><tr><th scope="col">cluster</th><th scope="col">size</th>{sure}'
        f'<th scope="col">what stands out</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
    n_more = facts.n_clusters - len(shown)
    more = f"<p>… and {n_more:,} smaller clusters.</p>" if n_more else ""
    body = wide(table, "Size and profile of each cluster") + more
    return section("clusters", "Clusters", body)


def _tree_section(facts: Facts) -> str:
    if not facts.trees:
        return ""
    caption = (
        "The hierarchy, from the whole at the left to single rows at the right, in the colours of "
        "the clusters. On the right some statements, a column each: dots at the two rows that are "
        "closer, a ring at the third; broken ones are red."
    )
    first, *whole = (wide(tree, "The hierarchy") for tree in facts.trees)
    drawing = f"<figure>{first}<figcaption>{caption}</figcaption></figure>"
    return section(
        "tree", "Tree", drawing + "".join(folded("More of its branches", t) for t in whole)
    )


def _statement_section(facts: Facts) -> str:
    if not facts.counts:
        return section("statements", "Statements", "<p>No statements were given.</p>")
    rows = [
        [_kind(kind), f"{given:,}", f"{kept:,}", f"{given - kept:,}", f"{kept / given:.0%}"]
        for kind, given, kept in facts.counts
    ]
    header = ["kind", "given", "kept", "broken", "share kept"]
    parts = [html_table("Statements by kind", header, rows, {1, 2, 3, 4}), _relative(facts)]
    if facts.before is not None:
        parts.append(_before(facts, facts.before))
    if facts.broken:
        parts.append(_broken(facts))
    elif facts.relative.shown == sum(facts.relative):
        parts.append('<p class="good">Every statement is kept.</p>')
    if facts.suspects:
        parts.append(f"<h3>{text(facts.suspects_title)}</h3>{cases(facts, facts.suspects, '')}")
    return section("statements", "Statements", "\n".join(parts))


def _relative(facts: Facts) -> str:
    """A relative statement is kept by clusters that say nothing about it, too."""
    found = facts.relative
    if not sum(found):
        return ""
    rows = [
        ("a and b in one cluster, c in another: the clusters <b>show</b> it", found.shown),
        ("all three in one cluster: left open", found.together),
        ("in three clusters: left open", found.apart),
        ("c with just one of a and b: broken", found.broken),
    ]
    return html_table(
        "Relative statements: a and b are closer to each other than to c",
        ["where the three are", "statements"],
        [[what, f"{n:,}"] for what, n in rows],
        {1},
    )


def _before(facts: Facts, before: Before) -> str:
    given, kept = _totals(facts)
    n_rows = facts.n_samples - facts.n_set_aside
    rows = [
        ["plain k-means, told nothing", f"{before.n_kept:,} of {given:,}", "–"],
        ["this result", f"{kept:,} of {given:,}", f"{before.n_moved:,} of {n_rows:,}"],
    ]
    header = ["", "statements kept", "rows in another cluster"]
    shown = html_table("Before and after", header, rows, {1, 2})
    if facts.n_clusters > N_CROSSED:
        return shown
    table = [
        [f"{swatch(c)} {cluster_name(facts, c)}", *(f"{n:,}" if n else "·" for n in row)]
        for c, row in enumerate(before.table)
    ]
    header = ["now", *(f"by k-means: {name}" for name in facts.names)]
    crossed = html_table("Rows by cluster now and before", header, table, set(range(1, 99)))
    return shown + folded("Where the rows were", crossed)


def _kind(kind: str) -> str:
    return f'<span class="kind">{text(kind)}</span>'


def _broken(facts: Facts) -> str:
    n_more = facts.n_violated - len(facts.broken)
    more = f"<p>… and {n_more:,} more.</p>" if n_more else ""
    marked = " Values that differ are marked." if facts.columns else ""
    return (
        "<h3>Broken statements: are they right?</h3>"
        "<p>Each was said about the rows below it and does not hold in the result. Where it is "
        f"wrong, take it out; where it is right, the cluster is in doubt.{marked}</p>"
        f"{cases(facts, facts.broken, 'Is this right?')}{more}"
    )


def _conflict_section(facts: Facts) -> str:
    if not facts.conflicts:
        return ""
    n_more = facts.n_conflicts - len(facts.conflicts)
    more = f"<p>… and {n_more:,} more.</p>" if n_more else ""
    body = (
        "<p>These statements cannot all hold, whatever the clusters: at least one of each set is "
        f"wrong.</p>{cases(facts, facts.conflicts, '')}{more}"
    )
    return section("conflicts", "Conflicts", body)


def _comparison_section(facts: Facts) -> str:
    if not facts.comparison:
        return ""
    header = ["method", "held-out statements kept", "spread", "seconds per fit", ""]
    rows = [
        [
            text(row["method"]),
            _number(row.get("score"), ".1%"),
            _number(row.get("spread"), ".1%"),
            _number(row.get("seconds"), ".2f"),
            text(row.get("note", "")),
        ]
        for row in facts.comparison
    ]
    caption = "Each method was fitted without a part of the statements, which it then had to guess"
    return section(
        "comparison", "Comparison of methods", html_table(caption, header, rows, {1, 2, 3})
    )


def _number(value: Any, form: str) -> str:
    return "–" if value is None or value != value else format(value, form)


def _details_section(facts: Facts) -> str:
    parts = []
    how = [f"Method: {facts.method}."] if facts.method else []
    how += facts.reasons
    if how:
        parts.append(folded("Which method, and why", f"<p>{' '.join(map(text, how))}</p>"))
    if facts.notes:
        listed = "".join(f"<li>{text(note)}</li>" for note in facts.notes)
        parts.append(folded("What was done to the table", f'<ul class="plain">{listed}</ul>'))
    parts += [folded(curve.title, curve_section(curve)) for curve in facts.curves if curve.is_aside]
    wanted = ("command", "seed", "parameters", "inputs", "versions")
    shown = {k: facts.details[k] for k in wanted if k in facts.details}
    if shown:
        content = json.dumps(shown, indent=1, ensure_ascii=False, default=str)
        lines = "\n".join(text(line) for line in content.split("\n"))
        parts.append(folded("How to get the same again", f"<pre>{lines}</pre>"))
    return section("details", "How this was made", "\n".join(parts)) if parts else ""


def _footer(facts: Facts) -> str:
    import conclust

    made = f"Made by conclust {text(conclust.__version__)}. This page works offline."
    return f"<footer><p>{made}</p></footer>\n"
