"""Readings: every defensible way to read the open places of a paper, and what each claim becomes under all of them."""
