"""Methods beside each other: comparisons, ranks, runs of one's own data, and the panel."""
