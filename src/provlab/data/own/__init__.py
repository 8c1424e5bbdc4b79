"""A user's own file: in come its path and settings, out go a table, and its columns as features, target and groups.

`settings` checks what the user says, `roles` which column is what; `formats` reads any format into a `Table` (text by
`text`, `arff` and `excel`); `columns` and `target` make numbers of it. Such a file is of unknown intent: nothing in it
is run, and what would take more memory than the limit is refused before anything asks for it.
"""
