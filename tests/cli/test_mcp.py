import pytest
from click.testing import CliRunner

from constraint_first.cli import root
from constraint_first.cli import serve as mcp

from .conftest import Run


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(mcp, "find_spec", nothing)
    ran = CliRunner().invoke(root, ["mcp"])
    assert "pip install 'constraint-first[mcp]'" in str(ran.exception)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "nope"], "cfr: method 'nope': not known"),
        (
            ["--method", "vote(samples=8)", "--max-calls", "5"],
            "cfr: method 'vote(samples=8)': needs more than the 5 calls",
        ),
        (["--model", "nope"], "cfr: model 'nope': no .gguf file"),
        (["--http", "0"], "--http"),
    ],
)
def test_a_mistake_shows_at_the_start(cfr: Run, arguments: list[str], said: str) -> None:
    pytest.importorskip("mcp", reason="pip install 'constraint-first[mcp]'")
    ran = cfr("mcp", *arguments)
    assert (ran.code in (2, 3), ran.out) == (True, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_client_that_says_nothing_and_leaves_is_no_mistake(cfr: Run) -> None:
    pytest.importorskip("mcp", reason="pip install 'constraint-first[mcp]'")
    ran = cfr("mcp")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
