"""All modules of the package, imported: but for those whose tool is not installed."""

import importlib
import pkgutil

import constraint_first


def import_all() -> None:
    for module in pkgutil.walk_packages(constraint_first.__path__, "constraint_first."):
        if module.name == "constraint_first.__main__":
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:
            optional = ("constraint_first.adapter.", "constraint_first.sandbox.")
            assert module.name.startswith(optional), module.name
