"""`--set path=value`: one field of one entry, or of all, for one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from provisioner.catalog import Catalog, parse_override
from tests.catalog.user_folder import Lines, Write


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("machines.dgx-h100.cost_usd_per_h=24", "machines.dgx-h100.cost_usd_per_h", 24),
        ("machines.*.usable_memory_fraction=0.85", "machines.*.usable_memory_fraction", 0.85),
        ("models.m.weights_bytes=352.5e9", "models.m.weights_bytes", 352_500_000_000),
        ("designs.HA.scheduling.strict_room=true", "designs.HA.scheduling.strict_room", True),
        ("designs.HA.mixed=null", "designs.HA.mixed", None),
        ("designs.HA.name=a=b", "designs.HA.name", "a=b"),
        ("designs.HA.name='12'", "designs.HA.name", "12"),
    ],
)
def test_a_value_is_a_yaml_scalar(text: str, path: str, value: object) -> None:
    parsed = parse_override(text)
    assert parsed == (path, value)
    assert type(parsed[1]) is type(value)


FORM = "KIND.NAME.FIELD=VALUE with KIND one of machines, models, designs, slos and NAME a name or *"
SINGLE = "one number, word or truth"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("machines.x.gpus", f"--set: is no override (got 'machines.x.gpus'); allowed: {FORM}"),
        ("=3", f"--set: is no override (got '=3'); allowed: {FORM}"),
        ("", f"--set: is no override (got ''); allowed: {FORM}"),
        ("a.b.c= ", f"--set: is no override (got 'a.b.c= '); allowed: {FORM}"),
        ("a.b.c=[1, 2]", f"--set: a.b.c: must be a single value (got '[1, 2]'); allowed: {SINGLE}"),
        ("a.b.c=x: 1", f"--set: a.b.c: must be a single value (got 'x: 1'); allowed: {SINGLE}"),
        ("a.b.c=# 3", f"--set: a.b.c: is empty (got '# 3'); allowed: {SINGLE}"),
        ("a.b.c=[1", ("--set: a.b.c: is not YAML: expected ',' or ']', but got '<stream end>' (got '[1'); "
         f"allowed: {SINGLE}")),
        ("a.b.c=&x 3", "--set: a.b.c: uses a YAML anchor or alias (got '&x 3'); allowed: the value itself"),
        ("a.b.c=\x1b[31m", f"--set: a.b.c: holds a control character (got '\\x1b[31m'); allowed: {SINGLE}"),
    ],
)  # fmt: skip
def test_what_is_no_override_says_what_one_looks_like(lines: Lines, text: str, line: str) -> None:
    assert lines(lambda: parse_override(text)) == [line]


def test_a_field_is_changed_for_whoever_uses_it() -> None:
    catalog = Catalog.open(overrides={"machines.dgx-h100.cost_usd_per_h": 24, "machines.DGX-A100.power_kw": 6.5})
    assert catalog.machine("dgx-h100").cost_usd_per_h == 24
    assert catalog.design("HA").prompt.cost_usd_per_h == 24
    assert catalog.design("HA").token.power_kw == 6.5
    assert catalog.machine("dgx-h100-cap").cost_usd_per_h == 38.08


def test_a_design_is_changed_by_its_short_name() -> None:
    overrides = {"designs.HA.token": "dgx-h100-cap", "designs.ha.scheduling.max_batch_tokens": 4096}
    design = Catalog.open(overrides=overrides).design("Splitwise-HA")
    assert design.token.name == "dgx-h100-cap"
    assert design.scheduling.max_batch_tokens == 4096


def test_null_takes_a_field_away() -> None:
    overrides = {"designs.HA.mixed": "dgx-a100", "designs.HA.prompt": None, "designs.HA.token": None}
    assert Catalog.open(overrides=overrides).design("HA").is_mixed


@pytest.mark.parametrize("step", ["2", "ttft_p99"])
def test_an_slo_limit_is_changed_by_position_or_name(step: str) -> None:
    slo = Catalog.open(overrides={f"slos.splitwise.limits.{step}.limit": 8}).slo("splitwise")
    assert [limit.limit for limit in slo.limits] == [2, 3, 8, 1.25, 1.5, 5, 1.25, 1.5, 5]


def test_a_name_may_have_dots_and_the_longest_one_counts(user: Path, write: Write) -> None:
    text = "layers: 1\nhidden: 1\nkv_heads: 1\nhead_dim: 1\nweights_bytes: 1\n"
    write("models/llama-3.1.yaml", text)
    write("models/llama-3.yaml", text)
    catalog = Catalog.open(user, overrides={"models.llama-3.1.layers": 7})
    assert catalog.model("llama-3.1").layers == 7
    assert catalog.model("llama-3").layers == 1


def test_a_design_given_by_path_is_changed_too(write: Write) -> None:
    file = write("quick.yaml", "short: Q\nmixed: dgx-a100\n")
    for name in ("*", file):
        assert Catalog.open(overrides={f"designs.{name}.tensor_parallel": 4}).design(str(file)).tensor_parallel == 4


def test_the_last_override_of_a_field_counts() -> None:
    overrides = {"machines.dgx-a100.power_kw": 1, "machines.*.power_kw": 2}
    assert Catalog.open(overrides=overrides).machine("dgx-a100").power_kw == 2


NAMES = "dgx-a100, dgx-h100, dgx-h100-cap"
FIELDS = (
    "name, layers, hidden, kv_heads, head_dim, bytes_per_element, weights_bytes, kv_layers, kv_elements, "
    "active_parameters, attention_flops, experts"
)


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("machine.dgx-a100.gpus", 8, "'machine' cannot be set, did you mean 'machines'?; allowed: " + FORM),
        ("workloads.coding.sizes", 8, "'workloads' cannot be set; allowed: " + FORM),
        ("machines", 8, f"names no field; allowed: {FORM}"),
        ("machines.dgx-a100", 8, f"names no field; allowed: {FORM}"),
        ("machines.dgx-b100.gpus", 8, ("no machine has this name, did you mean 'dgx-h100'? (got 'dgx-b100'); "
         f"allowed: {NAMES}")),
        ("models.llama2-70b.layer", 8, f"is no known field, did you mean 'layers'?; allowed: {FIELDS}"),
        ("models.*.layer", 8, f"is no known field, did you mean 'layers'?; allowed: {FIELDS}"),
        ("models.llama2-70b.", 8, f"is no known field; allowed: {FIELDS}"),
        ("models.llama2-70b.layers.x", 8, "a single value has no field 'x' (got 80)"),
        ("models.llama2-70b.layers", 0, ("must be at least 1 (got 0); "
         "allowed: a whole number at least 1 and at most 100000")),
        ("models.llama2-70b.layers", "many", ("must be a whole number (got 'many'); "
         "allowed: a whole number at least 1 and at most 100000")),
        ("designs.HA.scheduling.transfer_retry_s", -1, ("must be at least 0 (got -1); "
         "allowed: a number at least 0 and at most 3600")),
        ("designs.HA.prompt", "dgx", f"no machine has this name (got 'dgx'); allowed: {NAMES}"),
        ("designs.HA.prompt.gpus", 4, "a single value has no field 'gpus' (got 'dgx-h100')"),
        ("slos.splitwise.limits.ttft_p95.limit", 4, ("'ttft_p95' is not in the list, did you mean 'ttft_p99'?; "
         "allowed: ttft_p50, ttft_p90, ttft_p99, tbt_p50, tbt_p90, tbt_p99, e2e_p50, e2e_p90, e2e_p99")),
        ("slos.splitwise.limits.ttft_p99.limit", 0, ("must be above 0 (got 0); "
         "allowed: a number above 0 and at most 1000000000")),
    ],
)  # fmt: skip
def test_a_bad_override_is_a_fault_even_of_what_nobody_uses(lines: Lines, path: str, value: object, line: str) -> None:
    found = lines(lambda: Catalog.open(overrides={path: value}))
    assert found == [f"--set: {path}: {line}"]


def test_an_unknown_group_of_fields_is_the_overrides_fault(lines: Lines) -> None:
    (line,) = lines(lambda: Catalog.open(overrides={"designs.*.sheduling.strict_room": True}))
    assert line.startswith("--set: designs.*.sheduling.strict_room: is no known field, did you mean 'scheduling'?")


def test_every_bad_override_is_told(lines: Lines) -> None:
    overrides = {"models.*.layers": 0, "machines.dgx-a100.gpus": 0, "slos.*.limit": 3}
    assert len(lines(lambda: Catalog.open(overrides=overrides))) == 3


def test_a_users_broken_file_is_not_the_overrides_fault(user: Path, write: Write) -> None:
    write("models/broken.yaml", "layers: [")
    write("models/poor.yaml", "layers: 3")
    assert Catalog.open(user, overrides={"models.*.bytes_per_element": 1}).model("bloom-176b").bytes_per_element == 1


class TestPreset:
    """A preset is a set of overrides with a name."""

    def test_a_users_preset_is_found_and_applied(self, user: Path, write: Write) -> None:
        write("presets/dear.yaml", "slo: splitwise\nset:\n  machines.*.cost_usd_per_h: 99\n")
        catalog = Catalog.open(user, preset="dear")
        assert catalog.machine("dgx-a100").cost_usd_per_h == 99
        assert catalog.preset("dear").slo == "splitwise"

    def test_its_faults_stand_in_its_file(self, user: Path, write: Write, lines: Lines) -> None:
        write("presets/bad.yaml", "set:\n  machines.*.gpus: 0\n  machines.x.gpus: 1\n")
        assert lines(lambda: Catalog.open(user, preset="bad")) == [
            f"presets/bad.yaml:3: machines.x.gpus: no machine has this name (got 'x'); allowed: {NAMES}"
        ]
        write("presets/bad.yaml", "set:\n  machines.*.gpus: 0\n")
        assert lines(lambda: Catalog.open(user, preset="bad")) == [
            (
                "presets/bad.yaml:2: machines.*.gpus: must be at least 1 (got 0); "
                "allowed: a whole number at least 1 and at most 10000"
            )
        ]

    def test_it_has_no_other_fields(self, user: Path, write: Write, lines: Lines) -> None:
        write("presets/bad.yaml", "sets: {}\nset: 3\n")
        assert lines(lambda: Catalog.open(user, preset="bad")) == [
            "presets/bad.yaml:2: set: must be a mapping of names to values (got 3)",
            "presets/bad.yaml:1: sets: is no known field, did you mean 'set'?; allowed: name, profile, slo, set",
        ]
