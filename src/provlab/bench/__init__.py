"""Comparison of methods: `select`, `compare`, `rank`, runs on your own data, and the panel of the benchmark.

The input is arrays, cells or settings; `provlab.run` computes trials that the store
lacks. The output is tables: `Selected`, `Comparison`, `RunTable`, `Standing` and
`OnData`, with their pages by `provlab.report`.
"""
