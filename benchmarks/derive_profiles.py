"""Write the shipped profile sets from the public Splitwise profile.

    python benchmarks/derive_profiles.py ../shared/data/splitwise_profile_raw.csv

`splitwise.csv`     quantiles of the repeats of each shape: what the fit and its validation need
`splitwisesim.json` knots that behave as the paper's own simulator does: times are medians by
                    prompt_size * batch_size, and those of the token phase are then asked with the number
                    of running requests. So the "batch" knots are token counts, and gamma is 0.

The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from provisioner.perf import PerformanceModel, Points, read_points
from provisioner.perf.measured import COLUMNS
from provisioner.perf.points import label
from provisioner.perf.shapes import medians, numbered

SHIPPED = Path(__file__).parents[1] / "provisioner" / "shipped" / "profiles"
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)

SOURCE = (
    "The public profile of Splitwise (P. Patel et al., ISCA 2024), data/perf_model.csv of "
    "github.com/Mutinifni/splitwise-sim, MIT License, Copyright (c) 2024 Pratyush Patel."
)
TABLE_HEAD = f"""\
# Derived from: {SOURCE}
# What was derived, by benchmarks/derive_profiles.py of this project: for each shape (prompt_tokens, batch,
# output_tokens) the 0.1, 0.3, 0.5, 0.7 and 0.9 quantiles (linear) of the repeats, of prefill_s and of decode_s apart,
# to 5 digits.
# output_tokens are tokens generated: many runs that asked for 512 or more stopped early. The number is the median of
# e2e_time / token_time over the repeats, or what was asked for if that is less. Shapes that so became alike are one.
# The power-capped rows have prefill times 1.3 times those of dgx-h100 and the same decode times, as in the source.
# With tensor_parallel 2, batches of 64 did not fit in memory and their prefill_s is that of a part; the fit leaves
# them out.
"""
KNOTS_SOURCE = (
    f"Derived from: {SOURCE} What was derived, by benchmarks/derive_profiles.py of this project: medians of "
    "prompt_time and of token_time by prompt_size * batch_size, in seconds. The paper's simulator asks both curves "
    "for a number of tokens, and counts one per running request in the token phase; hence the decode batch knots, and "
    "no gamma."
)


def quantile_rows(points: Points) -> Iterator[str]:
    """Five lines of CSV for each shape."""
    shapes = np.column_stack([points.prompt_tokens, points.batch, points.output_tokens])
    count, number = numbered(shapes)
    for shape in range(count):
        repeats = points.at(number == shape)
        prefill = np.quantile(repeats.prefill_s, QUANTILES)
        decode = np.quantile(repeats.decode_s, QUANTILES)
        lengths = (repeats.prompt_tokens[0], repeats.batch[0], repeats.output_tokens[0])
        names = ",".join([*map(str, points.key), *(f"{length:.0f}" for length in lengths)])
        for times in zip(prefill, decode, strict=True):
            yield ",".join([names, *(f"{time:.5g}" for time in times)])


def reference_simulator(points: Points) -> PerformanceModel:
    """The knots of the paper's simulator for one profile."""
    count, number = numbered(points.total_tokens[:, None])
    tokens = np.unique(points.total_tokens)
    return PerformanceModel(
        model=points.model,
        machine=points.machine,
        tensor_parallel=points.tensor_parallel,
        prefill_tokens=tokens,
        prefill_seconds=medians(points.prefill_s, number, count),
        decode_batch=tokens,
        decode_seconds=medians(points.decode_s, number, count),
        gamma_s_per_token=0.0,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", type=Path, help="the public profile (CSV)")
    parser.add_argument("--into", type=Path, default=SHIPPED, help="directory to write to")
    arguments = parser.parse_args()
    profiles = [points for _, points in sorted(read_points(arguments.raw).items())]

    rows = [row for points in profiles for row in quantile_rows(points)]
    table = TABLE_HEAD + "\n".join([",".join(COLUMNS), *rows]) + "\n"
    (arguments.into / "splitwise.csv").write_text(table, encoding="utf-8", newline="\n")

    knots: dict[str, object] = {"_source": KNOTS_SOURCE}
    for points in profiles:
        described = reference_simulator(points).to_dict()
        knots[label(points.key)] = {key: described[key] for key in ("prefill", "decode", "mixed_factor")}
    text = json.dumps(knots, indent=1) + "\n"
    (arguments.into / "splitwisesim.json").write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(rows)} rows and {len(profiles)} sets of knots in {arguments.into}")


if __name__ == "__main__":
    main()
