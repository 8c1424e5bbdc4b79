"""Selection of the features of a table: the procedure of `select`, its result, and its sentences."""
