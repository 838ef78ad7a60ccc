"""Commands that run programs say what those lack where only Monty is installed."""

import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from loopback import Endpoint
from sums import reply_right, write_sums

from constraint_first.cli import root

LACK = "programs run without sympy; Python 3.12 or newer has it\n"


@pytest.mark.skipif(not find_spec("pydantic_monty"), reason="pydantic-monty is not here")
@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("program {folder}/one.py", True),
        ("solve 'What is 1 + 1?' --method direct --base-url {url}", False),
        ("solve 'What is 1 + 1?' --method program --base-url {url}", True),
        (
            "eval {folder}/sums.jsonl --method vote {options}",
            True,
        ),
        (
            "eval {folder}/sums.jsonl --method cfr {options}",
            False,
        ),
    ],
)
def test_a_lack_of_sympy_is_said_once_where_programs_run(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, *, runs: bool
) -> None:
    monkeypatch.setattr(
        "constraint_first.sandbox.interpreter.find_spec", {"pydantic_monty": True}.get
    )
    endpoint.respond = reply_right
    (tmp_path / "one.py").write_text("print(1 + 1)")
    write_sums(tmp_path / "sums.jsonl", 2)
    eval_options = f"--runs 1 --base-url {endpoint.url} --store {tmp_path}/runs.db"
    typed = command.format(folder=tmp_path, url=endpoint.url, options=eval_options)
    ran = CliRunner().invoke(root, shlex.split(typed))
    assert ran.exit_code == 0, ran.output
    assert ran.stderr.count(LACK) == runs
