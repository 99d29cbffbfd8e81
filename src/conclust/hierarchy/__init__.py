"""Hierarchies from relative statements: ReCon."""

from conclust.hierarchy._recon import ReCon

__all__ = ["ReCon"]
