"""The studio's page in a real browser, on a real server."""

import json
import re
import time
from pathlib import Path

import pytest

from tests.studio.browser import DESK, PAGES, PHONE, Studio, hostile_table

TRIES_MS = 60_000  # on a busy computer; a page that works is not waited for
FIT_MS = 120_000  # until a clustering is shown
NO_PATIENCE = """() => {
    const later = window.setTimeout;
    window.setTimeout = (wake, ms) => later(wake, ms > 5000 ? 0 : ms);
}"""  # what the page does after more than five seconds, it does at once


def open_studio(folder, columns="sepal length,sepal width,petal length,petal width"):
    table = hostile_table(folder / "iris.csv")
    return Studio(table, "--id-col", "flower", "-k", "3", "--columns", columns)


@pytest.fixture(scope="module")
def studio(browser, tmp_path_factory):
    studio = open_studio(tmp_path_factory.mktemp("studio"))
    yield studio
    studio.close()


@pytest.fixture
def own_studio(browser, tmp_path):
    """Where nobody else has said anything."""
    studio = open_studio(tmp_path)
    yield studio
    studio.close()


@pytest.fixture
def visit(browser, studio):
    """Open the page; a fault in it, or a request to anywhere else, fails the test."""
    contexts, troubles = [], []

    def call(page_name="question", viewport=DESK, url=None, person=None, **more):
        address = url or studio.url
        context = browser.new_context(viewport=viewport, **more)
        context.set_default_timeout(TRIES_MS)
        contexts.append(context)
        if person:
            context.add_init_script(
                "if (location.protocol === 'http:') "
                f"localStorage.setItem('conclust-person', {json.dumps(person)})"
            )
        page = context.new_page()
        watch(page, address.partition("?")[0])
        page.goto(f"{address}#{page_name}")
        page.wait_for_selector("main h1")
        return page

    def watch(page, base):
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "console",
            lambda message: (
                troubles.append(message.text) if "Content Security" in message.text else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((base, "data:", "blob:", "about:"))
                else troubles.append(request.url)
            ),
        )

    call.watch = watch
    yield call
    for context in contexts:
        context.close()
    assert troubles == []


def shown(page, kind=None):
    """The question on the page, once there is one, of that kind."""
    kind = f"[data-kind={kind}]" if kind else ""
    page.wait_for_selector(f".ask{kind}[data-question]:not([data-question=''])")
    return page.locator(".ask").get_attribute("data-question")


KINDS = {"Two": "pair", "Three": "triple", "Piles": "piles"}
READY = {"map": ".clusters input", "answers": ".answered li", "progress": ".exports a"}


def turn_to(page, name):
    """Another page, once it shows what it has."""
    page.locator(f"#to-{name}").click()
    page.wait_for_selector(f"#to-{name}[aria-current=page]")
    page.wait_for_selector(READY[name])


def ask(page, path, **body):
    """What the server replies to this page; a body is posted."""
    if not body:
        return page.evaluate("path => fetch(path).then((reply) => reply.json())", path)
    body = {"person": "me", "request": f"test-{path}-{json.dumps(body)}", **body}
    return page.evaluate(
        """([path, body]) => fetch(path, {method: 'POST', body: JSON.stringify(body),
        headers: {'Content-Type': 'application/json'}}).then((reply) => reply.json())""",
        [path, body],
    )


def put(page, samples, kind="pair"):
    """Open the question page again; it asks about these rows first."""
    question = ask(page, "/api/pose", samples=samples, kind=kind)["question"]
    address = page.url.partition("#")[0]
    page.goto("about:blank")
    page.route("**/api/next", lambda route: route.fulfill(json={"question": question}), times=1)
    page.goto(f"{address}#question")
    page.wait_for_selector(f".ask[data-question='{question['id']}']")
    return question


def answers_of(page, person):
    return [
        a for a in ask(page, "/api/answers?order=time&limit=500")["answers"] if a["by"] == person
    ]


def saved(page, person, n):
    """The answers of somebody, once the server has so many."""
    until = time.monotonic() + TRIES_MS / 1000
    while True:
        found = answers_of(page, person)
        if len(found) >= n:
            return found
        assert time.monotonic() < until, f"{len(found)} of {n} answers arrived"
        page.wait_for_timeout(50)


def test_keys_answer_and_the_next_question_does_not_wait(visit):
    page = visit(person="keys")
    first = shown(page)
    page.wait_for_timeout(300)  # one more is fetched to be in hand
    held = []
    page.route("**/api/answer", lambda route: held.append(route), times=1)
    page.keyboard.press("y")
    assert page.locator(".ask").get_attribute("data-question") not in ("", first)
    while not held:
        page.wait_for_timeout(20)
    assert answers_of(page, "keys") == []
    held.pop().continue_()
    for key in ("n", "u", "s"):
        saved(page, "keys", 1)
        page.wait_for_timeout(150)
        page.keyboard.press(key)
    found = saved(page, "keys", 4)
    assert [one["answer"] for one in reversed(found)] == [
        "must-link",
        "cannot-link",
        "unsure",
        "skip",
    ]
    assert page.locator(".saved").inner_text().endswith("answers")


def test_prodigys_keys_and_held_ones(visit):
    page = visit(person="prodigy")
    for key in ("a", "x"):
        shown(page)
        page.wait_for_timeout(200)
        page.keyboard.press(key)
    assert [one["answer"] for one in reversed(saved(page, "prodigy", 2))] == [
        "must-link",
        "cannot-link",
    ]
    shown(page)
    # A key held down answers once: what the keyboard repeats is not meant.
    page.keyboard.down("y")
    for _ in range(5):
        page.keyboard.down("y")
    page.keyboard.up("y")
    saved(page, "prodigy", 3)
    page.wait_for_timeout(300)
    assert len(answers_of(page, "prodigy")) == 3


def test_two_tabs_never_show_the_same_question(visit):
    first = visit(person="tabs")
    second = first.context.new_page()
    visit.watch(second, first.url.partition("#")[0].partition("?")[0])
    second.goto(first.url)
    third = visit(person="somebody")
    seen = {}
    for _ in range(4):
        for page in (first, second, third):
            rows = frozenset(re.findall(r"-(\d+)(?=-)", shown(page)))
            assert seen.setdefault(rows, page) is page
            page.keyboard.press("u")
            page.wait_for_timeout(150)


def test_more_tabs_than_a_browser_has_connections(visit):
    # Each tab hears of what happens only while it is seen, else the seventh would wait for ever.
    first = visit(person="many")
    tabs = [first, *(first.context.new_page() for _ in range(6))]
    for page in tabs:
        if page is not first:
            visit.watch(page, first.url.partition("?")[0])
            page.goto(first.url)
        shown(page)
        page.evaluate(
            """() => {
            Object.defineProperty(document, 'visibilityState', {value: 'hidden'});
            document.dispatchEvent(new Event('visibilitychange'));
        }"""
        )


def test_another_name_gets_questions_of_its_own(visit):
    page = visit(person="before")
    shown(page)
    page.locator("#who").click()
    page.get_by_label("Your name").fill("after")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('who').innerText.includes('after')")
    shown(page)
    page.wait_for_timeout(200)
    page.keyboard.press("y")
    assert len(saved(page, "after", 1)) == 1
    assert answers_of(page, "before") == []
    assert page.locator(".toast").count() == 0


def test_a_question_on_its_way_to_another_name_is_not_shown(visit):
    page = visit(person="slow")
    shown(page)
    page.wait_for_timeout(300)  # one more is fetched to be in hand
    held = []
    page.route("**/api/next", lambda route: held.append(route), times=1)
    page.get_by_label("Three", exact=True).check()
    while not held:
        page.wait_for_timeout(20)
    page.locator("#who").click()
    page.get_by_label("Your name").fill("quick")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('who').innerText.includes('quick')")
    with page.expect_response("**/api/next") as late:
        held.pop().continue_()
    theirs = late.value.json()["question"]["id"]
    assert shown(page, "triple") != theirs


def test_undo_brings_the_question_back(visit):
    page = visit(person="undo")
    question = shown(page)
    names = page.locator(".comparison thead th").all_inner_texts()
    page.keyboard.press("n")
    saved(page, "undo", 1)
    page.wait_for_function(
        "id => document.querySelector('.ask').dataset.question !== id", arg=question
    )
    page.keyboard.press("z")
    page.wait_for_function(
        "names => [...document.querySelectorAll('.comparison thead th')].every((th, i) => th.innerText === names[i])",
        arg=names,
    )
    assert answers_of(page, "undo") == []
    page.keyboard.press("z")
    page.wait_for_selector(".toast")
    assert "no answer of yours" in page.locator(".toast").inner_text()


def test_a_contradiction_opens_a_dialog_with_the_path(visit, axe_rules):
    page = visit(bypass_csp=True)
    for rows in ((140, 141), (141, 142)):
        ask(page, "/api/say", verb="link", rows=list(rows))
    put(page, [140, 142])
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    assert axe_rules(page) == {}
    assert dialog.locator(".path li").count() == 2
    before = len(answers_of(page, "me"))
    assert page.evaluate("document.querySelector('dialog').contains(document.activeElement)")
    dialog.locator(".options button").first.focus()
    page.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    until = time.monotonic() + TRIES_MS / 1000
    while len(answers_of(page, "me")) >= before and time.monotonic() < until:
        page.wait_for_timeout(50)
    assert len(answers_of(page, "me")) < before
    assert ask(page, "/api/conflicts") == []


def test_triples_by_number(visit):
    page = visit(person="triple")
    page.get_by_label("Three", exact=True).check()
    page.wait_for_selector(".ask[data-kind=triple]")
    assert page.locator(".comparison thead th").count() == 3
    rows = [int(row) for row in re.findall(r"-(\d+)(?=-)", shown(page))]
    page.keyboard.press("2")
    assert saved(page, "triple", 1)[0]["answer"] in (rows[1], 1)


@pytest.mark.parametrize(
    ("key", "name", "word"),
    [("y", "All the same", "must-link"), ("n", "All different", "cannot-link")],
)
def test_triples_all_the_same_or_all_different(visit, key, name, word):
    page = visit(person=f"all {word}")
    page.get_by_label("Three", exact=True).check()
    page.wait_for_selector(".ask[data-kind=triple]")
    before = shown(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.querySelector('.ask').dataset.question !== before", arg=before
    )
    page.get_by_role("button", name=name).click()
    assert [a["answer"] for a in saved(page, f"all {word}", 2)] == [word, word]
    page.goto(f"{page.url.partition('#')[0]}#answers")
    page.get_by_text(name, exact=True).first.wait_for()


def piles_of(page):
    return [box.locator(".pile-card").count() for box in page.locator(".pile").all()]


def test_piles_by_keys_and_by_drag(visit):
    page = visit(person="piles")
    page.get_by_label("Piles", exact=True).check()
    page.wait_for_selector(".ask[data-kind=piles]")
    n = page.locator(".pile-card").count()
    assert n > 3
    page.keyboard.press("1")  # goes on to the next that lies unsorted
    page.keyboard.press("2")
    assert piles_of(page) == [1, 1, 0]
    card, pile = page.locator(".tray .pile-card").first, page.locator(".pile").nth(1)
    card.scroll_into_view_if_needed()
    start, end = card.bounding_box(), pile.bounding_box()
    page.mouse.move(start["x"] + 60, start["y"] + 15)
    page.mouse.down()
    page.mouse.move(end["x"] + 40, end["y"] + 40, steps=4)
    page.mouse.up()
    assert piles_of(page) == [1, 2, 0]
    page.keyboard.press("Enter")  # not yet: some lie unsorted
    for _ in range(n - 3):
        page.keyboard.press("3")
    assert piles_of(page)[:3] == [1, 2, n - 3]
    page.keyboard.press("Enter")
    said = saved(page, "piles", 1)[0]
    assert said["kind"] == "piles"
    assert page.locator(".saved").inner_text() != ""


def test_by_keyboard_alone(visit):
    # From the skip link over every page, an answer, and a choice in the list of clusters.
    page = visit(person="keyboard")
    shown(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    for name in PAGES[1:]:
        for _ in range(12):
            if page.evaluate("document.activeElement.id") == f"to-{name}":
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#to-{name}[aria-current=page]")
        # The heading is read, and the next Tab goes on into the page.
        assert page.evaluate("document.activeElement.tagName") == "H1"
        page.evaluate("document.getElementById('skip').focus()")
    page.goto(page.url.partition("#")[0] + "#question")
    shown(page)
    page.locator(".rest .unsure").focus()
    page.keyboard.press("Enter")
    saved(page, "keyboard", 1)
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    page.get_by_label("Single keys answer").uncheck()
    page.keyboard.press("Escape")
    before = shown(page)
    page.keyboard.press("y")
    page.wait_for_timeout(200)
    assert shown(page) == before  # single keys are switched off


def has_clusters(page, n):
    """Wait for a clustering into so many."""
    page.wait_for_function(
        "n => document.querySelectorAll('.clusters tbody tr').length === n", arg=n, timeout=FIT_MS
    )


def test_merge_on_the_map_makes_one_of_two(visit, own_studio):
    # What other tests answer may contradict the merge, which opens a dialog over the page.
    page = visit("map", url=own_studio.url)
    has_clusters(page, 3)
    boxes = page.locator(".clusters input")
    boxes.nth(0).check()
    boxes.nth(1).check()
    assert page.locator("#chosen-title").inner_text() == "2 clusters chosen"
    page.evaluate(NO_PATIENCE)  # Undo stays as long as somebody looks at what came of it
    page.get_by_role("button", name="Merge").click()
    page.locator(".toast button").wait_for()
    has_clusters(page, 2)
    page.locator(".toast button").click()
    has_clusters(page, 3)


def test_points_are_chosen_by_click_lasso_and_keys(visit):
    page = visit("map", person="map")
    page.wait_for_function("() => document.querySelectorAll('.clusters tbody tr').length > 1")
    box = page.locator("canvas.over").bounding_box()
    page.get_by_label("Lasso", exact=True).check()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    for x, y in ((0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.02)):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=3)
    page.mouse.up()
    title = page.locator("#chosen-title")
    assert int(re.match(r"\d+", title.inner_text())[0]) > 100
    page.get_by_role("button", name="These are one").wait_for()
    page.keyboard.press("Escape")
    assert title.inner_text() == "Nothing chosen"
    page.locator("canvas.over").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert title.inner_text() == "2 rows chosen"
    page.keyboard.press("n")
    page.locator(".toast").wait_for()
    said = saved(page, "map", 1)
    assert said[0]["from"] == "map"


def test_a_row_under_the_pointer_is_shown(visit):
    page = visit("map")
    page.wait_for_function("() => document.querySelectorAll('.clusters tbody tr').length > 1")
    page.get_by_label("Find a row").fill("flower 77")
    page.wait_for_function(
        "() => document.querySelector('.row-name')?.innerText.includes('flower 77')"
    )
    assert "sepal length" in page.locator(".row-card").inner_text()


def test_files_are_taken_home_and_answers_brought_along(visit, tmp_path):
    page = visit("progress", accept_downloads=True)
    page.wait_for_selector(".exports a")
    begins = {
        "labels.csv": b"id,label,",
        "constraints.csv": b"a,b,",
        "answers.jsonl": b"{",
        "report.html": b"<!doctype html>",
    }
    for name, head in begins.items():
        with page.expect_download() as download:
            page.locator(f".exports a[download='{name}']").click()
        content = Path(download.value.path()).read_bytes()
        assert content.lower().startswith(head.lower()), (name, content[:60])
        assert download.value.suggested_filename == name
    links = tmp_path / "links.csv"
    links.write_text(
        "a,b,type\nflower 1,flower 2,must-link\nflower 1,nobody,must-link\n", encoding="utf-8"
    )
    page.locator("#import").set_input_files(links)
    page.wait_for_function(
        "() => document.querySelector('[aria-labelledby=in] [role=status]').innerText.includes('1 statement')"
    )
    assert "nobody" in page.locator("[aria-labelledby=in] [role=status]").inner_text()


def test_suspects_are_kept_dropped_or_asked_again(visit):
    page = visit("answers")
    page.wait_for_selector(".answered li")
    doubtful = {
        **ask(page, "/api/answers?order=time&limit=1")["answers"][0],
        "suspect": True,
        "doubt": 0.93,
    }
    page.route(
        "**/api/answers?*", lambda route: route.fulfill(json={"total": 1, "answers": [doubtful]})
    )
    page.reload()
    page.locator(".answered .suspect").wait_for()
    assert "93%" in page.locator(".doubt").inner_text()
    page.get_by_role("button", name="Keep").click()
    page.locator(".toast").wait_for()
    page.get_by_role("button", name="Ask again").click()
    page.wait_for_selector("#to-question[aria-current=page]")
    rows = {int(row) for row in re.findall(r"-(\d+)(?=-)", shown(page))}
    assert rows == set(doubtful["samples"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules(visit, axe_rules, scheme):
    page = visit(bypass_csp=True, color_scheme=scheme, reduced_motion="reduce")
    shown(page)
    assert axe_rules(page) == {}
    for kind in ("Three", "Piles"):
        page.get_by_label(kind, exact=True).check()
        shown(page, KINDS[kind])
        assert axe_rules(page) == {}, kind
    for opener in ("#help", "#who"):
        page.locator(opener).click()
        page.get_by_role("dialog").wait_for()
        assert axe_rules(page) == {}, opener
        page.keyboard.press("Escape")
    for name in PAGES[1:]:
        turn_to(page, name)
        if name == "map":
            page.locator(".clusters input").first.check()
            page.wait_for_selector(".panel.active h3")
        assert axe_rules(page) == {}, name


@pytest.mark.parametrize("width", [PHONE["width"], 3840])
def test_no_page_scrolls_sideways(visit, width):
    page = visit(viewport={"width": width, "height": 900})
    for kind in KINDS:
        page.get_by_label(kind, exact=True).check()
        shown(page, KINDS[kind])
        assert_fits(page, width)
    for name in PAGES[1:]:
        turn_to(page, name)
        assert_fits(page, width)


def assert_fits(page, width):
    """Nothing is wider than the window, once long cells are folded; says what is."""
    for _ in range(TRIES_MS // 100):
        if page.evaluate("document.documentElement.scrollWidth") <= width:
            return
        page.wait_for_timeout(100)  # not wait_for_function, which waits for the page to be painted
    wide = page.evaluate(
        """width => [...document.querySelectorAll("body *")]
        .map((e) => [e.tagName, e.className, e.getBoundingClientRect().right, e.textContent])
        .filter((e) => e[2] > width)"""
    )
    pytest.fail(f"{page.url}: wider than {width}: {wide[:20]}")


def test_cells_are_words_and_nothing_else(visit):
    page = visit(person="hostile")
    put(page, [0, 10])
    cells = page.locator(".comparison").inner_text()
    assert "<script>document.title='owned'</script>" in cells
    assert page.locator(".comparison script, .comparison img").count() == 0
    addresses = page.locator(".comparison a").evaluate_all(
        "all => all.map((a) => [a.protocol, a.rel])"
    )
    assert all(protocol == "https:" and "noopener" in rel for protocol, rel in addresses)
    put(page, [6, 13])
    unfold = page.get_by_role("button", name="Show all").first
    box = page.locator(".fold").first
    height = box.bounding_box()["height"]
    unfold.click()
    assert box.bounding_box()["height"] > height
    for name in PAGES[1:]:
        turn_to(page, name)
    assert "owned" not in page.title()


def test_killed_and_started_again_no_answer_is_lost(visit, tmp_path):
    # Answers given while the server is gone are kept, and sent when it is back.
    mine = open_studio(tmp_path, "sepal length,petal length")
    try:
        page = visit(url=mine.url, person="crash")
        for _ in range(2):
            shown(page)
            page.wait_for_timeout(200)
            page.keyboard.press("y")
        saved(page, "crash", 2)
        shown(page)
        page.wait_for_timeout(300)
        mine.kill()
        page.keyboard.press("n")
        page.locator("#line").wait_for()
        mine.start()
        page.locator("#line").wait_for(state="hidden")
        found = saved(page, "crash", 3)
        assert [one["answer"] for one in reversed(found)] == [
            "must-link",
            "must-link",
            "cannot-link",
        ]
        shown(page)
    finally:
        mine.close()


def test_dark_and_light_by_a_switch(visit):
    page = visit(color_scheme="light")

    def ground():
        return sum(
            map(
                int,
                re.findall(
                    r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor")
                )[:3],
            )
        )

    assert ground() > 600
    page.get_by_label("Light or dark").click()
    assert ground() < 150
    page.reload()
    page.wait_for_selector("main h1")
    assert ground() < 150


def test_without_the_token_nothing_is_shown(browser, studio):
    page = browser.new_page()
    reply = page.goto(studio.base)
    assert reply.status == 403
    assert "token" in page.inner_text("body")
    page.close()
