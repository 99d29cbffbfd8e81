"""Fixtures shared by all tests, and how property tests choose their examples."""

import os
from pathlib import Path

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
