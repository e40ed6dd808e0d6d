"""Reading knots: every number as it stands, every fault by its path."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provisioner.errors import InputError
from provisioner.perf.knots import parse

FILE = Path("knots.json")
KNOTS: dict[str, Any] = {
    "prefill": {"tokens": [128, 256.5], "seconds": [0.1, 0.15]},
    "decode": {"batch": [1, 2], "seconds": [0.03, 0.029], "gamma_s_per_token": 1e-7},
    "mixed_factor": 1.2,
}
NAMES = {"model": "m", "machine": "box", "tensor_parallel": 4}


def faults_of(content: object) -> list[tuple[object, ...]]:
    text = content if isinstance(content, str) else json.dumps(content)
    with pytest.raises(InputError) as caught:
        parse(text, FILE)
    assert all(fault.file == FILE for fault in caught.value.faults)
    return [(fault.line, fault.field, fault.problem, fault.value, fault.allowed) for fault in caught.value.faults]


def changed(path: str, value: object) -> dict[str, Any]:
    """`KNOTS` under a name, with one thing in it changed, or left out where the value is `...`."""
    content = {"m/box": copy.deepcopy(KNOTS)}
    *above, last = path.split(".")
    place: dict[str, Any] = content["m/box"]
    for key in above:
        place = place[key]
    place[last] = value
    if value is ...:
        del place[last]
    return content


def test_an_object_as_profile_show_prints_it() -> None:
    shown = NAMES | KNOTS
    ((key, model),) = parse(json.dumps(shown), FILE).items()
    assert key == ("m", "box", 4)
    assert model.to_dict() == shown
    assert model.max_context_tokens is None


def test_a_mapping_of_names() -> None:
    without_factor = {key: value for key, value in KNOTS.items() if key != "mixed_factor"}
    content = {"_source": "the lab", "m/box": KNOTS, "org/m/box/tp2": without_factor}
    models = parse(json.dumps(content), FILE)
    assert list(models) == [("m", "box", 8), ("org/m", "box", 2)]
    assert [model.mixed_factor for model in models.values()] == [1.2, 1.1]


@pytest.mark.parametrize(
    ("path", "value", "faults"),
    [
        ("prefill", ..., [("m/box.prefill", "missing key", None, None)]),
        ("decode", None, [("m/box.decode", "missing key", None, None)]),
        ("decode.seconds", ..., [("m/box.decode.seconds", "missing key", None, None)]),
        ("decode.gamma_s_per_token", ..., [("m/box.decode.gamma_s_per_token", "missing key", None, None)]),
        ("speed", 1, [("m/box.speed", "unknown key", None, "prefill, decode, mixed_factor, origin")]),
        ("prefill.speed", 1, [("m/box.prefill.speed", "unknown key", None, "tokens, seconds")]),
        ("prefill", 3, [("m/box.prefill", "not a mapping", 3, "tokens, seconds")]),
        ("prefill.tokens", [], [("m/box.prefill.tokens", "not a list of numbers", [], "1 to 100000 numbers")]),
        ("prefill.tokens", 128, [("m/box.prefill.tokens", "not a list of numbers", 128, "1 to 100000 numbers")]),
        (
            "decode.seconds",
            [-0.1, "fast"],
            [
                ("m/box.decode.seconds[0]", "negative", -0.1, "a number from 0 to 1000000000"),
                ("m/box.decode.seconds[1]", "not a number", "fast", "a number from 0 to 1000000000"),
            ],
        ),
        ("mixed_factor", True, [("m/box.mixed_factor", "not a number", True, "a number from 0 to 1000000000")]),
        ("mixed_factor", 10**400, [("m/box.mixed_factor", "too large", 10**400, "a number from 0 to 1000000000")]),
        ("mixed_factor", 0, [("m/box", "mixed_factor must be a number above 0", None, None)]),
        (
            "prefill.tokens",
            [256, 128],
            [("m/box", "prefill.tokens must be positive, finite and increasing", None, None)],
        ),
        ("decode.batch", [1], [("m/box", "decode: as many seconds as batch are needed, and at least one", None, None)]),
    ],
)
def test_a_faulty_entry(path: str, value: object, faults: list[tuple[object, ...]]) -> None:
    assert faults_of(changed(path, value)) == [(None, *fault) for fault in faults]


def test_not_a_number_in_json() -> None:
    text = json.dumps(changed("decode.seconds", [float("nan"), float("inf")]))
    assert [fault[1:3] for fault in faults_of(text)] == [
        ("m/box.decode.seconds[0]", "not a number"),
        ("m/box.decode.seconds[1]", "too large"),
    ]


@pytest.mark.parametrize("name", ["box", "m/", "/box", "m/box/tp0", "m/box/tp2000", "m/\x1b", ""])
def test_a_name_that_is_none(name: str) -> None:
    assert faults_of({name: KNOTS}) == [(None, name, "unknown key", None, "model/machine or model/machine/tpN")]


def test_names_inside_the_object() -> None:
    assert faults_of({**KNOTS, "machine": "a/b", "tensor_parallel": 2.5}) == [
        (None, "model", "not a name", None, "1 to 80 printable characters"),
        (None, "machine", "not a name", "a/b", "1 to 80 printable characters"),
        (None, "tensor_parallel", "not a whole number", 2.5, "a whole number from 1 to 1024"),
    ]


def test_a_profile_or_a_key_given_twice() -> None:
    assert faults_of({"m/box": KNOTS, "m/box/tp8": KNOTS}) == [(None, "m/box/tp8", "profile given twice", None, None)]
    once = json.dumps(KNOTS)
    assert faults_of(f'{{"m/box": {once}, "m/box": {once}}}') == [(None, "m/box", "key given twice", None, None)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[1]", (None, None, "not a mapping", None, '{"model/machine": {...}}')),
        ("{}", (None, None, "no profiles", None, '"model/machine": {...}')),
        ('{"_source": "x"}', (None, None, "no profiles", None, '"model/machine": {...}')),
        ('{\n"a": ]', (2, None, "not JSON: Expecting value", None, None)),
        ("[" * 100_000, (None, None, "not JSON: nested too deeply", None, None)),
    ],
)
def test_what_holds_no_knots(text: str, fault: tuple[object, ...]) -> None:
    assert faults_of(text) == [fault]


def test_an_integer_of_very_many_digits() -> None:
    ((_, _, problem, _, _),) = faults_of('{"a": ' + "1" * 5000 + "}")
    assert str(problem).startswith("not JSON: Exceeds the limit")


def test_at_most_twenty_faults() -> None:
    found = faults_of(changed("decode.seconds", [-1] * 30))
    assert len(found) == 21
    assert found[-1][2] == "and 10 more"


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
keys = st.sampled_from(
    ["prefill", "decode", "tokens", "seconds", "batch", "gamma_s_per_token", "mixed_factor", "m/box"]
)
anything = st.recursive(
    scalars | st.just(KNOTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys | st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(keys | st.text(max_size=8), anything, max_size=4))
@settings(max_examples=300)
def test_any_json_is_read_or_refused(content: object) -> None:
    read_or_refuse(json.dumps(content))


@given(
    st.sampled_from(["prefill.tokens", "prefill.seconds", "decode.batch", "decode.seconds", "decode", "mixed_factor"]),
    anything | st.lists(st.integers(-1, 9) | st.floats(0, 2), max_size=3),
)
@settings(max_examples=300)
def test_knots_with_anything_in_them_are_read_or_refused(path: str, value: object) -> None:
    read_or_refuse(json.dumps(changed(path, value)))


@given(st.text(max_size=30).map(lambda text: "{" + text))
@settings(max_examples=100)
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refuse(text)


def read_or_refuse(text: str) -> None:
    try:
        models = parse(text, FILE)
    except InputError:
        return
    for model in models.values():
        assert model.prefill_s(1.0) > 0
