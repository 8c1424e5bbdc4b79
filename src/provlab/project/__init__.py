"""The current project: its folders, its papers, its trusted modules, and the documents that all rooms read."""
