from pathlib import Path

import pytest

from constraint_first.error import InputError
from constraint_first.method.registry import (
    Wording,
    check_system,
    make,
    original_prompts,
    read_system,
    read_wording,
    require_used,
    with_wording,
)
from constraint_first.problem import Prompt

OWN = "Please solve [[problem]]."


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_is_a_wording_of_the_prompts_that_differ(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", direct=f"\n{OWN}\n", check=original_prompts()["check"].text)
    (folder / "README.md").write_text("What I changed, and why.")
    (folder / ".direct.txt.swp").write_bytes(b"\xff")
    (folder / "direct.txt~").write_text("")
    found = read_wording(folder)
    assert found == Wording("mine", (Prompt("direct", OWN, replaced=True),))
    assert read_wording(str(folder)) == found


def test_what_another_package_asks_with_can_be_replaced_too(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", extra="Now [[x]]")
    with pytest.raises(InputError, match="there is no prompt 'extra'; choose from"):
        read_wording(folder)
    (own,) = read_wording(folder, [Prompt("extra", "[[x]]")]).prompts
    assert own.text == "Now [[x]]"


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("mine", "mine"),
        ("my words, (v=2)", "my-words-v-2"),
        ("größer_1.5", "größer_1.5"),
        ("()", "own"),
        ("x" * 100, "x" * 60),
    ],
)
def test_a_wording_goes_by_the_name_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, called: str
) -> None:
    folder = write(tmp_path / name, direct=OWN)
    monkeypatch.chdir(folder)
    assert read_wording(folder).name == read_wording(".").name == called


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("Direct", OWN, "no prompt 'Direct'; did you mean 'direct'? They are direct, reminder"),
        ("zzz", OWN, "there is no prompt 'zzz'; choose from direct, reminder"),
        ("direct", "Solve [[ problem ]]", r"direct.txt: lacks [[problem]]"),
        ("revise", "[[problem]]", r"revise.txt: lacks [[feedback]], [[solution]]"),
        (
            "finish",
            "Finish [[problem]]",
            "has [[problem]], which nothing fills in; its places are: none",
        ),
        ("direct", "[[problem]] \0", "direct.txt: 'the text' has a NUL character as character 13"),
        ("direct", "[[problem]]" + "é" * 100_000, "'the text' has 100,011 characters; 100,000 are"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_named(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_wording(write(tmp_path / "mine", **{name: text}))
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "mine" / f"{name}.txt"))


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (write(tmp_path / "mine") / "direct.txt").mkdir()
    for folder, said in (
        (tmp_path / "file", "a file, not a folder; name the folder that it is in"),
        (tmp_path / "none", "cannot be read"),
        ("a\0b", "no folder has such a name"),
        (tmp_path / "mine", r"direct\.txt: a folder, not a file"),
    ):
        with pytest.raises(InputError, match=said):
            read_wording(folder)


def test_own_prompts_must_be_for_some_method() -> None:
    wording = Wording("mine", (Prompt("stage1", "[[problem]] [[extent]]", replaced=True),))
    require_used(wording, [make("direct"), make("cfr-brief")])
    require_used(Wording("same", ()), [make("direct")])
    with pytest.raises(InputError, match=r"no method that is to be run asks with stage1\.txt"):
        require_used(wording, [make("direct"), make("cfr")])
    with pytest.raises(InputError, match="prompts of mine"):
        with_wording(make("direct"), wording)
    assert with_wording(make("direct"), None) == make("direct")
    assert with_wording(make("cfr-brief"), wording) != make("cfr-brief")


def test_a_system_message_is_a_text_or_that_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "system.txt"
    file.write_text("\nBe brief.\n")
    assert read_system(f"@{file}") == read_system(" Be brief. ") == "Be brief."
    assert read_system("") == check_system(" \n") == ""
    file.write_text(" ")
    with pytest.raises(InputError, match=r"system\.txt: is empty; write the system message"):
        read_system(f"@{file}")
    with pytest.raises(InputError, match="'@': no file is named; write @FILE"):
        read_system("@")
    with pytest.raises(InputError, match="'system' has a NUL character"):
        check_system("a\0")
