"""Tests of claims. The folder is the registry: a module without a leading underscore holds one final class."""

from provlab.claims.evaluators._base import AbstractEvaluator
from provlab.claims.evaluators._comparison import AbstractComparison
from provlab.claims.evaluators._registry import evaluator_class, evaluator_names

__all__ = ["AbstractComparison", "AbstractEvaluator", "evaluator_class", "evaluator_names"]
