"""What the benchmarks share. Each .py beside this folder but run.py is a benchmark.

`measure` has the clock, `cases` the common record of a measured case, `machine` the limits of this machine;
`scripts`, `runs`, `compare` and `table` are what run.py is made of, and `exponents`, `panels` and `sweeps` what
scaling.py is.
"""

from timing.cases import case, report, rules_table
from timing.machine import bandwidth_seconds, gemm_seconds
from timing.measure import cpu_seconds, in_turns, several

__all__ = ["bandwidth_seconds", "case", "cpu_seconds", "gemm_seconds", "in_turns", "report", "rules_table", "several"]
