"""One exact line for each way in which a file can be wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from provisioner.catalog import Catalog
from provisioner.catalog.document import MAX_BYTES
from tests.catalog.user_folder import Lines, Write

MODEL = "layers: 80\nhidden: 8192\nkv_heads: 8\nhead_dim: 128\nweights_bytes: 1.3e11\n"
FIELDS = (
    "name, layers, hidden, kv_heads, head_dim, bytes_per_element, weights_bytes, kv_layers, kv_elements, "
    "active_parameters, attention_flops, experts"
)

MODELS = {
    "layers: 0": "m.yaml:1: layers: must be at least 1 (got 0); allowed: a whole number at least 1 and at most 100000",
    "layers: 2.5": "m.yaml:1: layers: must be a whole number (got 2.5); "
    "allowed: a whole number at least 1 and at most 100000",
    "layers: many": "m.yaml:1: layers: must be a whole number (got 'many'); "
    "allowed: a whole number at least 1 and at most 100000",
    "layers: '80'": "m.yaml:1: layers: must be a whole number (got '80'); "
    "allowed: a whole number at least 1 and at most 100000",
    "layers: true": "m.yaml:1: layers: must be a whole number (got true); "
    "allowed: a whole number at least 1 and at most 100000",
    "layers:": "m.yaml:1: layers: must be a whole number; allowed: a whole number at least 1 and at most 100000",
    "layers: [80]": "m.yaml:1: layers: must be a whole number (got a list); "
    "allowed: a whole number at least 1 and at most 100000",
    "layers: {n: 80}": "m.yaml:1: layers: must be a whole number (got a mapping); "
    "allowed: a whole number at least 1 and at most 100000",
    "layers: .inf": "m.yaml:1: layers: must be a whole number (got inf); "
    "allowed: a whole number at least 1 and at most 100000",
    "layers: 1e300": "m.yaml:1: layers: must be at most 100000 "
    "(got 100000000000000005250476025520442024870446858110815915491...); "
    "allowed: a whole number at least 1 and at most 100000",
    "layers: &l 80": "m.yaml:1: layers: uses a YAML anchor or alias; allowed: the value itself",
    "layers: !!python/name:os.system 80": "m.yaml:1: layers: uses a YAML tag; allowed: the value without a tag",
    "layers: !!omap [a: 1]": "m.yaml:1: layers: uses a YAML tag; allowed: the value without a tag",
    f"layers: {'8' * 5000}": "m.yaml:1: layers: is not a number that can be read; allowed: a number of fewer digits",
    "layers: 80\nlayer: 80": f"m.yaml:2: layer: is no known field, did you mean 'layers'?; allowed: {FIELDS}",
    "layers: 80\nzzz: 80": f"m.yaml:2: zzz: is no known field; allowed: {FIELDS}",
    "layers: 80\nlayers: 70": "m.yaml:2: layers: stands twice, first in line 1; allowed: one of the two",
    "layers: 80\n<<: {hidden: 3}": f"m.yaml:2: <<: is no known field; allowed: {FIELDS}",
    "layers: 80\n? [a]\n: b": "m.yaml:2: has a name that is not plain text",
    "layers: 80\nname: ''": "m.yaml:2: name: must not be empty (got ''); allowed: text of 1 to 80 characters",
    "layers: 80\nname: 2024-01-01": None,
    "layers: 80\nname: 405": "m.yaml:2: name: must be text (got 405); allowed: text of 1 to 80 characters",
    "layers: 80\nname: " + "n" * 81: "m.yaml:2: name: must have at most 80 characters (got '" + "n" * 57 + "...'); "
    "allowed: text of 1 to 80 characters",
    'layers: 80\nname: "\\ud800"': "m.yaml:2: name: is not Unicode text; allowed: text",
    "": "m.yaml: layers: is missing; allowed: a whole number at least 1 and at most 100000",
}  # fmt: skip


@pytest.mark.parametrize(("text", "line"), MODELS.items())
def test_a_model_with_one_fault_gives_one_line(write: Write, lines: Lines, text: str, line: str | None) -> None:
    rest = MODEL.partition("\n")[2]
    file = write("m.yaml", f"{text}\n{rest}")
    if line is None:
        assert Catalog.open().model(str(file)).layers == 80
    else:
        assert lines(lambda: Catalog.open().model(str(file))) == [line]


SLOS = {
    "{metric: tff, percentile: 50, limit: 2}": "s.yaml:3: limits.0.metric: is not one of those allowed (got 'tff'); "
    "allowed: ttft or tbt or e2e",
    "{metric: ttft, percentile: 100, limit: 2}": "s.yaml:3: limits.0.percentile: must be below 100 (got 100); "
    "allowed: a number above 0 and below 100",
    "{metric: ttft, percentile: 50, limit: 0}": "s.yaml:3: limits.0.limit: must be above 0 (got 0); "
    "allowed: a number above 0 and at most 1000000000",
    "{metric: ttft, percentile: 50, limit: .nan}": "s.yaml:3: limits.0.limit: must be finite (got nan); "
    "allowed: a number above 0 and at most 1000000000",
    "{metric: ttft, percentile: 50}": "s.yaml:3: limits.0.limit: is missing; "
    "allowed: a number above 0 and at most 1000000000",
    "{metric: ttft, percentile: 50, limit: 2, units: s}": "s.yaml:3: limits.0.units: is no known field, "
    "did you mean 'unit'?; allowed: metric, percentile, limit, unit",
    "2": "s.yaml:3: limits.0: must be a mapping of names to values (got 2); "
    "allowed: a mapping with metric, percentile, limit, unit",
}


@pytest.mark.parametrize(("limit", "line"), SLOS.items())
def test_a_fault_in_a_list_names_its_entry(write: Write, lines: Lines, limit: str, line: str) -> None:
    file = write("s.yaml", f"# mine\nlimits:\n- {limit}\n")
    assert lines(lambda: Catalog.open().slo(str(file))) == [line]


OTHERS = {
    "limits: []": "s.yaml:1: limits: must not be empty (got a list); allowed: a list of at least 1",
    "limits: fast": "s.yaml:1: limits: must be a list (got 'fast'); allowed: a list of at least 1",
    "limits:\n- {metric: e2e, percentile: 50, limit: 1}\n- {metric: e2e, percentile: 50, limit: 2}":
        "s.yaml: limits e2e_p50 in slowdown twice",
    "limits: [{metric: e2e, percentile: 50, limit: 1}]\nreference_machine: dgx-a10":
        "s.yaml:2: reference_machine: no machine has this name, did you mean 'dgx-a100'? (got 'dgx-a10'); "
        "allowed: dgx-a100, dgx-h100, dgx-h100-cap",
    "limits: [{metric: e2e, percentile: 50, limit: 1}]\nreference_machine: 3":
        "s.yaml:2: reference_machine: must be the name of a machine (got 3); "
        "allowed: dgx-a100, dgx-h100, dgx-h100-cap",
    "limits: [{metric: e2e, percentile: 50, limit: 1}]\ntbt_counts_first_token: 1":
        "s.yaml:2: tbt_counts_first_token: must be true or false (got 1); allowed: true or false",
}  # fmt: skip


@pytest.mark.parametrize(("text", "line"), OTHERS.items())
def test_an_slo_set_with_one_fault_gives_one_line(write: Write, lines: Lines, text: str, line: str) -> None:
    file = write("s.yaml", text)
    assert lines(lambda: Catalog.open().slo(str(file))) == [line]


DESIGNS = {
    "prompt: dgx-h100\ntoken: dgx-b200": "d.yaml:3: token: no machine has this name, did you mean 'dgx-h100'? "
    "(got 'dgx-b200'); allowed: dgx-a100, dgx-h100, dgx-h100-cap",
    "prompt: dgx-h100\ntoken: {gpus: 8}": "d.yaml:3: token: must be the name of a machine (got a mapping); "
    "allowed: dgx-a100, dgx-h100, dgx-h100-cap",
    "prompt: dgx-h100": "d.yaml: a design names either a prompt and a token machine, or one mixed machine",
    "prompt: dgx-h100\ntoken: dgx-h100\nmixed: dgx-h100": "d.yaml: "
    "a design names either a prompt and a token machine, or one mixed machine",
    "mixed: dgx-h100\nscheduling: {max_batch: 3}": "d.yaml:3: scheduling.max_batch: is no known field, "
    "did you mean 'max_batch_tokens'?; allowed: max_batch_requests, max_batch_tokens, max_passed_over, "
    "max_pending_tokens, layerwise_from_tokens, max_batch_prompts, max_batch_decodes, cached_prompt_share, "
    "max_requests_per_machine, chunked_prefill, kv_on_demand, first_token_in_prompt_kv, strict_room, "
    "long_prompts_wait, transfer_retry_s",
    "mixed: dgx-h100\nscheduling:\n  strict_room: yes": "d.yaml:4: scheduling.strict_room: must be true or false "
    "(got 'yes'); allowed: true or false",
}


@pytest.mark.parametrize(("text", "line"), DESIGNS.items())
def test_a_design_with_one_fault_gives_one_line(write: Write, lines: Lines, text: str, line: str) -> None:
    file = write("d.yaml", f"short: mine\n{text}\n")
    assert lines(lambda: Catalog.open().design(str(file))) == [line]


FILES: dict[str | bytes, str] = {
    "": "m.yaml: is empty",
    "# a comment\n": "m.yaml: is empty",
    "- 1\n- 2\n": f"m.yaml: must be a mapping of names to values (got a list); allowed: a mapping with {FIELDS}",
    "layers: [80\n": "m.yaml:2: is not YAML: expected ',' or ']', but got '<stream end>'",
    "name: a\n layers: 3: 4\n": "m.yaml:2: is not YAML: mapping values are not allowed here",
    "name: a\n---\nname: b\n": "m.yaml:2: is not YAML: but found another document",
    "%YAML 1.1\n---\nname: a\n": "m.yaml:1: a line starts with %; allowed: YAML without directives",
    "name: a\nlayers: *x\n": "m.yaml:2: is not YAML: found undefined alias 'x'",
    "name: a\nlayers: \x1b[2J": "m.yaml:2: holds a control character",
    b"name: a\nlayers: \xff\n": "m.yaml:2: is not UTF-8 text; allowed: UTF-8",
    b"\xff\xfen\x00": "m.yaml:1: is not UTF-8 text; allowed: UTF-8",
    "[" * 2_000: "m.yaml: nests too deeply",
    "#" * (MAX_BYTES + 1): f"m.yaml: is too large; allowed: at most {MAX_BYTES:,} bytes",
}


@pytest.mark.parametrize(("content", "line"), FILES.items(), ids=range(len(FILES)))
def test_a_file_that_cannot_be_read_says_why(write: Write, lines: Lines, content: str | bytes, line: str) -> None:
    file = write("m.yaml", content)
    assert lines(lambda: Catalog.open().model(str(file))) == [line]


def test_a_bomb_of_aliases_is_refused_and_not_expanded(write: Write, lines: Lines) -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 40)]
    file = write("m.yaml", "\n".join(["l0: &l0 [1]", *levels, MODEL]))
    found = lines(lambda: Catalog.open().model(str(file)))
    assert found == [f"m.yaml:{n + 1}: l{n}: uses a YAML anchor or alias; allowed: the value itself" for n in range(40)]


def test_a_folder_is_not_a_file(user: Path, lines: Lines) -> None:
    (user / "m.yaml").mkdir()
    assert lines(lambda: Catalog.open().model(str(user / "m.yaml"))) == ["m.yaml: is a folder, not a file"]


def test_a_pipe_is_not_waited_for(user: Path, lines: Lines) -> None:
    os.mkfifo(user / "m.yaml")
    assert lines(lambda: Catalog.open().model(str(user / "m.yaml"))) == ["m.yaml: is no file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so(write: Write, lines: Lines) -> None:
    file = write("m.yaml", MODEL)
    file.chmod(0)
    assert lines(lambda: Catalog.open().model(str(file))) == ["m.yaml: cannot be read: Permission denied"]


def test_a_workload_without_its_sizes_says_so(user: Path, write: Write, lines: Lines) -> None:
    write("workloads/mine.yaml", "sizes: mine.csv\narrivals: burst\n")
    assert lines(lambda: Catalog.open(user).workload("mine")) == [
        "workloads/mine.yaml:1: sizes: is no file beside this one (got 'mine.csv')",
        "workloads/mine.yaml:2: arrivals: is not one of those allowed (got 'burst'); allowed: poisson",
    ]


class TestEveryFaultAtOnce:
    """Nobody mends a file one run at a time."""

    def test_in_one_file(self, write: Write, lines: Lines) -> None:
        file = write("m.yaml", "layers: 0\nhiden: 8192\nkv_heads: &k 8\nhead_dim: 128\nhead_dim: 64\n")
        number = "a whole number"
        assert lines(lambda: Catalog.open().model(str(file))) == [
            "m.yaml:3: kv_heads: uses a YAML anchor or alias; allowed: the value itself",
            "m.yaml:5: head_dim: stands twice, first in line 4; allowed: one of the two",
            f"m.yaml:1: layers: must be at least 1 (got 0); allowed: {number} at least 1 and at most 100000",
            f"m.yaml: hidden: is missing; allowed: {number} at least 1 and at most 10000000",
            f"m.yaml: weights_bytes: is missing; allowed: {number} above 0 and at most {2**60}",
            f"m.yaml:2: hiden: is no known field, did you mean 'hidden'?; allowed: {FIELDS}",
        ]

    def test_in_a_design_and_its_machines(self, user: Path, write: Write, lines: Lines) -> None:
        machine = "hbm_bytes: 1e9, interconnect_bytes_per_s: 1e9, transfer_residue_s: 0, power_kw: 1"
        write("designs/machines.yaml", f"b200:\n  {{gpus: 0, cost_usd_per_h: 40, {machine}}}\n")
        write("designs/d.yaml", "prompt: b200\ntoken: b200\ntensor_parallel: 0\n")
        write("designs/e.yaml", "short: e\nprompt: b200\ntoken: gb200\n")
        gpus = (
            "designs/machines.yaml:2: b200.gpus: must be at least 1 (got 0); "
            "allowed: a whole number at least 1 and at most 10000"
        )
        assert lines(lambda: Catalog.open(user).design("d")) == [
            gpus,
            "designs/d.yaml: short: is missing; allowed: text of 1 to 40 characters",
            (
                "designs/d.yaml:3: tensor_parallel: must be at least 1 (got 0); "
                "allowed: a whole number at least 1 and at most 1024"
            ),
        ]
        every = lines(Catalog.open(user).designs)
        assert every.count(gpus) == 1
        assert any(line.startswith("designs/d.yaml:3: tensor_parallel") for line in every)
        assert any(line.startswith("designs/e.yaml:3: token: no machine has this name") for line in every)

    def test_a_missing_field_of_a_machine_stands_in_the_machines_line(
        self, user: Path, write: Write, lines: Lines
    ) -> None:
        write(
            "designs/machines.yaml",
            "\nb200: {gpus: 8, hbm_bytes: 1e9, interconnect_bytes_per_s: 1e9, transfer_residue_s: 0, power_kw: 1}\n",
        )
        assert lines(lambda: Catalog.open(user).machine("b200")) == [
            (
                "designs/machines.yaml:2: b200.cost_usd_per_h: is missing; "
                "allowed: a number at least 0 and at most 1000000000"
            )
        ]
