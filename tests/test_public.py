import cfr

PUBLIC = (
    "Call Completion ConstraintSpec Decoding Method Problem Run Scripted Solution Steps "
    "ask drive extract grade make route solve together"
)


def test_the_public_names_are_these_and_no_more_than_twenty() -> None:
    assert " ".join(cfr.__all__) == PUBLIC
    assert len(cfr.__all__) <= 20


def test_each_public_name_leads_to_what_it_names() -> None:
    for name in cfr.__all__:
        assert getattr(cfr, name) is not None
    assert not hasattr(cfr, "nonsense")
