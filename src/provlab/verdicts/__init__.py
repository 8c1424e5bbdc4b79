"""Conclusions from the numbers: claims, readings, and tests of differences and ranks."""
