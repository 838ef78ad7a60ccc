from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

import pytest
from hand_made import arm, study

from constraint_first.report import report as provenance
from constraint_first.report.report import about, title
from constraint_first.report.study import Study


def finished(*times: float) -> Study:
    one = arm("direct", {str(n): "+" for n in range(len(times))})
    for problem, time in zip(one.attempts, times, strict=True):
        one.attempts[problem] = [replace(a, finished_at=time) for a in one.attempts[problem]]
    return study(one)


def test_a_title_names_methods_and_models() -> None:
    direct = arm("direct", {"p": "+"}, model="deepseek-chat")
    assert title(study(direct)) == "1 method with DeepSeek-V4-Pro"
    assert title(study(direct, arm("cfr", {"p": "+"}, model="b"))) == "2 methods with 2 models"
    assert title(study(arm("direct", {"p": "+"}, model=""))) == "1 method compared"


def test_what_a_study_holds() -> None:
    made = study(arm("direct", {"p": "+-", "q": "?"}), arm("cfr", {"p": "+"}))
    assert about(made) == (
        f"by hand: 2 problems, 4 attempts; constraint-first {version('constraint-first')}"
    )


def test_days_are_given_once_and_only_where_they_are_known() -> None:
    day = 86_400
    assert "attempts made 1970-01-02;" in about(finished(day, 0, day + 5))
    assert "attempts made 1970-01-02 to 1970-01-04;" in about(finished(3 * day, day))
    assert "made" not in about(finished(0.0))


def test_software_without_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(provenance, "version", missing)
    assert about(finished(0.0)).endswith("; constraint-first")
