"""Methods beside each other: `select`, `compare`, `rank`, runs of your own data, and the panel of the benchmark.

Input: arrays, cells or settings; trials that the store lacks are computed by `provlab.run`. Out go tables:
`Selected`, `Comparison`, `RunTable`, `Standing` and `OnData`, with their pages by `provlab.report`.
"""
