"""Which features of a table to keep: the procedure of `select`, its result, and its sentences."""
