"""Figures: curves, differences, ranks, and what becomes of a claim over all readings; one function a figure."""

from provlab.project.messages import explained

try:
    import matplotlib  # noqa: F401 - each module of this folder needs it, or is used by pages that do
except ModuleNotFoundError as error:
    raise explained(error) from None
