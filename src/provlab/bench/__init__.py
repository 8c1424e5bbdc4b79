"""Methods beside each other: `select`, `compare`, `rank`, runs of your own data, and the panel of the benchmark.

In come arrays, cells or settings; trials are computed by `provlab.run` where the store lacks them. Out go tables:
`Selected`, `Comparison`, `RunTable`, `Standing` and `OnData`, with their pages by `provlab.report`.
"""
