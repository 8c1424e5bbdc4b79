"""Which features of a table: the procedure of `select`, its result, and the sentences that say it."""
