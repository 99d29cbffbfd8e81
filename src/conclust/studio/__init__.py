"""The studio: people answer in a browser, and the clusters follow."""

from typing import Any

__all__ = [
    "Data",
    "open_project",
    "serve",
]

_HOMES = {
    "Data": "_data",
    "Project": "_project",
    "Store": "_store",
    "open_project": "_open",
    "require_web": "_serve",
    "serve": "_serve",
    "write_all": "_export",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module 'conclust.studio' has no attribute {name!r}")
    return getattr(importlib.import_module(f"conclust.studio.{_HOMES[name]}"), name)
