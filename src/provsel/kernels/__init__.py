"""Plain functions of arrays: the algorithms, without validation and without state."""
