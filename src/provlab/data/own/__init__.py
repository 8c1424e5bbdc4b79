"""Reading of a user's own file: from its path and settings to features, target and groups.

`settings` checks the user's settings, and `roles` the roles of the columns. `formats`
reads any format into a `Table` (text by `text`, `arff` and `excel`), and `columns` and
`target` turn it into numbers. The file is not trusted: nothing in it is executed, and
content that would exceed the memory limit is refused before memory is allocated.
"""
