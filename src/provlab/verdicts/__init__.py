"""Conclusions from results: claims, readings, and tests of differences and ranks."""
