"""Readings: all defensible interpretations of what a paper leaves open, and the verdicts on its claims under them."""
