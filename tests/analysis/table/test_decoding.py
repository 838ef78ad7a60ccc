from constraint_first.report.table import describe_decoding, shorten, tell_apart

COLD = '{"temperature":0.2,"top_p":0.95,"seed":null}'
WARM = '{"temperature":0.7,"top_p":0.95,"seed":null}'
SEEDED = '{"temperature":0.7,"top_p":0.95,"seed":101}'


def test_decodings_are_named_by_what_differs() -> None:
    assert tell_apart([COLD, WARM]) == {COLD: "Temperature 0.2", WARM: "Temperature 0.7"}
    assert tell_apart([WARM, SEEDED]) == {WARM: "No seed", SEEDED: "Seed 101"}
    assert tell_apart([COLD, SEEDED])[SEEDED] == "Temperature 0.7, Seed 101"
    assert tell_apart([WARM, WARM]) == {WARM: ""}


def test_a_decoding_in_words() -> None:
    assert describe_decoding(SEEDED) == "temperature 0.7, top-p 0.95, seed 101"
    assert describe_decoding("{}") == ""


def test_a_long_prompt_is_cut_and_kept_on_one_line() -> None:
    assert shorten("a\nb") == "“a b”"
    assert shorten("x" * 90) == f"“{'x' * 40}…”"
