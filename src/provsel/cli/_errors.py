"""What bad input raises. Apart from `_guard`, as a command that prints its help has no use for Hydra."""

from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

ERRORS = (ValueError, OSError, HydraException, OmegaConfBaseException)
"""Shown as one message, without a traceback."""
