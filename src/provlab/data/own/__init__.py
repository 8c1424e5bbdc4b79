"""A user's own file: in come its path and settings, out go a table, and its columns as features, target and groups.

`settings` checks the user's settings, `roles` the roles of the columns; `formats` reads any format into a `Table` (text
by `text`, `arff` and `excel`); `columns` and `target` turn it into numbers. Such a file is untrusted: nothing in it is
run, and anything that would need more memory than the limit is refused before memory is allocated.
"""
