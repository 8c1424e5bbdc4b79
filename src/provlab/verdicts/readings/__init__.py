"""Readings: every defensible reading of the open places of a paper, and the verdict on each claim under all of them."""
