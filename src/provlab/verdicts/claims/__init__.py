"""Executable claims: each claim of a paper is an entry with a rule, and `provsel verify` gives its verdict."""
