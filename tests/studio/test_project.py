"""People answer, take back, contradict each other; the clustering follows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from conclust import AutoCluster, Constraints, sample_constraints
from conclust.exceptions import SessionError
from conclust.studio import Data, _listing, _views
from conclust.studio._book import constraints_of
from conclust.studio._checks import Tab, checked_person
from conclust.studio._clustering import keep_numbers
from conclust.studio._export import EXPORTS, export, read_statements, write_all
from conclust.studio._people import agreement_of, error_rates_of, people_of
from conclust.studio._project import TakenError


def tell(project, requests, a, b, word, person="ann"):
    question = project.pose(person, [a, b], "pair")["question"]
    return project.answer(person, next(requests), question["id"], word)


def test_a_question_is_answered_and_the_next_comes_with_the_reply(project, requests):
    question = project.next("ann")["question"]
    assert question["kind"] == "pair"
    assert [item["row"] for item in question["items"]] == question["samples"]
    reply = project.answer("ann", next(requests), question["id"], "must-link", 2.5)
    assert reply["number"] == 1
    assert reply["next"]["id"] != question["id"]
    (listed,) = _listing.answers(project)["answers"]
    assert (listed["by"], listed["answer"], listed["seconds"]) == ("ann", "must-link", 2.5)
    assert listed["names"] == [f"row{i}" for i in question["samples"]]


def test_the_same_request_again_gets_the_same_reply(project, requests):
    question = project.next("ann")["question"]
    request = next(requests)
    first = project.answer("ann", request, question["id"], "cannot-link")
    again = project.answer("ann", request, question["id"], "cannot-link")
    assert again == first
    assert len(project.book.answers) == 1


def test_a_page_opened_again_gets_the_same_question_and_others_another(project):
    mine = project.next("ann")["question"]
    assert project.next("ann")["question"] == mine
    assert project.next("bob")["question"]["id"] != mine["id"]


def test_a_tab_holds_several_and_shares_none(project):
    # Check that what a tab has is not handed out again, to it or to another of the same person.
    first = project.next("ann", tab=Tab("one"))["question"]
    second = project.next("ann", tab=Tab("one", [first["id"]]))["question"]
    other = project.next("ann", tab=Tab("two"))["question"]
    assert len({frozenset(q["samples"]) for q in (first, second, other)}) == 3
    # Opened again, the tab has nothing and gets back what it was handed.
    assert project.next("ann", tab=Tab("one"))["question"]["id"] in (first["id"], second["id"])


def test_the_next_question_is_of_the_kind_wanted(project, requests):
    question = project.next("ann")["question"]
    reply = project.answer("ann", next(requests), question["id"], "unsure", kind="triple")
    assert reply["next"]["kind"] == "triple"


@pytest.mark.parametrize("wrong", [{"kind": "quintuple"}, {"kind": [3]}, {"size": 99}])
def test_nonsense_about_the_next_question_takes_no_answer(project, requests, wrong):
    question = project.next("ann")["question"]
    with pytest.raises(SessionError, match="kind=|size="):
        project.answer("ann", next(requests), question["id"], "unsure", **wrong)
    assert project.book.answers == {}


def test_what_an_answer_settles_is_not_asked(project, requests):
    tell(project, requests, 0, 1, "must-link")
    in_hand = project.pose("ann", [0, 2], "pair")["question"]
    question = project.pose("ann", [1, 2], "pair")["question"]
    reply = project.answer(
        "ann", next(requests), question["id"], "must-link", tab=Tab("", [in_hand["id"]])
    )
    assert reply["settled"] == [in_hand["id"]]
    assert reply["next"]["id"] != in_hand["id"]


def test_lines_of_the_map_are_the_pairs_as_said(project, requests):
    tell(project, requests, 0, 1, "must-link")
    tell(project, requests, 1, 2, "cannot-link")
    tell(project, requests, 3, 4, "unsure")
    assert _views.lines(project) == {"must": [[0, 1]], "cannot": [[1, 2]]}


def test_rows_are_found_by_name(project):
    found = [one["name"] for one in _views.found(project, "ROW5")["rows"]]
    assert found[:3] == ["row5", "row50", "row51"]
    assert _views.found(project, "w59")["rows"] == [{"row": 59, "name": "row59"}]
    assert _views.found(project, "nobody")["rows"] == []


def test_two_clusters_are_kept_apart(project, requests):
    project.recluster()
    said = project.say("ann", next(requests), "apart", clusters=[0, 1])
    labels = project.clustering.labels
    pairs = _views.lines(project)["cannot"]
    assert len(said["numbers"]) == len(pairs) == 3
    assert all({labels[a], labels[b]} == {0, 1} for a, b in pairs)


def test_two_tabs(project, requests):
    # Check that the second answer to one question is refused, with the next question.
    question = project.next("ann")["question"]
    project.answer("ann", next(requests), question["id"], "must-link")
    with pytest.raises(TakenError, match="was answered by 'ann' already, as answer 1") as caught:
        project.answer("ann", next(requests), question["id"], "must-link")
    assert caught.value.following["kind"] == "pair"


def test_undo_asks_again_and_the_old_question_is_closed(project, requests):
    question = project.next("ann")["question"]
    project.answer("ann", next(requests), question["id"], "must-link")
    request = next(requests)
    back = project.undo("ann", request)
    assert back["number"] == 1
    assert back["question"]["samples"] == question["samples"]
    assert project.undo("ann", request)["question"]["id"] == back["question"]["id"]
    assert project.book.answers == {}
    with pytest.raises(TakenError, match="answer 1 was taken back"):
        project.answer("ann", next(requests), question["id"], "must-link")
    assert project.answer("ann", next(requests), back["question"]["id"], "unsure")["number"] == 3


def test_undo_of_nothing(project, requests):
    assert project.undo("ann", next(requests)) == {"number": None, "question": None}


def test_everything_is_there_after_a_restart(open_project, data, requests):
    project = open_project(data)
    tell(project, requests, 0, 1, "must-link")
    tell(project, requests, 1, 2, "cannot-link", "bob")
    held = project.next("ann")["question"]
    again = open_project(data)
    assert list(again.book.answers) == [1, 2]
    assert again.book.implied(0, 2) == -1
    assert _views.about(again)["people"] == ["ann", "bob"]
    # A question from before the restart can still be answered.
    assert again.answer("ann", next(requests), held["id"], "skip")["number"] == 3


def test_another_table_is_refused(open_project, data):
    open_project(data)
    other = Data("table.csv", data.X[:50], data.frame[:50], ids=data.ids[:50])
    with pytest.raises(SessionError, match="had 60 rows then and has 50 now.*--project FILE"):
        open_project(other)
    mixed = Data("table.csv", data.X[::-1].copy(), data.frame, ids=data.ids)
    with pytest.raises(SessionError, match="has other values, columns, options or another order"):
        open_project(mixed)


def test_a_damaged_file_is_named(open_project, data):
    project = open_project(data)
    project.store.append([(1, {"event": "answer", "kind": "pair", "samples": [0, 1], "answer": 7})])
    with pytest.raises(SessionError, match="is damaged near event 1"):
        open_project(data)


def test_conflict_with_its_path_and_ways_out(project, requests):
    tell(project, requests, 0, 1, "must-link")
    tell(project, requests, 1, 2, "must-link", "bob")
    conflict = tell(project, requests, 0, 2, "cannot-link")["conflict"]
    assert conflict["sentence"] == (
        "'row0' and 'row2' are apart by answer 3, but together by 2 other answers."
    )
    assert [step["number"] for step in conflict["path"]] == [1, 2]
    assert [option["retract"] for option in conflict["options"]] == [[3], [1], [2]]
    assert _listing.conflicts(project) == [conflict]
    project.retract("ann", next(requests), [3])
    assert _listing.conflicts(project) == []


def test_relative_statements_that_clash_are_found_by_the_clustering(project, requests):
    for odd in (0, 1, 2):
        question = project.pose("ann", [0, 1, 2], "triple")["question"]
        project.answer("ann", next(requests), question["id"], odd)
    project.recluster()
    (conflict,) = _listing.conflicts(project)
    assert "row0" in conflict["sentence"]
    assert len(conflict["options"]) == len(conflict["path"]) >= 2


def test_wrong_answers_are_suspects_until_found_right(project, blobs, requests):
    _, y = blobs
    rng = np.random.RandomState(0)
    for a, b in rng.permutation(60).reshape(-1, 2).tolist():
        tell(project, requests, a, b, "must-link" if y[a] == y[b] else "cannot-link")
    a, b = (int(np.flatnonzero(y == group)[0]) for group in (0, 1))
    wrong = tell(project, requests, a, b, "must-link")["number"]
    project.recluster()
    listed = _listing.answers(project, order="suspects")
    assert listed["answers"][0]["number"] == wrong
    assert listed["answers"][0]["suspect"]
    assert listed["answers"][0]["doubt"] > 0.5
    progress = _listing.progress(project)
    assert progress["suspects"] == 1
    assert progress["people"][0]["error_must"] > 0
    project.keep("ann", next(requests), wrong)
    assert _listing.progress(project)["suspects"] == 0
    assert [a["kept"] for a in _listing.answers(project)["answers"] if a["number"] == wrong] == [
        True
    ]


@pytest.mark.parametrize("kind", ["triple", "piles"])
def test_triples_and_piles_around_a_pair(project, requests, kind):
    question = project.next("ann", kind, 5)["question"]
    rows = question["samples"]
    assert len(set(rows)) == len(rows) == (3 if kind == "triple" else 5)
    answer = rows[1] if kind == "triple" else [rows[:2], rows[2:]]
    reply = project.answer("ann", next(requests), question["id"], answer)
    assert reply["next"]["kind"] == kind
    (listed,) = _listing.answers(project)["answers"]
    assert listed["answer"] == answer
    assert len(constraints_of(project.book.answers.values(), project.book.n_rows)[0]) == (
        1 if kind == "triple" else 4
    )


@pytest.mark.parametrize(("word", "sign", "n_pairs"), [("must-link", 1, 2), ("cannot-link", -1, 3)])
def test_three_rows_all_the_same_or_all_different(project, requests, word, sign, n_pairs):
    question = project.pose("ann", [0, 1, 2], "triple")["question"]
    project.answer("ann", next(requests), question["id"], word)
    assert {project.book.implied(a, b) for a, b in [(0, 1), (0, 2), (1, 2)]} == {sign}
    assert _listing.answers(project)["answers"][0]["answer"] == word
    assert len(project.recluster().told.constraints) == n_pairs


def test_sparse_rows(open_project, requests):
    # Check all that looks at rows: questions, the map, clusters, verbs, files.
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.uniform(size=(80, 300)) * (rng.uniform(size=(80, 300)) < 0.05))
    project = open_project(Data("terms.npz", X), n_clusters=2)
    for kind in ("pair", "triple", "piles"):
        assert project.next("ann", kind)["question"]["kind"] == kind
    project.recluster()
    assert len(_views.rows_on_map(project)["x"]) == 80
    assert _views.one_cluster(project, 0)["typical"]
    assert project.say("ann", next(requests), "together", rows=list(range(30)))["numbers"]
    project.recluster()
    assert b"<html" in export(project, "report.html")[0]


def test_nothing_left_to_ask(open_project, requests):
    project = open_project(Data("two.csv", np.array([[0.0], [1.0]])), n_clusters=2)
    question = project.next("ann")["question"]
    assert project.next("bob") == {"question": None, "reason": "nothing left"}
    reply = project.answer("ann", next(requests), question["id"], "cannot-link")
    assert reply["next"] is None


def test_people_and_agreement_by_hand(project, requests):
    # Check three pairs answered by both: two the same, one not.
    for person, words in (("ann", "mmc"), ("bob", "mcc")):
        for i, word in enumerate(words):
            full = {"m": "must-link", "c": "cannot-link"}[word]
            tell(project, requests, 2 * i, 2 * i + 1, full, person)
    assert agreement_of(project.book) == {"pairs": 3, "share": 2 / 3}
    ann, bob = people_of(project.book, {1: 0.2, 2: 0.4, 3: 0.5})
    assert (ann["error_must"], ann["error_cannot"], ann["disagreements"]) == (0.3, 0.5, 1)
    assert (bob["error_must"], bob["disagreements"]) == (None, 1)
    doubt = {1: 0.2, 2: 0.4, 3: 0.5, 4: 0.6}
    assert error_rates_of(project.book, doubt) == {"must": 0.4, "cannot": 0.5}


def test_numbers_of_clusters_stay_from_fit_to_fit(project, requests):
    first = project.recluster()
    tell(project, requests, 0, 1, "must-link" if first.labels[0] == first.labels[1] else "unsure")
    second = project.recluster()
    assert (first.labels == second.labels).mean() > 0.9
    assert second.version == 2
    assert [n for n, _ in second.stability] == [0, 1]


@pytest.mark.parametrize("n_links", [0, 20])
def test_the_model_gives_new_rows_the_numbers_that_people_see(blobs, n_links):
    X, y = blobs
    model = AutoCluster(3, random_state=0).fit(X, constraints=sample_constraints(y, n_links))
    others = np.array([2, 0, 1])[model.labels_]
    keep_numbers(model, others)
    assert (model.labels_ == others).all()
    assert (model.predict(X) == model.labels_).all()
    assert (model.confidence() > 0.5).all()


def test_the_background_finds_questions_and_clusters(project, requests, blobs):
    # Check with both threads at work that answers are taken into the clustering.
    _, y = blobs
    seen = []
    project.listeners.append(lambda name, content: seen.append(name))
    project.background.start()
    for _ in range(12):
        question = project.next("ann")["question"]
        a, b = question["samples"]
        word = "must-link" if y[a] == y[b] else "cannot-link"
        project.answer("ann", next(requests), question["id"], word)
    found = project.up_to_date(timeout=60)
    assert found.told.n_answers == 12
    assert project.background.trouble is None
    assert {"labels", "answers", "question", "progress", "busy"} <= set(seen)


# ---------------------------------------------------------------------- files


def test_a_file_is_taken_once_however_often_it_is_read(open_project, data, requests):
    known = Constraints([(0, 1), (2, 3)], [(0, 5)], [(6, 7, 8)])
    project = open_project(data)
    assert project.bring_in(known, []) == {"taken": 4, "known": 0, "unknown": [], "conflicts": 0}
    project.retract("ann", next(requests), [1])
    again = open_project(data)
    assert again.bring_in(known, [])["taken"] == 0
    assert 1 not in again.book.answers


def test_exports_can_be_read_back(project, requests):
    tell(project, requests, 0, 1, "must-link")
    tell(project, requests, 3, 4, "unsure")
    question = project.pose("bob", [5, 6, 7], "triple")["question"]
    project.answer("bob", next(requests), question["id"], 7)
    project.recluster()
    for name in ("constraints.csv", "answers.jsonl", "constraints.json"):
        content, file_name = export(project, name)
        found, left_out = read_statements(project.data, content, file_name)
        assert found.must_link.tolist() == [[0, 1]]
        assert found.relative.tolist() == [[5, 6, 7]]
        assert left_out == []
    labels = pd.read_csv(pd.io.common.BytesIO(export(project, "labels.csv")[0]))
    assert labels["id"].tolist() == project.data.ids
    assert labels["label"].tolist() == project.clustering.labels.tolist()
    assert b"<html" in export(project, "report.html")[0]


def test_all_files_in_a_folder(project, tmp_path):
    pytest.importorskip("skops")
    write_all(project, tmp_path / "out")
    found = {path.name for path in (tmp_path / "out").iterdir()}
    assert found == {*EXPORTS, "model.skops"} - {"model"}


def test_formulas_do_not_leave(open_project, data, requests):
    ids = ["=1+1", *data.ids[1:]]
    project = open_project(Data("table.csv", data.X, data.frame, ids=ids))
    tell(project, requests, 0, 1, "must-link")
    project.recluster()
    assert b"'=1+1" in export(project, "labels.csv")[0]
    with pytest.raises(SessionError, match="would be run as a formula.*constraints.json"):
        export(project, "constraints.csv")
    found, _ = read_statements(project.data, *export(project, "constraints.json"))
    assert found.must_link.tolist() == [[0, 1]]


@pytest.mark.parametrize("name", ["=cmd", "a" * 41, "\u202eevil", "a\0b", 7, "\ud800"])
def test_names_of_people(name):
    with pytest.raises(SessionError, match="person"):
        checked_person(name)


def test_names_are_trimmed_and_have_a_default():
    assert checked_person("  Ann   Lee ") == "Ann Lee"
    assert checked_person(None) == "me"


# ---------------------------------------------------------------------- cells


def test_kinds_of_columns_and_long_cells(tmp_path):
    (tmp_path / "images").mkdir()
    for name in ("a.png", "b.png"):
        (tmp_path / "images" / name).write_bytes(b"png")
    (tmp_path / "secret.png").write_bytes(b"secret")
    frame = pd.DataFrame(
        {
            "n": ["1", "2.5", "-3"],
            "day": ["2024-01-01", "2024-02-01", "2024-03-01"],
            "page": ["http://a.example/x"] * 3,
            "word": ["x", "y", None],
            "text": ["<script>" * 200_000, "b", "c"],
            "image": ["a.png", "b.png", "b.png"],
        }
    )
    data = Data("t.csv", np.zeros((3, 1)), frame, images=tmp_path / "images")
    kinds = ["number", "date", "link", "category", "text", "image"]
    assert list(data.kinds.values()) == kinds
    fields = {f["column"]: f for f in data.fields(0)}
    assert len(fields["text"]["value"]) == 10_000
    assert fields["text"]["cut"]
    assert fields["page"]["url"] == "http://a.example/x"
    assert fields["image"]["url"] == "/image/5/0"
    assert data.image(5, 0).name == "a.png"
    frame.loc[2, ["page", "word", "image"]] = ["javascript:alert(1)", None, "../secret.png"]
    fields = {f["column"]: f for f in data.fields(2)}
    assert "url" not in fields["page"]
    assert "url" not in fields["image"]
    assert fields["word"]["value"] == ""
    with pytest.raises(SessionError, match="no image"):
        data.image(5, 2)
    with pytest.raises(SessionError, match="no image"):
        data.image(3, 0)
