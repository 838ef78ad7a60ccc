"""All modules of the package, imported: but for adapters whose tool is not installed."""

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
            assert module.name.startswith("constraint_first.adapter."), module.name
