"""Methods of other packages, installed for real: a module and its dist-info folder on the path."""

import sys
from pathlib import Path

import pytest

from constraint_first.method.method import MethodError
from constraint_first.method.registry import make, names

MODULE = """
from dataclasses import dataclass
from typing import ClassVar
import constraint_first

@dataclass(frozen=True)
class Echo:
    label: ClassVar[str] = "Echo"
    times: int = 1
    word: str = "echo"
    base: constraint_first.Method = constraint_first.make("direct")

    def solve(self, problem):
        return (yield from self.base.solve(problem))

NOTHING = 3

def useless() -> str:
    return "not a method"

def picky(size: int = 1) -> Echo:
    raise ValueError("size must be even")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "echo_method_for_tests.py").write_text(MODULE)
    points = {
        "echo": "echo_method_for_tests:Echo",
        "direct": "echo_method_for_tests:Echo",
        "missing": "no_such_module_for_tests:Echo",
        "gone": "echo_method_for_tests:gone",
        "nothing": "echo_method_for_tests:NOTHING",
        "useless": "echo_method_for_tests:useless",
        "picky": "echo_method_for_tests:picky",
        "twice": "echo_method_for_tests:Echo",
    }
    register(tmp_path, "echo-method", points)
    return tmp_path


def register(folder: Path, package: str, points: dict[str, str]) -> None:
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[cfr.methods]", *lines, ""]))


@pytest.mark.usefixtures("install")
def test_a_method_of_another_package_is_made_by_name() -> None:
    method = make("echo(times=3,word=hello,base=cfr(reply=json))")
    assert repr(method).startswith("Echo(times=3, word='hello', base=CFR(reply='json'")
    assert method.label == "Echo"
    assert "base=Echo(" in repr(make("self-consistency(base=echo,samples=2)"))


@pytest.mark.usefixtures("install")
def test_installed_methods_are_listed_without_being_imported() -> None:
    assert names()[-7:] == ("echo", "gone", "missing", "nothing", "picky", "twice", "useless")
    with pytest.raises(MethodError, match=r"'ecko': not known; did you mean 'echo'\?"):
        make("ecko")


@pytest.mark.usefixtures("install")
def test_a_built_in_method_cannot_be_replaced() -> None:
    assert make("direct").label == "Direct CoT"


@pytest.mark.usefixtures("install")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", r"no_such_module_for_tests:Echo of the package echo-method cannot be loaded"),
        ("gone", r"echo-method cannot be loaded \(AttributeError"),
        ("nothing", "echo-method is no factory"),
        ("useless", "'useless': its plugin made a str, which has no label"),
        ("picky", "'picky': size must be even"),
        ("echo(loud=1)", "'echo': no option 'loud'; choose from times, word, base"),
    ],
)
def test_a_broken_plugin_is_named(name: str, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        make(name)


def test_two_packages_with_the_same_method(install: Path) -> None:
    register(install, "other-method", {"twice": "elsewhere:Method"})
    with pytest.raises(MethodError, match=r"several packages \(echo-method, other-method\)"):
        make("twice")
