from __future__ import annotations

from itertools import pairwise

import pytest

from constraint_first.report.canvas import PALETTE, contrast, shade


def test_contrast_runs_from_one_to_twenty_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#336699", "#336699") == 1


@pytest.mark.parametrize("colour", PALETTE)
@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_data_stands_out_from_light_and_dark_pages(colour: str, page: str) -> None:
    assert contrast(colour, page) >= 3


def test_shades_grow_darker_all_the_way() -> None:
    from_black = [contrast(shade(step / 20), "#000000") for step in range(21)]
    assert all(lighter > darker for lighter, darker in pairwise(from_black))


def test_shades_show_on_light_and_dark_pages() -> None:
    for step in range(21):
        assert contrast(shade(step / 20), "#ffffff") > 1.7
        assert contrast(shade(step / 20), "#111111") > 2.5


def test_a_share_beyond_the_scale_has_its_last_shade() -> None:
    assert shade(1.5) == shade(1)
    assert shade(-0.5) == shade(0)
