"""Fixtures shared by all tests, and how property tests choose their examples."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

# The plain run is the same everywhere and each time: a test that fails for one person fails for
# all. Compiling a kernel on its first call takes seconds, which is not a slow example.
settings.register_profile(
    "conclust",
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# `pytest --hypothesis-profile=random` looks for new examples. A failure prints the decorator that
# repeats it, and stays in the database, so the next random run begins with it.
settings.register_profile(
    "random",
    settings.get_profile("conclust"),
    derandomize=False,
    database=DirectoryBasedExampleDatabase(".hypothesis/examples"),
    print_blob=True,
)
settings.load_profile("conclust")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the papers' data sets; the test is skipped where it is absent."""
    folder = os.environ.get("CONCLUST_DATA")
    if not folder or not (Path(folder) / "MANIFEST.json").is_file():
        pytest.skip("needs the papers' data sets: set CONCLUST_DATA to their folder")
    return Path(folder)


CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def _no_browser(reason):
    """Skip; where browser tests must run, as in continuous integration, fail."""
    if os.environ.get("CONCLUST_REQUIRE_BROWSER"):
        pytest.fail(f"CONCLUST_REQUIRE_BROWSER is set, and this {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser():
    """Debian's chromium, driven by Playwright."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _no_browser("needs playwright: pip install playwright")
    if CHROMIUM is None:
        _no_browser("needs chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe_rules():
    """What the rules of axe find on a page: nothing, or names of rules and where they are broken."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        _no_browser("needs axe: pip install axe-playwright-python")

    def broken(page):
        found = Axe().run(page).response["violations"]
        return {v["id"]: [node["html"][:160] for node in v["nodes"][:3]] for v in found}

    return broken


@pytest.fixture(scope="module")
def directions():
    """Twelve directions, 10 to 60 rows about each."""
    rng = np.random.RandomState(0)
    sizes = rng.randint(10, 60, size=12)
    y = np.repeat(np.arange(12), sizes)
    X = rng.normal(size=(12, 20))[y] + 0.4 * rng.normal(size=(len(y), 20))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y
