import html
import re
from urllib.parse import quote, urlencode

import pytest
from loopback import Endpoint as Server
from paged import Paged, Shown

from constraint_first.benchmark.constraintbench.family import SEED, TIERS, Split, load

PUBLIC = load("public")
PINNED = next(item for item in PUBLIC if any(gold.pins for gold in item.constraints))
QUOTED = next(
    item for item in PUBLIC if any(gold.span and not gold.pins for gold in item.constraints)
)


def listed(shown: Shown) -> list[str]:
    """Give the ids of the problems on a page."""
    return re.findall(r'<h3><a href="/benchmark/([^?"]+)', shown.text)


def open_text(shown: Shown) -> str:
    """Give what can be read without opening anything."""
    return re.sub(r"<details.*?</details>", "", shown.text, flags=re.DOTALL)


async def test_the_set_is_the_one_that_is_measured_on(bare: Paged) -> None:
    shown = await bare.get("/benchmark")
    assert f"705 problems of 705 in constraintbench, version 2, seed {SEED}; 1 to 20" in shown.words
    assert listed(shown) == [item.id for item in PUBLIC[:20]]
    assert 'aria-current="page">Benchmark</a>' in shown.text
    assert "<mark class=" in shown.text
    assert 'href="/benchmark?at=20" rel="next"' in shown.text
    assert 'rel="prev"' not in shown.text


@pytest.mark.parametrize("tier", TIERS)
async def test_problems_are_found_by_tier_family_level_and_kind(tier: str, bare: Paged) -> None:
    within = [item for item in PUBLIC if item.tier == tier]
    one = within[-1]
    narrow = {"tier": tier, "family": one.family, "level": one.level, "kind": one.kinds[0]}
    wanted = [
        item
        for item in within
        if item.family == one.family and item.level == one.level and one.kinds[0] in item.kinds
    ]
    every = await bare.get(f"/benchmark?tier={tier}")
    few = await bare.get(f"/benchmark?{urlencode(narrow)}")
    assert f"{len(within)} problems of 705" in every.words
    assert listed(few) == [item.id for item in wanted[:20]]
    for value in narrow.values():
        assert f'<option value="{value}" selected>' in few.text
    assert f'<optgroup label="{tier}">' in few.text


async def test_words_and_pages(bare: Paged) -> None:
    found = await bare.get(f"/benchmark?q={quote('Remainder  DIVIDED')}")
    last = await bare.get("/benchmark?at=700")
    beyond = await bare.get("/benchmark?at=5000")
    nothing = await bare.get("/benchmark?q=no+such+word+anywhere")
    texts = {item.id: item.text.casefold() for item in PUBLIC}
    assert all({"remainder", "divided"} <= set(re.findall(r"\w+", texts[i])) for i in listed(found))
    assert listed(found)
    assert listed(last) == [item.id for item in PUBLIC[700:]]
    assert 'rel="prev"' in last.text
    assert 'rel="next"' not in last.text
    for empty in (beyond, nothing):
        assert "No problem is like that" in empty.words


@pytest.mark.parametrize(
    ("split", "said"),
    [
        ("hard", "120 problems of 120 in constraintbench-hard, version 2"),
        ("mini", "24 problems of 24 in constraintbench-mini, version 2"),
        ("public@1", "480 problems of 480 in constraintbench@1, version 1, seed 2026"),
    ],
)
async def test_every_set_can_be_chosen(split: Split, said: str, bare: Paged) -> None:
    shown = await bare.get(f"/benchmark?split={split}")
    first = await bare.get(f"/benchmark/{load(split)[0].id}?split={split}")
    assert said in shown.words
    assert first.status == 200
    assert f'href="/benchmark?split={quote(split)}"' in first.text


async def test_what_is_not_in_a_set_is_no_limit(bare: Paged) -> None:
    shown = await bare.get("/benchmark?tier=joint&family=x&level=9&kind=odd&split=x")
    other = await bare.get("/benchmark?split=hard&level=1")
    assert f"{sum(item.tier == 'joint' for item in PUBLIC)} problems" in shown.words
    assert "120 problems of 120" in other.words


async def test_a_problem_has_its_gold_constraints_and_what_our_reader_finds(
    endpoint: Server, bare: Paged
) -> None:
    gold = next(one for one in QUOTED.constraints if one.span and not one.pins)
    shown = await bare.get(f"/benchmark/{QUOTED.id}")
    reader = await bare.get(f"/benchmark/{PUBLIC[0].id}")
    tried = await bare.get(html.unescape(re.findall(r'href="(/\?item[^"]+)"', shown.text)[0]))
    assert gold.span
    assert f"“{gold.span.replace('$', '')}" in shown.words
    assert gold.kind in shown.words
    assert f"gold: {gold.description}" in html.unescape(shown.text)
    assert "version 2" in shown.words
    assert f"seed {SEED}" in shown.words
    assert "What our reader finds in the text" in reader.words
    assert "The answer is a count: an integer, not negative." in reader.words
    assert QUOTED.text in html.unescape(tried.text)
    assert endpoint.requests == []  # nothing is asked before a person asks


async def test_the_answer_is_shown_on_demand_alone(bare: Paged) -> None:
    pins = [gold.description for gold in PINNED.constraints if gold.pins]
    shown = await bare.get(f"/benchmark/{PINNED.id}")
    assert f'<p class="final">{PINNED.answer}</p>' in shown.text
    assert '<p class="final">' not in open_text(shown)
    assert "&#34;answer&#34;" not in open_text(shown)
    for description in pins:
        assert html.escape(description) in shown.text.replace("&#39;", "&#x27;")
        assert description not in html.unescape(open_text(shown))
    for lure in PINNED.tempting:
        assert lure.error.replace("_", " ") in shown.words


async def test_from_one_problem_to_the_next_within_what_was_asked_for(bare: Paged) -> None:
    items = [item for item in PUBLIC if item.tier == "joint" and item.level == 2]
    asked = "?tier=joint&amp;level=2"
    shown = await bare.get(f"/benchmark/{items[1].id}?tier=joint&level=2")
    ends = [
        await bare.get(f"/benchmark/{one.id}?tier=joint&level=2") for one in (items[0], items[-1])
    ]
    outside = await bare.get(f"/benchmark/{items[1].id}?tier=explicit")
    assert f'href="/benchmark/{items[0].id}{asked}" rel="prev"' in shown.text
    assert f'href="/benchmark/{items[2].id}{asked}" rel="next"' in shown.text
    assert 'rel="prev"' not in ends[0].text
    assert 'rel="next"' not in ends[1].text
    assert 'rel="next"' not in outside.text
