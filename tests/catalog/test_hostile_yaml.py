"""Whatever a file holds, the catalog gives a value or an InputError, and every fault is one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provisioner.catalog import Catalog, parse_override
from provisioner.cli.wording import word
from provisioner.errors import InputError

CATALOG = Catalog.open()

yaml_like = st.text(st.sampled_from(list(" \n\t:-?[]{}&*!%|>'\"#,@`~<=.0123456789eExo_abnkT\\/\x85\u2028\ud7ff")))
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))
shapes = st.sampled_from(["{}", "layers: {}", "limits: [{{metric: {}}}]", "prompt: {}\ntoken: {}", "{}: 3\n{}: 4"])


def assert_told(call: Callable[[], object]) -> None:
    try:
        call()
    except InputError as error:
        lines = [word(fault) for fault in error.faults]
    else:
        return
    assert lines
    assert all(line and line.isprintable() for line in lines)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that each example overwrites."""
    return tmp_path_factory.mktemp("hostile") / "x.yaml"


def assert_read(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    for ask in (CATALOG.model, CATALOG.design, CATALOG.slo):
        assert_told(lambda ask=ask: Catalog.open() and ask(str(file)))


fuzz = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@fuzz
@given(content=st.binary(max_size=300))
def test_bytes(file: Path, content: bytes) -> None:
    assert_read(file, content)


@fuzz
@given(content=yaml_like)
def test_text_of_yaml_characters(file: Path, content: str) -> None:
    assert_read(file, content.encode())


@fuzz
@given(shape=shapes, value=values)
def test_values_in_the_place_of_others(file: Path, shape: str, value: object) -> None:
    assert_read(file, shape.format(*[repr(value)] * 2).encode("utf-8", "replace"))


@fuzz
@given(text=st.text() | st.builds("{}={}".format, st.text(), yaml_like))
def test_overrides(text: str) -> None:
    assert_told(lambda: Catalog.open(overrides=dict([parse_override(text)])))


@fuzz
@given(
    kind=st.sampled_from(["machines", "models", "designs", "slos"]),
    path=st.lists(st.sampled_from(["*", "HA", "splitwise", "limits", "0", "ttft_p99", "scheduling", "name", "", "x"])),
    value=scalars,
)
def test_overrides_of_what_exists(kind: str, path: list[str], value: object) -> None:
    assert_told(lambda: Catalog.open(overrides={".".join([kind, *path]): value}))


@fuzz
@given(name=st.text(max_size=300))
def test_names(name: str) -> None:
    for kind in ("designs", "profiles"):
        assert_told(lambda kind=kind: CATALOG.find_file(kind, name))
    for ask in (CATALOG.design, CATALOG.model, CATALOG.slo, CATALOG.machine, CATALOG.workload, CATALOG.preset):
        assert_told(lambda ask=ask: ask(name))
