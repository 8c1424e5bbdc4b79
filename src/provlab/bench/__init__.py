"""Methods beside each other: runs of your own data, `compare`, `rank`, and the panel of the benchmark.

In come arrays, cells or settings; trials are computed by `provlab.run` where the store lacks them. Out go tables:
`Comparison`, `RunTable`, `Standing` and `OnData`, with their pages by `provlab.report`.
"""
