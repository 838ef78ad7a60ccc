from __future__ import annotations

from pictures import HOSTILE, check, ids, words

from constraint_first.report.canvas import PALETTE, Caption, KeyEntry, draw_key, series_look, sheet


def test_looks_of_many_series_differ() -> None:
    looks = [(look["facecolor"], look["hatch"]) for look in map(series_look, range(30))]
    assert len({*looks}) == 30
    assert looks[: len(PALETTE)] == [(colour, None) for colour in PALETTE]


def test_a_key_names_every_entry() -> None:
    entries = [KeyEntry(name, series_look(at), f"key-{at}") for at, name in enumerate(HOSTILE)]
    with sheet(1.0) as page:
        draw_key(page, entries, 0, 6.6, 1.1)
        figure = check(page.finish(Caption("key", "Key"), "A key."))
    assert [own for own in ids(figure) if "-key-" in own] == [
        f"key-key-{at}" for at in range(len(HOSTILE))
    ]
    assert "_starts with a line" in words(figure)
