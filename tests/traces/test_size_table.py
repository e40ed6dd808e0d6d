"""Size tables: reading, and drawing from them."""

from __future__ import annotations

import numpy as np
import pytest

from provisioner.domain.trace import RequestTrace
from provisioner.errors import Fault, InputError
from provisioner.traces import SizeTable

HEAD = "prompt_tokens,output_tokens,count\n"


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def pairs_of(table: SizeTable) -> list[tuple[int, int, int]]:
    columns = (table.prompt_tokens, table.output_tokens, table.count)
    return list(zip(*(column.tolist() for column in columns), strict=True))


# Prompt and output go together: a short prompt has a long output.
TABLE = SizeTable(ints(1000, 10, 10), ints(1, 300, 200), ints(6, 1, 3))


def test_pairs_are_kept_in_order():
    assert pairs_of(TABLE) == [(10, 200, 3), (10, 300, 1), (1000, 1, 6)]
    assert (TABLE.requests, len(TABLE)) == (10, 3)


def test_the_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        TABLE.count[0] = 5


def test_read(write):
    table = SizeTable.read(write("# why\ncount,output_tokens,prompt_tokens\n6,1,1000\n# aside\n3,200,10\n1,300,10\n"))
    assert pairs_of(table) == pairs_of(TABLE)


def test_of_trace():
    trace = RequestTrace(np.arange(4.0), ints(5, 2, 5, 5), ints(1, 9, 1, 2))
    assert pairs_of(SizeTable.of_trace(trace)) == [(2, 9, 1), (5, 1, 2), (5, 2, 1)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((ints(), ints(), ints()), "empty"),
        ((ints(1), ints(1, 2), ints(1)), "differ in length"),
        ((ints(1), ints(0), ints(1)), "at least 1"),
        ((ints(1), ints(1), ints(0)), "at least 1"),
    ],
)
def test_the_constructor_refuses(columns, message):
    with pytest.raises(ValueError, match=message):
        SizeTable(*columns)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", {"problem": "the file is empty", "allowed": "a head line and at least one row"}),
        (HEAD, {"problem": "no sizes below the head line", "allowed": "at least one row"}),
        (
            HEAD + "1,2\n",
            {
                "problem": "the row has 2 columns",
                "line": 2,
                "value": "1,2",
                "allowed": "3 columns, as in the head line",
            },
        ),
        (
            HEAD + "5,5,5\n#\n5,5,0\n",
            {
                "problem": "out of range",
                "line": 4,
                "field": "count",
                "value": "0",
                "allowed": "a whole number from 1 to 1,000,000,000,000",
            },
        ),
        (
            HEAD + "5,5.5,1\n",
            {
                "problem": "not a whole number",
                "line": 2,
                "field": "output_tokens",
                "value": "5.5",
                "allowed": "a whole number from 1 to 10,000,000",
            },
        ),
        (
            "prompt_tokens,output_tokens,counts\n5,5,1\n",
            {
                "problem": "unknown column; did you mean count?",
                "line": 1,
                "field": "counts",
                "allowed": "the columns prompt_tokens, output_tokens, count",
            },
        ),
    ],
)
def test_faults(write, content, fault):
    path = write(content)
    with pytest.raises(InputError) as caught:
        SizeTable.read(path)
    assert caught.value.faults == (Fault(file=path, **fault),)


def test_missing_file(tmp_path):
    with pytest.raises(InputError) as caught:
        SizeTable.read(tmp_path / "none.csv")
    assert caught.value.faults == (Fault(problem="no such file", file=tmp_path / "none.csv"),)


def test_joint_draws_are_pairs_of_the_table_in_its_shares():
    prompts, outputs = TABLE.sample(100_000, np.random.default_rng(1))
    drawn = SizeTable(
        *(column for column in np.unique([prompts, outputs], axis=1, return_counts=True)[0]), ints(1, 1, 1)
    )
    assert pairs_of(drawn) == [(10, 200, 1), (10, 300, 1), (1000, 1, 1)]
    for prompt, output, count in pairs_of(TABLE):
        share = np.mean((prompts == prompt) & (outputs == output))
        assert share == pytest.approx(count / 10, abs=4 * np.sqrt(0.25 / 100_000))


def test_independent_draws_have_the_same_marginals_and_no_correlation():
    prompts, outputs = TABLE.sample(100_000, np.random.default_rng(1), independent=True)
    tolerance = 4 * np.sqrt(0.25 / 100_000)
    assert np.mean(prompts == 10) == pytest.approx(0.4, abs=tolerance)
    assert np.mean(outputs == 300) == pytest.approx(0.1, abs=tolerance)
    assert np.mean((prompts == 1000) & (outputs == 300)) == pytest.approx(0.06, abs=tolerance)
    assert abs(np.corrcoef(prompts, outputs)[0, 1]) < 4 / np.sqrt(100_000)


def test_joint_and_independent_draws_share_their_prompts():
    joint, _ = TABLE.sample(1000, np.random.default_rng(1))
    independent, _ = TABLE.sample(1000, np.random.default_rng(1), independent=True)
    assert np.array_equal(joint, independent)


@pytest.mark.parametrize("independent", [False, True])
def test_a_few_and_then_more_are_the_same_as_all_at_once(independent):
    rng = np.random.default_rng(3)
    parts = [TABLE.sample(n, rng, independent=independent) for n in (1, 0, 7, 92)]
    whole = TABLE.sample(100, np.random.default_rng(3), independent=independent)
    for axis in range(2):
        assert np.array_equal(np.concatenate([part[axis] for part in parts]), whole[axis])


def test_the_uniforms_at_the_ends():
    class Ends:
        def random(self, shape: tuple[int, int]) -> np.ndarray:
            assert shape == (2, 2)
            return np.array([[0.0, 0.0], [np.nextafter(1.0, 0.0)] * 2])

    for independent in (False, True):
        prompts, outputs = TABLE.sample(2, Ends(), independent=independent)
        assert prompts.tolist() == [10, 1000]
        assert outputs.tolist() == ([1, 300] if independent else [200, 1])
