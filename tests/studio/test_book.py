"""What follows from answers, and the path to a contradiction."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from conclust import Constraints
from conclust.studio._book import KEPT_WEIGHT, Book, constraints_of

WORDS = {1: "must-link", -1: "cannot-link"}


def book_of(*said, n_rows=8):
    book = Book(n_rows)
    for number, (kind, samples, answer) in enumerate(said, start=1):
        event = {"kind": kind, "samples": samples, "answer": answer, "by": "ann", "when": "now"}
        book.take(number, {"event": "answer", **event})
    return book


def pair(a, b, sign):
    return "pair", [a, b], WORDS[sign]


def test_contradiction_and_its_path_by_hand():
    # Check 0 – 1 – 2 and 2 | 3: so 0 and 3 are apart, by all three answers.
    book = book_of(pair(0, 1, 1), pair(5, 6, 1), pair(1, 2, 1), pair(2, 3, -1), pair(0, 3, 1))
    (found,) = book.contradictions()
    assert (found.number, found.pair, found.path) == (5, (0, 3, 1), [1, 3, 4])


def test_two_cannot_links_say_nothing():
    book = book_of(pair(0, 1, -1), pair(1, 2, -1), pair(0, 2, 1))
    assert list(book.contradictions()) == []
    assert book.implied(0, 2) == 1


def test_taking_back_mends():
    book = book_of(pair(0, 1, 1), pair(0, 1, -1))
    assert [c.path for c in book.contradictions()] == [[1]]
    book.take(3, {"event": "retract", "numbers": [1]})
    assert list(book.contradictions()) == []
    assert book.implied(0, 1) == -1


def test_piles_and_triples():
    book = book_of(("piles", [0, 1, 2, 3], [0, 0, 1, 1]), ("triple", [4, 5, 6], 5))
    assert book.implied(0, 1) == 1
    assert book.implied(1, 3) == -1
    constraints, numbers = constraints_of(book.answers.values(), book.n_rows)
    assert constraints.relative.tolist() == [[4, 6, 5]]
    assert numbers == [[1], [1], [1], [2]]


def test_the_same_said_twice_is_one_statement_of_both():
    book = book_of(pair(0, 1, 1), pair(1, 0, 1), pair(2, 3, -1))
    constraints, numbers = constraints_of(book.answers.values(), book.n_rows, list("abcdefgh"))
    assert numbers == [[1, 2], [3]]
    assert constraints.weight.tolist() == [2.0, 1.0]
    assert constraints.name(0) == "a"


def test_found_right_weighs_more():
    book = book_of(pair(0, 1, 1))
    book.take(2, {"event": "keep", "number": 1})
    assert constraints_of(book.answers.values(), book.n_rows)[0].weight.tolist() == [KEPT_WEIGHT]
    assert book.kept == {1}


def test_unsure_says_nothing_but_was_asked():
    book = book_of(("pair", [0, 1], "unsure"))
    assert book.was_asked([1, 0])
    assert not book.was_asked([1, 0], by="bob")
    assert len(constraints_of(book.answers.values(), book.n_rows)[0]) == 0


statements = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([1, -1])).filter(
        lambda s: s[0] != s[1]
    ),
    max_size=9,
)


@given(statements)
def test_paths_are_the_shortest_that_contradict(said):
    # Check against all sets of statements, smallest first.
    book = book_of(*(pair(*s) for s in said), n_rows=6)
    for found in book.contradictions():
        others = [n for n in range(1, len(said) + 1) if n != found.number]
        smallest = next(
            size
            for size in range(1, len(others) + 1)
            for some in combinations(others, size)
            if clash([said[n - 1] for n in some], found.pair)
        )
        assert clash([said[n - 1] for n in found.path], found.pair)
        assert len(found.path) == smallest


def clash(said, new):
    """Whether statements that agree with each other contradict the new one."""
    return not conflicts(said) and conflicts([*said, new])


def conflicts(said):
    return Constraints(
        [s[:2] for s in said if s[2] > 0], [s[:2] for s in said if s[2] < 0]
    ).conflicts()


@given(statements)
def test_consistent_statements_have_no_contradictions(said):
    book = book_of(*(pair(*s) for s in said), n_rows=6)
    assert bool(list(book.contradictions())) == bool(conflicts(said))
