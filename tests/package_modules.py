"""All modules of the package, imported: but for adapters whose tool is not installed."""

import importlib
import pkgutil

import cfr

__all__ = ["import_all"]


def import_all() -> None:
    for module in pkgutil.walk_packages(cfr.__path__, "cfr."):
        if module.name == "cfr.__main__":
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:
            assert module.name.startswith("cfr.adapter."), module.name
