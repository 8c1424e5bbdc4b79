"""The current project: its folders, its papers, what it trusts, and the documents that all rooms read."""
