"""Stored trials, computed again: a random sample of a store is re-run from its records alone, and compared.

`sample` draws keys, `records` reads what is stored of them, `cells` and `rebuild` make cells and tasks of that,
`compare` says what is the same, `agreement` how far kinds of machines agree, `ledger` keeps the `outcomes`, and
`session` goes from one to the next.
"""

from provlab.audit.agreement import Agreement, ColumnAgreement
from provlab.audit.compare import CLOSE, DIFFERENT, IDENTICAL, Difference, compare
from provlab.audit.ledger import read_audits
from provlab.audit.outcomes import AuditRun, TrialOutcome
from provlab.audit.session import run_audit

__all__ = [
    "CLOSE",
    "DIFFERENT",
    "IDENTICAL",
    "Agreement",
    "AuditRun",
    "ColumnAgreement",
    "Difference",
    "TrialOutcome",
    "compare",
    "read_audits",
    "run_audit",
]
