"""The current project: its folders, papers and trusted modules, and the documents that all packages read."""
