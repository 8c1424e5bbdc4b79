"""The reader of YAML that every reader here is made of."""

from typing import Any

import yaml

SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Plain values only; libyaml's is ten times faster."""
