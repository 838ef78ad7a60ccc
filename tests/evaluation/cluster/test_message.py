import json
from dataclasses import asdict

from constraint_first.run.cluster import DriverEvent, WorkerReport


def test_an_event_goes_through_a_line_of_json() -> None:
    report: WorkerReport = {"skipped": ["no key"], "refused": None, "error": ""}
    for event in (
        DriverEvent("ended", 2, "node", report=report),
        DriverEvent("waiting", nodes=[{"CPU": 1.0}], unplaced=3),
    ):
        assert DriverEvent(**json.loads(json.dumps(asdict(event)))) == event


def test_an_event_without_a_report_has_an_empty_one() -> None:
    assert DriverEvent("died", 1, why="lost").report["error"] == ""
