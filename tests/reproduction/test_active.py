"""The table of questions: one run fills a row, and claims and figures are made of rows."""

import numpy as np
import pandas as pd
import pytest
from reproduction.active import (
    ASKED,
    CLAIMS,
    COMPARED,
    DATASETS,
    N_SEEDS,
    NOISE,
    PROTOCOL,
    QUESTIONS,
    RIVALS,
    RIVALS_AT,
    against_random,
    against_rivals,
    by_number,
    cases,
    curves,
    evaluate,
    long,
    what_was_run,
    with_wrong_answers,
)

from conclust.active import STRATEGIES


def made_up(strategies, value):
    """A table with all numbers of questions; `value` says each score."""
    rows = []
    for dataset in DATASETS:
        for strategy in strategies:
            for noise in NOISE:
                row = {"seed": 0, "dataset": dataset, "strategy": strategy, "noise": noise}
                row["seconds"] = 1.0
                for n in QUESTIONS:
                    row[f"auto_ari_{n}"] = row[f"auto_nmi_{n}"] = value(dataset, strategy, noise, n)
                rows.append(row)
    return pd.DataFrame(rows)


def test_every_case_is_there_once():
    found = [tuple(case.items()) for case in cases(quick=False)]
    assert set(STRATEGIES) - set(ASKED) == {"piles"}
    n_runs = len(ASKED) + (N_SEEDS - 1) * len(COMPARED)
    assert len(found) == len(set(found)) == n_runs * len(DATASETS) * 2


def test_a_run_has_both_scores_of_each_clusterer():
    # Check a short run, and that it gives the same again.
    case = {"seed": 0, "dataset": "iris", "strategy": "cobras", "noise": 0.15, "n_questions": 10}
    scores = evaluate(case)
    expected = {f"{c}_{s}_10" for c in ("auto", "pck", "own") for s in ("ari", "nmi")}
    assert set(scores) == {*expected, "asked"}
    assert scores["asked"] == 10
    assert evaluate(case) == scores


def test_long_has_a_row_for_each_score():
    table = made_up(["auto"], lambda *_: 0.5)
    assert len(long(table)) == len(table) * 2 * len(QUESTIONS)
    assert set(long(table).n) == set(QUESTIONS)


def test_aims_hold_when_auto_is_as_good_as_the_rivals():
    def value(dataset, strategy, noise, n):
        at = [max(scores) for scores in zip(*RIVALS[dataset].values(), strict=True)]
        best = float(np.interp(n, RIVALS_AT, at))
        return best * (0.81 if noise else 1.0) - (strategy == "random") * 0.01

    table = made_up(["auto", "random"], value)
    for check in (against_rivals, against_random, with_wrong_answers):
        assert check(table).holds == "holds"
    assert "10 of 10" in against_rivals(table).numbers


def test_aims_do_not_hold_below():
    table = made_up(["auto", "random"], lambda d, s, noise, n: 0.03 if s == "auto" else 0.1)
    assert against_rivals(table).holds == "does not"
    assert against_random(table).holds == "does not"
    assert against_random(table).numbers.startswith("worst -0.070")


@pytest.mark.parametrize("strategies", [["random"], ["random", "minmax"]])
def test_claims_tables_and_figures_of_a_part(strategies):
    # Check that a table without "auto", or of few rows, is enough for a page.
    plt = pytest.importorskip("matplotlib.pyplot", reason="figures need the extra `plot`")
    table = made_up(strategies, lambda *_: 0.5).iloc[: 4 * len(strategies)]
    assert {claim.check(table).holds for claim in CLAIMS[-3:]} == {"not tested"}
    assert list(curves(table, 0.0)) == sorted(strategies)
    assert len(by_number(0.0, "auto", table)) == len(strategies)
    assert what_was_run(table).to_numpy().tolist() == [["1", str(len(strategies)), "1"]] * 2
    for draw in PROTOCOL.figures.values():
        draw(table)
    plt.close("all")
