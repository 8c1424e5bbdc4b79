"""The laboratory: runs, stores, judges and shows experiments with the selectors of `provsel`, or with your own."""
