"""The benchmark of feature selection: a panel of data sets and methods, and what was measured of each pair."""
