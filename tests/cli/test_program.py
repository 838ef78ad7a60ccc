import json
from pathlib import Path

from .conftest import Run


def test_a_program_from_a_file_and_from_standard_input(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text("from fractions import Fraction\nprint(Fraction(2, 4))\n")
    ran = cfr("program", "answer.py")
    assert (ran.code, ran.out, ran.err) == (0, "1/2\n", "")
    piped = cfr("program", "-", stdin=b"print(6 * 7)")
    assert (piped.code, piped.out) == (0, "42\n")


def test_one_that_fails_says_why_in_one_line(cfr: Run) -> None:
    ran = cfr("program", "-", stdin=b"print('so far')\nraise ValueError('a\\nb \\x1b[31m')")
    assert ran.code == 1
    assert ran.out == "so far\n"
    assert ran.err == "cfr: ValueError: a b �[31m\n"


def test_for_programs(cfr: Run) -> None:
    ran = cfr("program", "-", "--json", stdin=b"print('\\x1b[2J')")
    assert "\x1b" not in ran.out
    said = json.loads(ran.out)
    assert (said["text"], said["error"]) == ("\x1b[2J\n", "")
    assert said["seconds"] > 0
    failed = cfr("program", "-", "--json", stdin=b"1 / 0")
    assert failed.code == 1
    assert json.loads(failed.out)["error"] == "ZeroDivisionError: division by zero"


def test_its_limits_can_be_set(cfr: Run) -> None:
    slow = cfr("program", "-", "--time", "0.1", stdin=b"while True: pass")
    assert (slow.code, slow.err) == (1, "cfr: TimeoutError: stopped after 0.1 s\n")
    large = cfr("program", "-", "--memory", "8", stdin=b"x = [0] * 10**7")
    assert (large.code, large.err) == (1, "cfr: MemoryError: needs more than 8 MB\n")


def test_what_is_wrong_with_the_input_is_named(cfr: Run, tmp_path: Path) -> None:
    absent, folder = cfr("program", "absent.py"), cfr("program", ".")
    assert (absent.code, folder.code) == (2, 2)
    assert absent.err.startswith("cfr: absent.py: cannot be read")
    assert folder.err.startswith("cfr: .: a folder, not a file")
    assert cfr("program", "-", stdin=b"\xff").code == 2
    assert cfr("program", "-", "--memory", "0").code == 2


def test_a_program_sees_nothing_of_the_host(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("4711")
    for source in ("print(open('secret.txt').read())", "import os\nprint(os.environ['KEY'])"):
        ran = cfr("program", "-", stdin=source.encode(), KEY="4711")
        assert ran.code == 1
        assert "4711" not in ran.out + ran.err
