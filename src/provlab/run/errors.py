"""Errors of runs that are about no trial."""


class ClusterError(OSError):
    """The cluster cannot do the work, or not any more."""
