"""Derive the shipped size tables from the Azure LLM inference traces of 2023.

    python benchmarks/derive_workloads.py RAW_DIR [OUT_DIR]

RAW_DIR holds azure_llm_2023_coding.csv and azure_llm_2023_conversation.csv; OUT_DIR is
provisioner/shipped/workloads unless given. Nothing is random: the same traces give the same bytes.

The method. Each axis is cut into bins on its own, from the smallest length up: a bin grows by one distinct
length after the other, until the next would make it wider than `WIDTH` (largest over smallest length, less
1) or heavier than `MASS` (share of the requests). A length that alone weighs more than that is a bin of its own,
and so are small lengths, where the next whole number is already more than `WIDTH` away. A bin stands for its
mean length, rounded. The table counts the requests in each pair of bins that has any.

Why the table is close. At the edge of a bin both cumulative distributions agree. Inside one they differ by
less than the bin's mass, and not at all if it holds one length only. So the Kolmogorov-Smirnov distance of
either axis stays under `MASS` whatever the data, and every length moves by `WIDTH` at most.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from provisioner.domain.trace import Ints
from provisioner.traces import read_trace

WIDTH = 0.02
MASS = 0.005
SHIPPED = Path(__file__).parents[1] / "provisioner" / "shipped" / "workloads"

HEAD = """\
# Joint distribution of prompt and output lengths: {name}.
#
# Derived from the Azure LLM inference trace 2023 ({name}), Azure Public Dataset,
# https://github.com/Azure/AzurePublicDataset, licence CC-BY 4.0, published with: Patel et al., "Splitwise:
# Efficient Generative LLM Inference Using Phase Splitting", ISCA 2024.
#
# What was changed: {requests:,} requests were counted in {prompt_bins} x {output_bins} bins of prompt and output
# length, each no wider than {width:.0%} and with at most {mass:.1%} of the requests (or of one length only). A bin is
# given by its mean length. Arrival times and order are not in here.
# Made by benchmarks/derive_workloads.py; do not edit.
#
# How close it is (table / trace)  prompt_tokens        output_tokens
# Kolmogorov-Smirnov distance      {ks[0]:<20.5f} {ks[1]:.5f}
# median                           {medians[0]:<20} {medians[1]}
# 99th percentile                  {p99s[0]:<20} {p99s[1]}
# mean                             {means[0]:<20} {means[1]}
# Spearman rank correlation        {spearman}
prompt_tokens,output_tokens,count
"""


def bin_means(lengths: Ints) -> Ints:
    """Replace each length by the rounded mean of its bin."""
    values, counts = np.unique(lengths, return_counts=True)
    bins = np.empty(len(values), dtype=np.int64)
    current, lowest, mass = -1, 0, 0
    for place, (value, count) in enumerate(zip(values.tolist(), counts.tolist(), strict=True)):
        if current < 0 or value > lowest * (1 + WIDTH) or mass + count > MASS * len(lengths):
            current, lowest, mass = current + 1, value, 0
        bins[place] = current
        mass += count
    means = np.bincount(bins, weights=values * counts) / np.bincount(bins, weights=counts)
    return np.rint(means).astype(np.int64)[bins[np.searchsorted(values, lengths)]]


def ks_distance(left: Ints, right: Ints) -> float:
    """Give the largest difference between two empirical distribution functions."""
    at = np.union1d(left, right)
    return float(np.max(np.abs(_share_up_to(at, left) - _share_up_to(at, right))))


def _share_up_to(at: Ints, lengths: Ints) -> NDArray[np.float64]:
    return np.searchsorted(np.sort(lengths), at, side="right") / len(lengths)


def table(name: str, prompts: Ints, outputs: Ints) -> str:
    """Give the text of the table of one trace."""
    raw = (prompts, outputs)
    binned = (bin_means(prompts), bin_means(outputs))
    pairs, counts = np.unique(np.column_stack(binned), axis=0, return_counts=True)
    spearman = [float(stats.spearmanr(x, y).statistic) for x, y in (binned, raw)]
    axes = list(zip(binned, raw, strict=True))
    head = HEAD.format(
        name=name,
        requests=len(prompts),
        prompt_bins=len(np.unique(binned[0])),
        output_bins=len(np.unique(binned[1])),
        width=WIDTH,
        mass=MASS,
        ks=[ks_distance(*both) for both in axes],
        medians=[" / ".join(f"{np.median(axis):g}" for axis in both) for both in axes],
        p99s=[" / ".join(f"{np.percentile(axis, 99):.1f}" for axis in both) for both in axes],
        means=[" / ".join(f"{np.mean(axis):.2f}" for axis in both) for both in axes],
        spearman=" / ".join(f"{value:.5f}" for value in spearman),
    )
    rows = np.column_stack((pairs, counts)).tolist()
    return head + "".join(f"{prompt},{output},{count}\n" for prompt, output, count in rows)


def main(raw_dir: Path, out_dir: Path = SHIPPED) -> None:
    """Write both tables."""
    for name in ("coding", "conversation"):
        trace = read_trace(raw_dir / f"azure_llm_2023_{name}.csv")
        target = out_dir / f"{name}.csv"
        target.write_text(table(name, trace.prompt_tokens, trace.output_tokens), encoding="utf-8", newline="\n")
        print(f"{target}: {target.stat().st_size:,} bytes from {len(trace):,} requests")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
