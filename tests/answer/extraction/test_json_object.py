import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.damaged_json import find_object_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"result": 17}', "17"),
        ('{"x": "17"}', "17"),
        ('{"steps": ["a"], "final": "17"}', "17"),
        ('{"correct_answer": "C", "explanation": "x"}', "C"),
        ('```json\n{"value": 17}\n```', "17"),
        ('Here it is:\n{"ans": 17}', "17"),
        ('{"answers": [3, "5"]}', "3, 5"),
        ('{"output": {"value": 17, "unit": "cm"}}', "17"),
        (r'{"result": "\sqrt{2}"}', r"\sqrt{2}"),
        ('{"答案": "3"}', "3"),
        ('{"result": true}', "true"),
        ('{"result": null}', ""),
    ],
)
def test_the_field_of_an_answer(text: str, answer: str) -> None:
    assert find_object_answer(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "17",
        "{17}",
        '{"x": 2, "y": 3}',
        '{"result": 17} and so on',
        '{"text": "' + "long " * 100 + '"}',
        '{"a": ' * 5000 + "}",
        "{}",
    ],
)
def test_where_there_is_none(text: str) -> None:
    assert find_object_answer(text) is None


@given(st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8), max_size=4))
def test_no_object_breaks_it(fields: dict[str, int | str]) -> None:
    found = find_object_answer(json.dumps(fields))
    assert found is None or found in {str(value) for value in fields.values()}
