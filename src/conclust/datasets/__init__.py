"""The papers' data sets by name, and the artificial ones by rule."""

from conclust.datasets._catalog import names, table
from conclust.datasets._generators import make_balance_scale, make_monks, make_wedges
from conclust.datasets._load import load

__all__ = ["load", "make_balance_scale", "make_monks", "make_wedges", "names", "table"]
