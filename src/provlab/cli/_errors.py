"""What bad input raises. Apart from `_guard`, as a command that prints its help has no use for configs."""

from provlab.configs import config_errors

ERRORS: tuple[type[Exception], ...] = (OSError, *config_errors())
"""Shown as one message, without a traceback."""
