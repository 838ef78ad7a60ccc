"""Every number about results in the documentation is recomputed from the data that are shipped.

A page's claims are pieces of text that are written anew from ``docs/results`` (``tests/claims``)
and must stand in the page as they are. What is left of the page may then hold no number, be it in
digits or in words, but those that ``claims/pages.toml`` names as no results.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from claims.card import card
from claims.results import log, readme, reply_style, results, sound_replies

from constraint_first.method.policy import find_policy, write_policy
from constraint_first.model.local import DEFAULT_MODEL

REPOSITORY = Path(__file__).parent.parent


@dataclass(frozen=True)
class Page:
    """A page, its claims, and its numbers that are no results, as ``pages.toml`` lists them."""

    path: str
    claims: Callable[[], Iterator[str]]
    no_results: list[str]
    sections: list[str]

    @property
    def text(self) -> str:
        """The parts that hold results."""
        text = (REPOSITORY / self.path).read_text(encoding="utf-8")
        return "".join(_section(text, heading) for heading in self.sections) or text


CLAIMS = {one.__name__: one for one in (card, log, readme, reply_style, results, sound_replies)}
PAGES = [
    Page(path, CLAIMS[page["claims"]], page.get("no_results", []), page.get("sections", []))
    for path, page in tomllib.loads(
        (REPOSITORY / "tests" / "claims" / "pages.toml").read_text(encoding="utf-8")
    ).items()
]

_CODE = re.compile(r"^```.*?^```|^ {4}[^\n]*$|`[^`\n]*`|\]\([^)]*\)", re.S | re.M)
_NAMES = re.compile(
    r"Stage [12]|\d{4}-\d\d-\d\d|Qwen2\.5-Coder-1\.5B-Instruct|Q4_K_M|1\.5B|MATH-500|GSM8K|95 %"
    r"|SHA-256|pass@1|^\d\. ",
    re.M,
)
_NUMBER = re.compile(
    r"\d[\d,.]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|twice|thrice|"
    r"third|quarter)\b",
    re.I,
)


def _section(text: str, heading: str) -> str:
    """Cut out what stands under a heading, up to the next of its level or above."""
    level = heading.partition(" ")[0]
    start = text.index(f"{heading}\n") + len(heading)
    end = re.search(rf"^#{{1,{len(level)}}} ", text[start:], re.M)
    return text[start : start + end.start()] if end else text[start:]


def rest(text: str, pieces: Iterator[str]) -> str:
    """Take the claims out of a page, and what is code or a name."""
    for piece in sorted(set(pieces), key=len, reverse=True):
        text = text.replace(piece, "~")
    return _NAMES.sub("~", _CODE.sub("~", text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_a_page_has_the_numbers_of_the_data_and_no_others(page: Page) -> None:
    claims = list(page.claims())
    missing = "\n\n".join(claim for claim in claims if claim not in page.text)
    assert not missing, f"{page.path} differs from the data, which say:\n\n{missing}"
    for phrase in page.no_results:
        assert phrase in page.text, (
            f"{page.path} no longer says {phrase!r}: leave it out of claims/pages.toml"
        )
    left = rest(page.text, iter((*claims, *page.no_results)))
    unclaimed = [(found[0], line) for line in left.splitlines() for found in _NUMBER.finditer(line)]
    assert not unclaimed, f"{page.path}: add a claim for each of these, in tests/claims: " + str(
        [f"{number} in: {line}" for number, line in unclaimed]
    )


@pytest.mark.parametrize("said", ["12.5 points", "three times the tokens", "Half of it", "n = 7"])
def test_a_number_that_is_claimed_nowhere_is_found(said: str) -> None:
    text = f"A page of 2026-11-15 on Stage 1 and `code 3` says {said}, and 42 is a claim."
    assert _NUMBER.findall(rest(text, iter(["42 is a claim"])))
    assert not _NUMBER.findall(rest(text, iter(["42 is a claim", said])))


def test_every_page_about_results_is_checked() -> None:
    """A page that shows an interval outside an example cannot be forgotten."""
    checked = {page.path for page in PAGES}
    shown = re.compile(r"\[−?\d+\.\d, −?\d+\.\d\]")
    for path in (REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")):
        if shown.search(_CODE.sub("", path.read_text(encoding="utf-8"))):
            assert str(path.relative_to(REPOSITORY)) in checked


def test_the_page_on_calibration_shows_the_policy_of_the_package() -> None:
    page = (REPOSITORY / "docs" / "calibration.md").read_text(encoding="utf-8")
    policy = find_policy(DEFAULT_MODEL)
    assert policy.answer in page, policy.answer
    shown = re.search(r"```toml\n(.*?)```", page, re.S)
    assert shown
    written = write_policy(policy).splitlines()
    for line in shown[1].splitlines():
        assert line in written, f"docs/calibration.md shows {line!r}; the policy is {written}"
