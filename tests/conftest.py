"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Compiling a kernel on its first call takes seconds, which is not a slow example.
settings.register_profile(
    "conclust",
    deadline=None,
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("conclust")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the papers' data sets; the test is skipped where it is absent."""
    folder = os.environ.get("CONCLUST_DATA")
    if not folder or not (Path(folder) / "MANIFEST.json").is_file():
        pytest.skip("needs the papers' data sets: set CONCLUST_DATA to their folder")
    return Path(folder)
