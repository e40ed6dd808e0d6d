"""Which entry a name means: the user's before the shipped, by name, short name, file or path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from provisioner.catalog import Catalog
from tests.catalog.user_folder import Lines, Write

B200 = (
    "b200: {gpus: 8, hbm_bytes: 1.5e12, interconnect_bytes_per_s: 400e9, transfer_residue_s: 0.004,"
    " cost_usd_per_h: 60, power_kw: 14.3}\n"
)
MINE = "name: B200 prompts\nshort: BH\nprompt: b200\ntoken: dgx-h100\n"


@pytest.mark.parametrize("name", ["HA", "ha", "Splitwise-HA", "SPLITWISE-HA", "splitwise-ha"])
def test_a_design_is_found_by_name_or_short_name_in_any_case(name: str) -> None:
    assert Catalog.open().design(name).name == "Splitwise-HA"


def test_a_user_adds_a_design_and_a_machine_without_code(user: Path, write: Write) -> None:
    write("designs/machines.yaml", B200)
    write("designs/bh.yaml", MINE)
    catalog = Catalog.open(user)
    assert [machine.name for machine in catalog.design("bh").machines] == ["b200", "dgx-h100"]
    assert [design.short for design in catalog.designs()] == ["AA", "HH", "HA", "HHcap", "A100", "H100", "BH"]
    assert catalog.names("machines") == ("dgx-a100", "dgx-h100", "dgx-h100-cap", "b200")


def test_a_users_entry_stands_in_for_the_shipped_one_of_its_name(user: Path, write: Write) -> None:
    write("designs/machines.yaml", B200.replace("b200:", "dgx-h100:"))
    write("designs/other.yaml", "name: splitwise-ha\nshort: HA\nprompt: dgx-h100\ntoken: dgx-h100\n")
    catalog = Catalog.open(user)
    assert catalog.design("HA").token.name == "dgx-h100"
    assert [design.short for design in catalog.designs()] == ["AA", "HH", "HA", "HHcap", "A100", "H100"]
    assert catalog.design("HH").prompt.power_kw == 14.3
    assert catalog.machine("dgx-a100").power_kw == 6.2


def test_the_extra_folder_comes_before_the_current_one(tmp_path: Path, user: Path) -> None:
    current = tmp_path / "current"
    (current / "slos").mkdir(parents=True)
    for folder, limit in [(user, 3), (current, 4)]:
        (folder / "slos").mkdir(exist_ok=True)
        (folder / "slos" / "mine.yaml").write_text(f"limits: [{{metric: ttft, percentile: 99, limit: {limit}}}]\n")
    assert Catalog.open(user, current).slo("mine").limits[0].limit == 3
    assert Catalog.open(cwd=current).slo("mine").limits[0].limit == 4
    assert Catalog.open(user, current).names("slos") == (
        "code-completion",
        "interactive-chat",
        "splitwise",
        "splitwisesim",
        "mine",
    )


def test_a_folder_given_twice_is_searched_once(user: Path, write: Write) -> None:
    write("designs/machines.yaml", B200)
    write("designs/bh.yaml", MINE)
    assert Catalog.open(user, user / "designs" / "..").design("BH").name == "B200 prompts"


def test_a_path_is_read_as_such_from_the_current_folder(user: Path, write: Write) -> None:
    write("elsewhere/quick.yaml", "limits: [{metric: ttft, percentile: 99, limit: 1}]\n")
    assert Catalog.open(cwd=user).slo("elsewhere/quick.yaml").name == "quick"
    assert Catalog.open().slo(str(user / "elsewhere/quick.yaml")).limits[0].limit == 1


def test_an_entry_without_a_name_is_called_as_its_file(user: Path, write: Write) -> None:
    file = write("designs/plain.yml", "short: P\nmixed: dgx-a100\n")
    assert Catalog.open(user).design("plain").name == "plain"
    assert Catalog.open().design(str(file)).name == "plain"


def test_a_broken_neighbour_does_no_harm_until_it_is_asked_for(user: Path, write: Write, lines: Lines) -> None:
    write("designs/broken.yaml", "short: [\n")
    catalog = Catalog.open(user)
    assert catalog.design("HA").short == "HA"
    assert catalog.names("designs")[-1] == "broken"
    line = "designs/broken.yaml:2: is not YAML: expected the node content, but found '<stream end>'"
    assert lines(lambda: catalog.design("broken")) == [line]
    assert lines(catalog.designs) == [line]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("b200: [", "designs/machines.yaml:1: is not YAML: expected the node content, but found '<stream end>'"),
        ("- b200", "designs/machines.yaml: must be a mapping of machine names to their fields"),
    ],
)
def test_a_broken_list_of_machines_is_a_fault_of_every_machine(
    user: Path, write: Write, lines: Lines, content: str, line: str
) -> None:
    write("designs/machines.yaml", content)
    assert lines(lambda: Catalog.open(user).machine("dgx-a100")) == [line]
    assert lines(lambda: Catalog.open(user).design("HA")) == [line]


def test_two_of_one_name_in_one_folder_are_refused(user: Path, write: Write, lines: Lines) -> None:
    for name in "ab":
        write(f"designs/{name}.yaml", "short: X\nmixed: dgx-a100\n")
    assert lines(lambda: Catalog.open(user).design("x")) == [
        "designs: design: more than one design has this name: a.yaml, b.yaml (got 'x')"
    ]


@pytest.mark.parametrize(
    ("ask", "line"),
    [
        (
            lambda c: c.design("HAA"),
            ("design: no design has this name, did you mean 'HA'? (got 'HAA'); "
            "allowed: AA, HH, HA, HHcap, A100, H100, or a file (.yaml, .yml)"),
        ),
        (
            lambda c: c.model("llama-70b"),
            ("model: no model has this name, did you mean 'llama2-70b'? (got 'llama-70b'); "
            "allowed: bloom-176b, llama-3.1-70b, llama2-70b, or a file (.yaml, .yml, .json)"),
        ),
        (
            lambda c: c.machine("tpu"),
            "machine: no machine has this name (got 'tpu'); allowed: dgx-a100, dgx-h100, dgx-h100-cap",
        ),
        (
            lambda c: c.slo("missing.yaml"),
            (
                "slo: no slo has this name (got 'missing.yaml'); "
                "allowed: code-completion, interactive-chat, splitwise, splitwisesim, or a file (.yaml, .yml)"
            ),
        ),
        (
            lambda c: c.workload("code"),
            "workload: no workload has this name, did you mean 'coding'? (got 'code'); allowed: coding, conversation",
        ),
        (
            lambda c: c.preset("Splitwise"),
            "preset: no preset has this name, did you mean 'splitwisesim'? (got 'Splitwise'); allowed: splitwisesim",
        ),
        (
            lambda c: c.model(""),
            ("model: no model has this name (got ''); "
            "allowed: bloom-176b, llama-3.1-70b, llama2-70b, or a file (.yaml, .yml, .json)"),
        ),
        (lambda c: c.model("a\0.yaml"), ("model: no model has this name (got 'a\\x00.yaml'); "
         "allowed: bloom-176b, llama-3.1-70b, llama2-70b, or a file (.yaml, .yml, .json)")),
        (lambda c: c.model("n" * 5000 + ".yaml"), "model: no model has this name (got '" + "n" * 57 + "...'); "
         "allowed: bloom-176b, llama-3.1-70b, llama2-70b, or a file (.yaml, .yml, .json)"),
    ],
)  # fmt: skip
def test_an_unknown_name_lists_what_there_is(lines: Lines, ask: Callable[[Catalog], object], line: str) -> None:
    assert lines(lambda: ask(Catalog.open())) == [line]


def test_an_extra_folder_must_be_there(user: Path, lines: Lines) -> None:
    assert lines(lambda: Catalog.open(user / "none")) == [
        "none: is no folder; allowed: a folder that holds designs/, models/, ..."
    ]


class TestFindFile:
    """Files that others read, such as profiles."""

    def test_it_finds_by_name_in_any_case_and_in_subfolders(self, user: Path, write: Write) -> None:
        file = write("profiles/bloom-176b/dgx-a100.yaml", "a: 1")
        top = write("profiles/mine.yml", "a: 1")
        catalog = Catalog.open(user)
        assert catalog.find_file("profiles", "bloom-176b/DGX-A100") == file
        assert catalog.find_file("profiles", "Mine") == top
        assert catalog.find_file("profiles", str(file)) == file
        assert {"bloom-176b/dgx-a100", "mine"} <= set(catalog.names("profiles"))

    def test_a_profile_may_be_a_table(self, user: Path, write: Write, lines: Lines) -> None:
        table = write("profiles/p-1.5.csv", "a")
        catalog = Catalog([user])
        assert catalog.find_file("profiles", "p-1.5") == catalog.find_file("profiles", "p-1.5.csv") == table
        assert catalog.names("profiles") == ("p-1.5",)
        write("profiles/p-1.5.json", "{}")
        assert lines(lambda: catalog.find_file("profiles", "p-1.5")) == [
            "profiles: profile: more than one profile has this name: p-1.5.csv, p-1.5.json (got 'p-1.5')"
        ]

    @pytest.mark.parametrize("name", ["mime", "", "a/b\0c", "..", "x" * 300 + "/y", "\udcff"])
    def test_it_says_what_there_is(self, user: Path, write: Write, lines: Lines, name: str) -> None:
        write("profiles/mine.yaml", "a: 1")
        (line,) = lines(lambda: Catalog([user]).find_file("profiles", name))
        assert line.startswith("profile: no profile has this name") or "cannot be read" in line
        assert ("did you mean 'mine'?" in line) == (name == "mime")
