"""Docstrings: every public name has an example, and every example gives what it says."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import provlab
import provsel

MODULES = [found.name for found in pkgutil.walk_packages(provsel.__path__, "provsel.")]
MODULES += sorted({getattr(provlab, name).__module__ for name in provlab.__all__} - set(MODULES))
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
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
    return [each for each in found if each.examples]


@pytest.mark.parametrize("name", [name for name in MODULES if examples(name)])
def test_examples_give_what_they_say(name):
    runner, said = doctest.DocTestRunner(), []
    for each in examples(name):
        runner.run(each, out=said.append)
    assert runner.failures == 0, "".join(said)


def public_names():
    found = []
    for package in PUBLIC:
        module = importlib.import_module(package)
        own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == package]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                found.append(pytest.param(value, id=f"{package}.{name}"))
    return found


@pytest.mark.parametrize("value", public_names())
def test_every_public_name_has_an_example(value):
    text = inspect.getdoc(value) or ""
    assert "Examples\n--------\n>>> " in text, f"{value.__name__}: an Examples section that runs as a doctest"
