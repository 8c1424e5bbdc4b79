"""Provable feature selection with measured guarantees, and replications of the papers behind it."""

__version__ = "0.1.0"
