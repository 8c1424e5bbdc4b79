"""Figures of curves, differences, ranks, and verdicts under all readings; one function per figure."""

from provlab.project.messages import explained

try:
    import matplotlib  # noqa: F401 - each module of this folder, or the pages that use it, need Matplotlib
except ModuleNotFoundError as error:
    raise explained(error) from None
