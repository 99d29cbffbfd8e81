"""The page in a real browser: Playwright drives the distribution's chromium."""

import pytest

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture
def visit(browser):
    """Open a report; what it logs, and any request it makes, fails the test."""
    pages, troubles = [], []

    def call(path, viewport):
        page = browser.new_page(viewport=viewport)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith("file://") else troubles.append(request.url)
            ),
        )
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield call
    for page in pages:
        page.close()
    assert troubles == []


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("which", ["small_report", "large_report"])
def test_it_fits_the_screen_and_runs_no_name(which, viewport, visit, request):
    page = visit(request.getfixturevalue(which), viewport)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.title().startswith("Clusters of <script>")
    box = page.locator("#map").bounding_box()
    assert box["width"] > 0.8 * min(viewport["width"], 1000)
    assert box["width"] / box["height"] == pytest.approx(1000 / 700, rel=0.02)


@pytest.mark.parametrize("which", ["small_report", "large_report"])
def test_the_map_is_not_blank(which, visit, request):
    # Count pixels in the colours of clusters, on screen.
    page = visit(request.getfixturevalue(which), DESK)
    image = page.locator("#map").screenshot()
    Image = pytest.importorskip("PIL.Image", reason="needs pillow")
    import io

    pixels = Image.open(io.BytesIO(image)).convert("RGB").getcolors(1 << 20)
    colored = sum(n for n, (r, g, b) in pixels if max(r, g, b) - min(r, g, b) > 60)
    assert colored > 1000


@pytest.mark.parametrize("which", ["small_report", "large_report"])
def test_a_row_is_found_by_name_and_a_cluster_by_keyboard(which, visit, request):
    page = visit(request.getfixturevalue(which), DESK)
    page.get_by_label("Find a row").fill("ünïcödé")
    told = page.locator("#told").inner_text()
    assert told.startswith("Row ünïcödé 漢字 🙂 14: cluster 2 · ")
    page.get_by_label("Find a row").fill("nobody")
    assert "No row" in page.locator("#told").inner_text()
    button = page.locator(".legend button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    if which == "small_report":
        assert page.locator(".points path.faded").count() == 2
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    switch = page.get_by_role("button", name="lines of broken statements")
    switch.click()
    assert switch.get_attribute("aria-pressed") == "false"
    if which == "small_report":
        assert page.locator("g.broken").get_attribute("visibility") == "hidden"


@pytest.mark.parametrize("which", ["small_report", "large_report"])
def test_lines_of_statements_lie_over_the_points(which, visit, request):
    # Hiding the lines of broken statements takes red pixels off the map; those of kept ones, black.
    Image = pytest.importorskip("PIL.Image", reason="needs pillow")
    import io

    page = visit(request.getfixturevalue(which), DESK)

    def count(is_line):
        image = Image.open(io.BytesIO(page.locator("#map").screenshot())).convert("RGB")
        return sum(n for n, rgb in image.getcolors(1 << 20) if is_line(*rgb))

    def red(r, g, b):
        return r > 150 and g < 110 and b < 110

    def black(r, g, b):
        return max(r, g, b) < 110 and max(r, g, b) - min(r, g, b) < 40

    for sort, is_line in (("broken", red), ("kept", black)):
        before = count(is_line)
        page.get_by_role("button", name=f"lines of {sort} statements").click()
        page.wait_for_timeout(100)
        assert before - count(is_line) > 300, sort


def test_a_table_wider_than_the_screen_says_so(small_report, visit):
    page = visit(small_report, PHONE)
    wide = page.evaluate(
        """() => [...document.querySelectorAll('.wide')].filter((box) => box.offsetParent)
        .map((box) => [box.scrollWidth > box.clientWidth + 1, box.classList.contains('more')])"""
    )
    assert any(is_wide for is_wide, _ in wide)
    assert all(is_wide == says_so for is_wide, says_so in wide)


def test_in_the_dark_words_are_light(browser, small_report):
    page = browser.new_page(viewport=DESK, color_scheme="dark")
    page.goto(small_report.as_uri())
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    page.close()
    assert sum(map(int, ground[4:-1].split(","))) < 150 < 450 < sum(map(int, ink[4:-1].split(",")))


def test_a_row_under_the_pointer_is_named(small_report, visit):
    page = visit(small_report, DESK)
    where = page.evaluate(
        """() => {
        const data = JSON.parse(document.getElementById('map-data').textContent);
        const box = document.getElementById('map').getBoundingClientRect();
        const i = data.ids.findIndex((id) => id.startsWith('ünï'));
        return [box.left + data.x[i] / data.width * box.width,
                box.top + data.y[i] / data.height * box.height, data.labels[i]];
    }"""
    )
    page.mouse.move(where[0], where[1])
    assert f"cluster {where[2]}" in page.locator("#told").inner_text()


def test_keyboard_reaches_everything(small_report, visit):
    page = visit(small_report, DESK)
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.tagName + '.' + document.activeElement.className")
        )
    assert {"BUTTON.", "INPUT.", "DIV.wide"} <= reached


@pytest.mark.parametrize(
    ("which", "viewport"), [("small_report", DESK), ("large_report", PHONE)], ids=["desk", "phone"]
)
def test_accessibility_rules(which, viewport, visit, request, axe_rules):
    # axe is put into the page by hand, which the page's own policy forbids: open without it.
    path = request.getfixturevalue(which)
    content = path.read_text(encoding="utf-8").replace("Content-Security-Policy", "x-none")
    loose = path.with_name(f"loose-{path.name}")
    loose.write_text(content, encoding="utf-8")
    assert axe_rules(visit(loose, viewport)) == {}
