from pathlib import Path

import pytest
from instructed import NO_COMMA

from constraint_first.benchmark.registry import Benchmark, names
from constraint_first.benchmark.source import write_instructions
from constraint_first.error import InputError
from constraint_first.method.constraint_first import CFR
from constraint_first.model.resolve import presets
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem
from constraint_first.run.grid import Changes, Experiment, read_experiment

EXPERIMENTS = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))


def written(folder: Path, text: str) -> Path:
    path = folder / "grid.toml"
    path.write_text(text)
    return path


def test_the_defaults_are_the_papers_protocol(tmp_path: Path) -> None:
    experiment = read_experiment(written(tmp_path, ""))
    assert experiment == Experiment()
    assert experiment.runs == 4
    assert list(experiment.decodings()) == [Decoding(0.7, 0.95, None)]


def test_a_grid_has_a_series_for_each_combination(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'methods = ["direct", "cfr(reply=json)"]\ntemperatures = [0, 0.7]\nseeds = [1, 2, 3]\n',
    )
    sums = Benchmark("sums", "Sums", (), system_prompt="Be brief.")
    series = list(read_experiment(path).series(sums, "m"))
    assert len(series) == len(set(series)) == 12
    assert {s.decoding.seed for s in series} == {1, 2, 3}
    assert {s.system for s in series} == {"Be brief."}


def test_a_setting_may_be_left_unsent(tmp_path: Path) -> None:
    grid = 'temperatures = [0.2, "none"]\ntop_p = "none"\nmax_tokens = 4096\n'
    found = list(read_experiment(written(tmp_path, grid)).decodings())
    assert found == [Decoding(0.2, None, None, 4096), Decoding(None, None, None, 4096)]
    changed = Experiment().changed(Changes(top_p="none", temperatures=("none",), max_tokens=9))
    assert list(changed.decodings()) == [Decoding(None, None, None, 9)]


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, 'runs = 4\nmodels = ["deepseek-chat"]\n')
    experiment = read_experiment(path, Changes(runs=1, methods=("check",)))
    assert (experiment.runs, experiment.methods) == (1, ("check",))
    assert experiment.models == ("deepseek-chat",)


def test_what_is_named_twice_is_run_once(tmp_path: Path) -> None:
    path = written(tmp_path, 'methods = ["cfr", "direct", "cfr"]\nseeds = [1, 1]\n')
    experiment = read_experiment(path)
    assert experiment.methods == ("cfr", "direct")
    assert len(list(experiment.series(Benchmark("sums", "Sums", ()), "m"))) == 2


@pytest.mark.parametrize("gold", ["4", write_instructions([NO_COMMA]), None])
def test_auto_does_not_go_by_what_is_judged(gold: str | None) -> None:
    asked = Benchmark("own", "Own", (Problem("Write 2 + 2.", answer=gold),))
    (series,) = Experiment(methods=("auto",)).series(asked, "nobody-knows-it")
    assert series.method == "calibrated(policy=unmeasured)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs = ", "not TOML"),
        ("runs = 0", "runs: 0"),
        ("runs = true", "'runs' must be a whole number, not True"),
        ('runs = "four"', "'runs' must be a whole number, not 'four'"),
        ("runs = [4]", "'runs' must be a whole number, not [4]"),
        ('methods = "direct"', "'methods' must be a list of texts, not 'direct'"),
        ("methods = []", "methods: none; an experiment needs at least one"),
        ('methods = ["direkt"]', "method 'direkt': not known; did you mean 'direct'"),
        ('methods = ["cfr(reply=xml)"]', "option 'reply': 'xml' is not one of"),
        ("temperatures = [0.7, 9]", "temperatures: 9 is not between 0 and 2"),
        ("temperatures = [true]", 'must be a list of numbers or "none", not [True]'),
        ('temperatures = ["no"]', "must be a list of numbers or \"none\", not ['no']"),
        ('top_p = "nope"', "'top_p' must be a number or \"none\", not 'nope'"),
        ("max_tokens = 0", "max_tokens: 0; a reply needs at least one"),
        ("top_p = 0", "top_p: 0 is not above 0"),
        ("metods = []", "there is no 'metods'; did you mean 'methods'?"),
        ("zzz = []", "there is no 'zzz'; choose from title"),
        ("  'runs' = 10_000_000", "runs: 10000000 is not between 1 and 1,000,000"),
        (f"seeds = [1, {2**64}]", f"seeds: {2**64} is not between -2^62 and 2^62"),
        (f"seeds = [-{2**63}]", f"seeds: -{2**63} is not between -2^62 and 2^62"),
        ('models = ["a\\u0000"]', "'models' has a NUL character as character 2"),
        (f'models = ["{"x" * 501}"]', "'models' has 501 characters; 500 are the most"),
        ("methods = ['cfr(extractor=\"a)']", "must end with the quotation mark"),
        (f"methods = ['cfr(extractor={'x' * 501})']", "'methods' has 501 characters; 500 are the"),
        ("temperatures = [nan]", "temperatures: nan is not between 0 and 2"),
        ("top_p = inf", "top_p: inf is not above 0 and at most 1"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_key(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"# a grid\n{text}\n")
    with pytest.raises(InputError) as caught:
        read_experiment(path)
    line = "" if "not TOML" in message else ", line 2"
    assert str(caught.value).startswith(f"{path}{line}: ")
    assert message in str(caught.value)


def test_models_that_methods_name_are_listed_once() -> None:
    methods = ("direct", "cfr(extractor=a)", CFR(extractor="b"), "llm-router(model=a,extractor=c)")
    assert Experiment(methods=methods).other_models() == ("a", "b", "c")
    assert Experiment().other_models() == ()


def test_a_table_in_the_place_of_a_setting_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "[methods]\na = 1")
    with pytest.raises(InputError, match=r"grid\.toml: 'methods' must be a list"):
        read_experiment(path)


def test_what_is_given_beside_a_file_is_checked_too() -> None:
    with pytest.raises(InputError, match="'models' has half a surrogate pair as character 1"):
        Experiment().changed(Changes(models=("\udcff",)))
    with pytest.raises(InputError, match=r"seeds: \d+ is not between"):
        Experiment().changed(Changes(seeds=(2**62 + 1,)))
    seeds = (2**62, -(2**62), 0)
    assert Experiment().changed(Changes(seeds=seeds)).seeds == seeds


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        read_experiment(tmp_path / "none.toml")


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_experiment_of_the_paper_can_be_run(path: Path) -> None:
    experiment = read_experiment(path)  # which checks the methods
    assert experiment.title
    assert "Table " in experiment.about
    assert set(experiment.benchmarks) <= set(names())
    assert set(experiment.models) <= set(presets())
    assert experiment.runs == 4
    for method in map(str, experiment.methods):
        assert "brief" not in method, f"{method} is not the paper's"


def test_every_experiment_is_listed() -> None:
    listed = (EXPERIMENTS[0].parent / "README.md").read_text()
    assert len(EXPERIMENTS) == 10
    for path in EXPERIMENTS:
        assert f"({path.name})" in listed
