import re
from typing import Any

import pytest

from constraint_first.model.error import ModelNotFound
from constraint_first.model.replicas import Listing, common_name, differences, misfit, other_names
from constraint_first.model.transport import Endpoint


def listing(host: str, *entries: dict[str, Any], key: str = "") -> Listing:
    return Listing(Endpoint(f"http://{host}/v1", "", key), entries)


A = listing("a", {"id": "m"})


def test_the_only_model_of_all_endpoints_need_not_be_named() -> None:
    assert common_name([A, listing("b", {"id": "m"})]) == "m"
    with pytest.raises(ModelNotFound, match=r"http://b/v1: name a model .* it serves m, n"):
        common_name([A, listing("b", {"id": "m"}, {"id": "n"})])
    with pytest.raises(ModelNotFound, match=r"http://b/v1: serves n, and http://a/v1 m; .*leave"):
        common_name([A, listing("b", {"id": "n"})])


def test_an_endpoint_that_does_not_list_the_model_of_another() -> None:
    assert misfit([A, listing("b", {"id": "m"}, {"id": "n"})], "m") is None
    assert "http://b/v1: serves n" in str(misfit([listing("b", {"id": "n"}), A], "m"))
    assert misfit([A, listing("b")], "m") is None  # it has no list
    alias = [listing("a", {"id": "/x/m.gguf"}), listing("b", {"id": "/y/m.gguf"})]
    assert misfit(alias, "m") is None


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({"max_model_len": 32_768}, {"max_model_len": 4_096}, "4096 tokens of context, and"),
        ({"meta": {"n_ctx": 9}}, {"context_length": 8}, "8 tokens of context, and http://a/v1 has"),
        ({"root": "org/one"}, {"root": "org/two"}, "the model is org/two there, and org/one at"),
        ({"meta": {"n_params": 7}}, {"meta": {"n_params": 8}}, "8 parameters, and that of"),
        ({"meta": {"size": 70}}, {"meta": {"size": 40}}, "40 bytes, .* another quantization"),
    ],
)
def test_where_two_describe_a_model_otherwise(
    one: dict[str, Any], other: dict[str, Any], said: str
) -> None:
    first, second = listing("a", {"id": "m"} | one), listing("b", {"id": "m"} | other)
    (line,) = differences([first, second, first], "m")
    assert line.startswith("http://b/v1: ")
    assert re.search(said, line)
    assert not list(differences([first, A, first], "m"))
    assert not list(differences([first, listing("c")], "m"))


def test_endpoints_that_list_other_models_where_none_was_chosen() -> None:
    both = listing("b", {"id": "n"}, {"id": "m"})
    (line,) = other_names([A, A, both])
    assert line.startswith("http://b/v1: serves n, m, and http://a/v1 m; a request may come")


def test_a_context_that_is_given_is_not_compared() -> None:
    both = [listing(h, {"id": "m", "max_model_len": n}) for h, n in (("a", 9), ("b", 8))]
    assert not list(differences(both, "m", with_context=False))


def test_a_list_shows_no_key() -> None:
    key = "sk-secret-12345678"
    echo = listing("b", {"id": f"n-{key}", "root": key}, key=key)
    assert key not in str(misfit([A, echo], "m"))
    first = listing("a", {"id": "m", "root": "x"})
    assert all(key not in line for line in differences([first, echo], "m"))
