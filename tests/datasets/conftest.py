"""A machine without data folder, cache or network, for tests that must not depend on any."""

from urllib.error import URLError

import pytest
import sklearn.datasets


@pytest.fixture
def bare_machine(monkeypatch, tmp_path):
    """Neither folder nor network; the cache is empty and its path is what the fixture gives."""

    def unreachable(**arguments):
        raise URLError("Name or service not known")

    cache = tmp_path / "cache"
    monkeypatch.delenv("CONCLUST_DATA", raising=False)
    monkeypatch.setenv("CONCLUST_CACHE", str(cache))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    return cache
