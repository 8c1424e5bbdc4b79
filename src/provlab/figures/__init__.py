"""Figures: curves, differences, ranks, and what becomes of a claim over all readings; one function a figure."""
