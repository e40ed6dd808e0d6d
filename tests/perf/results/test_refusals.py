"""What is wrong in a file of results, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from provisioner.errors import InputError
from provisioner.perf.results import KINDS, read_results
from tests.perf.results import shapes
from tests.perf.results.conftest import Faults, Read


def test_a_file_of_another_kind_gets_every_kind_and_why_not(faults: Faults) -> None:
    found = [problem for _, _, problem in faults({"timestamp": 1, "input_length": 2})]
    assert found[0] == "not a benchmark result of a known kind"
    assert len(found) == 1 + len(KINDS)
    assert "not GuideLLM (no benchmarks)" in found
    assert "not plain CSV (it is JSON)" in found


def test_a_table_without_units_is_told_so(faults: Faults) -> None:
    found = [problem for _, _, problem in faults("prompt_tokens,output_tokens,ttft\n1,2,3\n")]
    assert "not plain CSV (ttft names no unit: ttft_s or ttft_ms)" in found


def test_a_profile_is_no_result(faults: Faults) -> None:
    found = [problem for _, _, problem in faults("prompt_tokens,output_tokens,prefill_s\n1,2,3\n")]
    assert "not plain CSV (it is a profile already)" in found


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (-1.0, "negative"),
        (float("inf"), "not finite"),
        (float("nan"), "not a number"),
        ("soon", "not a number"),
        (True, "not a number"),
        (1e12, "too large"),
        (10**400, "not finite"),
    ],
)
def test_a_time_that_cannot_be(faults: Faults, value: object, problem: str) -> None:
    assert faults(shapes.vllm(median_ttft_ms=value)) == [(None, "median_ttft_ms", problem)]


def test_the_line_of_a_bad_time_is_told(faults: Faults) -> None:
    content = shapes.lines(shapes.sglang(), shapes.sglang(median_ttft_ms=-3))
    assert faults(content) == [(2, "median_ttft_ms", "negative")]
    assert faults(shapes.PLAIN.replace("1024,100,1,80", "1024,100,1,-80")) == [(4, "ttft_ms", "negative")]


def test_the_place_of_a_bad_time_in_a_list_is_told(faults: Faults) -> None:
    assert faults(shapes.vllm_detailed(ttfts=[0.05, -0.06, 0.07, 0.0])) == [(None, "ttfts[1]", "negative")]
    gaps = [[0.01, float("nan")], [0.04, 0.04], [], []]
    assert faults(shapes.vllm_detailed(itls=gaps)) == [(None, "itls[1]", "not a number")]


def test_lists_of_different_lengths_are_refused(faults: Faults) -> None:
    found = faults(shapes.vllm_detailed(ttfts=[0.05]))
    assert found == [(None, "input_lens", "the lists of requests differ in length")]


def test_a_unit_that_is_none_of_time_is_refused(faults: Faults) -> None:
    metric = {"unit": "furlongs", "avg": 30.0, "p50": 30.0}
    assert (None, "time_to_first_token.unit", "not a unit of time") in faults(shapes.aiperf(time_to_first_token=metric))


def test_only_failures_are_no_result(faults: Faults) -> None:
    content = shapes.vllm(completed=0, failed=102)
    assert faults(content) == [(None, None, "no request that completed is in this vLLM bench serve file: 102 failed")]


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("", None, "empty file"),
        ("[]", None, "no records"),
        ("[1, 2]", None, "not a mapping"),
        ("[" * 100_000, None, "not JSON: nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", None, "not JSON: a number of very many digits"),
        ('{"model_id": 1,\n "x"}', 2, "not JSON: Expecting ':' delimiter"),
        (shapes.lines(shapes.sglang()) + "{\n", 2, "not JSON: Expecting property name enclosed in double quotes"),
        ("prompt_tokens,output_tokens,ttft_s\n1,2\n", 2, "wrong number of fields"),
        ("prompt_tokens,output_tokens,ttft_s\n", None, "no rows"),
        ("prompt_tokens,output_tokens,ttft_s,ttft_ms\n1,2,3,3\n", 1, "given in two units"),
    ],
)
def test_a_broken_file(faults: Faults, content: str, line: int | None, problem: str) -> None:
    first, *_ = faults(content)
    assert (first[0], first[2]) == (line, problem)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    for file in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="cannot be read"):
            read_results(file)
    (tmp_path / "latin").write_bytes(b'{"a":\n"\xe9"}')
    with pytest.raises(InputError, match="not UTF-8"):
        read_results(tmp_path / "latin")


def test_numbers_are_numbers_not_texts_of_python(read: Read) -> None:
    with pytest.raises(InputError, match="not a number"):
        read(shapes.PLAIN.replace(",40,9.5", ",4_0,9.5"))
