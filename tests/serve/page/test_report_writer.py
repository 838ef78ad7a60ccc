import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from constraint_first.error import CfrError
from constraint_first.serve.page.site import FOLDER, STEPS, ZIP, ReportOrder, write_report


def files(folder: Path) -> dict[str, bytes]:
    """Read all files of a folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def ordered(order: ReportOrder, place: Path) -> list[dict[str, object]]:
    """Have the process make a report, and return what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "constraint_first.serve.page.site", str(place)],
        input=order.to_json() + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_its_files_are_those_of_the_command(store: str, tmp_path: Path) -> None:
    told = ordered(ReportOrder((store,), method="cfr", cases=3), tmp_path)
    command = ("report", store, "-o", str(tmp_path / "cli"), "--method", "cfr", "--cases", "3")
    subprocess.run(
        [sys.executable, "-m", "constraint_first", *command],
        capture_output=True,
        timeout=300,
        check=True,
    )
    made = files(tmp_path / FOLDER)
    assert made == files(tmp_path / "cli")
    assert {"report.html", "report.md", "tables/main.tex", "figures/paired.svg"} <= made.keys()
    with zipfile.ZipFile(tmp_path / ZIP) as packed:
        names = {name for name in packed.namelist() if not name.endswith("/")}
        assert names == {f"report/{name}" for name in made}
        assert packed.read("report/report.html") == made["report.html"]
    assert [one.get("step") for one in told[:-1]] == [*STEPS]
    (claim,) = told[-1]["done"]  # pyright: ignore
    assert "CFR (always-on) is better than Direct CoT" in claim


def test_a_part_without_figures_and_with_marks(store: str, tmp_path: Path) -> None:
    classes = tmp_path / "classes.jsonl"
    classes.write_text("")
    order = ReportOrder(
        (store,),
        benchmark="constraintbench-mini",
        model="m-1",
        cases=0,
        figures=False,
        classes=str(classes),
    )
    assert write_report(order, tmp_path, lambda _: None)
    assert not [name for name in files(tmp_path / FOLDER) if name.startswith("figures")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "nothing"}, "has no model"),
        ({"method": "nothing"}, "has no method"),
        ({"runs": ["gone.db"]}, "there is no such store"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    store: str, tmp_path: Path, change: dict[str, str], said: str
) -> None:
    order = ReportOrder.from_json(json.dumps({"runs": [store]} | change))
    with pytest.raises(CfrError, match=said):
        write_report(order, tmp_path, lambda _: None)
    error = str(ordered(order, tmp_path)[-1]["error"])
    assert said in error
    assert "\n" not in error


def test_labels_that_are_broken_are_refused(store: str, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text("{\n")
    with pytest.raises(CfrError, match=r"labels\.jsonl, line 1"):
        write_report(ReportOrder((store,), labels=str(labels)), tmp_path, lambda _: None)


def test_an_order_is_read_as_it_was_written() -> None:
    order = ReportOrder(("a", "postgresql://u:p@h/d"), method="<b>", figures=False, labels="x")
    assert ReportOrder.from_json(order.to_json()) == order
