"""Algorithms as plain functions of arrays, without validation or state."""
