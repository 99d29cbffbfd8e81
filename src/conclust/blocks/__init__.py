"""Rows that are not one array: files, folders and streams, read block by block."""

from conclust.blocks._open import open

__all__ = ["open"]
