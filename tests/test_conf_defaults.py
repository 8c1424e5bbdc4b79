"""A default in conf/ is the default of the class, or the line says why not."""

import inspect
import json
import re

import pytest
import yaml

from provlab.project.components import component_class, inner_kind
from small_runs import REPO

COMPONENTS = sorted(
    path
    for kind in ("selector", "model")
    for path in (REPO / "conf" / kind).glob("*.yaml")
    if path.stem != "any"
)


def not_the_defaults(kind, node):
    """Yield key, line, value and default of the arguments in a YAML node that are not the class's, nested ones too."""
    stated = {key.value: value for key, value in node.value}
    if "_target_" not in stated:  # a model by task
        for inner in stated.values():
            yield from not_the_defaults(kind, inner)
        return
    target = stated["_target_"].value
    arguments = inspect.signature(
        component_class(kind, {"_target_": target})
    ).parameters
    for key, value in node.value:
        if isinstance(value, yaml.MappingNode):
            inner = {name.value: inner_node.value for name, inner_node in value.value}
            yield from not_the_defaults(inner_kind(inner), value)
        elif key.value != "_target_":
            if key.value not in arguments:  # another spelling of an argument
                continue
            default = arguments[key.value].default
            if inspect.isfunction(default):
                default = default.__name__
            stated_value = yaml.SafeLoader("").construct_object(value)
            if default is not inspect.Parameter.empty and (type(default), default) != (
                type(stated_value),
                stated_value,
            ):
                yield key.value, value.end_mark.line, stated_value, default


@pytest.mark.parametrize(
    "path", COMPONENTS, ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_default_is_the_class_s_or_says_why_not(path):
    text = path.read_text()
    said = {
        n: line for n, line in enumerate(text.splitlines()) if "not the default" in line
    }
    for name, n, value, default in not_the_defaults(
        path.parent.name, yaml.compose(text, yaml.SafeLoader)
    ):
        wanted = f"# not the default {json.dumps(default)}: "
        assert re.search(rf"{re.escape(wanted)}\w", said.pop(n, "")), (
            f"{path.name}: {name} is {value!r}, in the class {default!r}; write '{wanted}reason' beside it"
        )
    assert not said, "says of a default that it is none"
