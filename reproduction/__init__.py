"""The papers' figures and tables, redone: ``python -m reproduction PAPER``."""
