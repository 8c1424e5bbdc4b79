"""Docstrings: every public name has an example, and every example gives what it says."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import provlab
import provsel
from provsel.certificates import (
    THEOREMS,
    Certificate,
    CompressedRecovery,
    RidgeRegressionCost,
    RidgeRegressionRisk,
)

MODULES = [
    module.name for module in pkgutil.walk_packages(provsel.__path__, "provsel.")
]
MODULES += sorted(
    {getattr(provlab, name).__module__ for name in provlab.__all__} - set(MODULES)
)
PUBLIC = [
    "provsel.stability",
    "provsel.selectors",
    "provsel.models",
    "provsel.certificates",
    "provsel.streams",
    "provsel.training_view",
    "provlab",
]


def examples(name):
    doctests = doctest.DocTestFinder(exclude_empty=True).find(
        importlib.import_module(name)
    )
    return [test for test in doctests if test.examples]


@pytest.mark.parametrize("name", [name for name in MODULES if examples(name)])
def test_examples_give_what_they_say(name):
    runner = doctest.DocTestRunner()
    said = []
    for test in examples(name):
        runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)


def public_names():
    parameters = []
    for package in PUBLIC:
        module = importlib.import_module(package)
        own = [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == package
        ]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                parameters.append(pytest.param(value, id=f"{package}.{name}"))
    return parameters


@pytest.mark.parametrize("value", public_names())
def test_every_public_name_has_an_example(value):
    text = inspect.getdoc(value) or ""
    assert "Examples\n--------\n>>> " in text, (
        f"{value.__name__}: an Examples section that runs as a doctest"
    )


@pytest.mark.parametrize("value", public_names())
def test_every_public_parameter_has_a_description(value):
    text = inspect.getdoc(value) or ""
    _, _, section = text.partition("Parameters\n----------\n")
    section, _, _ = section.partition("\n\n")
    without = re.findall(r"^(\S.*)$(?!\n    )", section, re.M)
    assert without == [], f"{value.__name__}: a line below each parameter"


def options():
    for name in ("provsel.selectors", "provsel.models"):
        module = importlib.import_module(name)
        for cls in (value for value in vars(module).values() if inspect.isclass(value)):
            for parameter in inspect.signature(cls).parameters.values():
                text = str(parameter.annotation)
                stated = re.search(
                    rf"^{parameter.name} : {{(.*)}}, default",
                    inspect.getdoc(cls),
                    re.MULTILINE,
                )
                if stated or text.startswith("Literal"):
                    yield pytest.param(
                        text,
                        stated,
                        parameter.default,
                        id=f"{cls.__name__}.{parameter.name}",
                    )


@pytest.mark.parametrize(("text", "stated", "default"), [*options()])
def test_options_have_the_types_that_their_docstring_states(text, stated, default):
    values = ast.literal_eval(f"[{stated[1]}]")
    assert text == f"Literal[{', '.join(map(repr, values))}]"
    assert default in values


def test_a_certificate_completes_the_records_of_every_theorem():
    """Type checkers read them in the source, as a certificate has others at run time."""
    source = inspect.getsource(Certificate)
    typed = dict(re.findall(r"^        (\w+): ClassVar\[(.*)\]$", source, re.MULTILINE))
    theorems = [*THEOREMS, RidgeRegressionCost, RidgeRegressionRisk]
    assert {theorem.name for theorem in theorems} == set(typed)
    assert all(
        theorem.__name__ in typed[theorem.name].split(" | ") for theorem in theorems
    )
    assert "recovery" in dir(Certificate((CompressedRecovery(),)))
