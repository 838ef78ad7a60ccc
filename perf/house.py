"""The size of the house: modules, lines, value classes and imports of a revision, beside others.

python perf/house.py [REVISION ...]     (`.`, the default, is the working tree)

Counted in the package below `src` (`cfr` in old revisions) as it stands; the standard library alone
is needed. What each row counts is said where it is counted.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The rooms that later work replaces, by their names now and before.
ROOMS = (
    "constraint/stated",
    "constraint/reply",
    *("sandbox/rewrite", "sandbox/generator", "sandbox/interference", "sandbox/syntax"),
)
DIRECTIVES = ("noqa", "pyright:", "type:", "fmt:", "ruff:", "pragma")


@dataclass(frozen=True)
class Tree:
    """The Python files of a revision by their paths."""

    files: Mapping[str, str]

    @property
    def package(self) -> str:
        """The folder of the package, which was renamed once."""
        return "src/constraint_first/" if self._has("src/constraint_first/") else "src/cfr/"

    def _has(self, folder: str) -> bool:
        return any(path.startswith(folder) for path in self.files)

    @property
    def modules(self) -> dict[str, str]:
        """The package's modules by their paths inside it."""
        return {
            path.removeprefix(self.package): text
            for path, text in self.files.items()
            if path.startswith(self.package)
        }


def read(revision: str) -> Tree:
    """Read the Python files of src and tests, from git or from the working tree."""
    if revision == ".":
        paths = [path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.py")]
        return Tree({path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths})
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", revision, "src", "tests"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = [one for one in tar if one.isfile() and one.name.endswith(".py")]
        return Tree({one.name: _text(tar, one) for one in members})


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = tar.extractfile(member)
    assert file is not None
    return file.read().decode()


def _is_init(path: str) -> bool:
    return path.endswith("__init__.py")


def _is_left_alone(path: str) -> bool:
    path = path.replace("engine/sandbox", "sandbox")
    return path.startswith(ROOMS)


def _lines(tree: Tree, folder: str) -> int:
    return sum(
        text.count("\n") for path, text in tree.files.items() if path.startswith(f"{folder}/")
    )


def _value_classes(tree: Tree) -> list[ast.ClassDef]:
    """Dataclasses and named tuples."""
    return [node for node in _nodes(tree) if isinstance(node, ast.ClassDef) and _is_value(node)]


def _nodes(tree: Tree) -> Iterator[ast.AST]:
    for text in tree.modules.values():
        yield from ast.walk(ast.parse(text))


def _is_value(node: ast.ClassDef) -> bool:
    named = [ast.unparse(one).partition("(")[0] for one in (*node.decorator_list, *node.bases)]
    return any(name.rpartition(".")[2] in ("dataclass", "NamedTuple") for name in named)


def _has_method(node: ast.ClassDef) -> bool:
    return any(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in node.body)


def _importers(tree: Tree) -> Counter[str]:
    """How many modules import each module, at their top or later; a package is no importer."""
    names = {_dotted(tree, path): path for path in tree.modules}
    pairs = {
        (path, names[name])
        for path, text in tree.modules.items()
        if not _is_init(path)
        for node in ast.walk(ast.parse(text))
        for name in _imported(node)
        if name in names and names[name] != path
    }
    return Counter(imported for _, imported in pairs if not _is_init(imported))


def _dotted(tree: Tree, path: str) -> str:
    whole = (tree.package + path).removeprefix("src/").removesuffix(".py")
    return whole.removesuffix("/__init__").replace("/", ".")


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
    return []


def _share_of_imports(tree: Tree) -> str:
    """Lines of imports and of ``__all__``, of all lines that are not blank."""
    spent = sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in _nodes(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_all(node)
    )
    lines = (line for text in tree.modules.values() for line in text.splitlines())
    return f"{spent / sum(1 for line in lines if line.strip()):.1%}"


def _is_all(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _comments(tree: Tree) -> str:
    """Lines with a comment, less the directives to tools, a thousand lines."""
    count = sum(
        token.type == tokenize.COMMENT
        and not token.string.lstrip("#! ").lower().startswith(DIRECTIVES)
        for text in tree.modules.values()
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )
    return f"{1_000 * count / _lines(tree, 'src'):.1f}"


def _shared_names(tree: Tree) -> int:
    """Names of files that stand in more than one folder."""
    named = Counter(path.rpartition("/")[2] for path in tree.modules if not _is_init(path))
    return sum(count > 1 for count in named.values())


ROWS: dict[str, Callable[[Tree], object]] = {
    "modules": lambda tree: len(tree.modules),
    "modules, without __init__": lambda tree: sum(not _is_init(p) for p in tree.modules),
    "... outside the rooms left alone": lambda tree: sum(
        not _is_init(p) and not _is_left_alone(p) for p in tree.modules
    ),
    "lines of src": lambda tree: _lines(tree, "src"),
    "lines of tests": lambda tree: _lines(tree, "tests"),
    "value classes": lambda tree: len(_value_classes(tree)),
    "... without a method": lambda tree: sum(not _has_method(n) for n in _value_classes(tree)),
    "modules with one importer": lambda tree: list(_importers(tree).values()).count(1),
    "imports and __all__": _share_of_imports,
    "comments per 1,000 lines": _comments,
    "module names used twice or more": _shared_names,
}


def main() -> None:
    revisions = sys.argv[1:] or ["."]
    trees = [read(revision) for revision in revisions]
    print(f"{'':34}" + "".join(f"{revision[:12]:>14}" for revision in revisions))
    for name, count in ROWS.items():
        values = (f"{value:,}" if isinstance(value := count(t), int) else value for t in trees)
        print(f"{name:34}" + "".join(f"{value:>14}" for value in values))


if __name__ == "__main__":
    main()
