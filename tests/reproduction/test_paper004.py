import pandas as pd
import pytest
from reproduction.paper004 import CLAIMS, PAPER, PROTOCOL, SMALL, cases, evaluate


def test_every_case_is_there_once():
    found = [tuple(sorted(case.items())) for case in cases(quick=False)]
    assert len(found) == len(set(found))
    without = [case for case in cases(quick=False) if case["share"] == 0]
    assert sum(case["method"] == PAPER[0] for case in without) == 2 * (len(SMALL) + 2) + 2


@pytest.mark.slow
def test_claims_read_the_quick_table(data_folder):
    table = pd.DataFrame([case | evaluate(case) for case in cases(quick=True)])
    verdicts = {claim.text: claim.check(table) for claim in CLAIMS}
    assert verdicts["100 % with the full informative set on all six data sets"].holds == "holds"
    for draw in PROTOCOL.figures.values():
        assert draw(table).axes
