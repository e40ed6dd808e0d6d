"""What was imported into a profile: the runs that it was made of, and what became of them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.perf import Points
from provisioner.perf.points import label
from provisioner.perf.results import Account, Imported
from provisioner.report.narrow import FittingTable as Table
from provisioner.report.plain import plain, printable

_FILE = re.compile(r":\d+$")
"""The line of a run, behind the name of its file."""


def summary(points: Points, fit: dict[str, float | None], out: Path | None) -> dict[str, Any]:
    """A profile in numbers."""
    return {
        "profile": label(points.key),
        "origin": points.origin,
        "rows": len(points),
        "prefill_rows": sum(not math.isnan(each) for each in points.prefill_s.tolist()),
        "decode_rows": sum(not math.isnan(each) for each in points.decode_s.tolist()),
        "prefill_fit_mape": fit["prefill"],
        "decode_fit_mape": fit["decode"],
        "written": None if out is None else str(out),
    }


def remarks(found: Imported) -> list[str]:
    """What was wrong with a run, after its place."""
    return [f"{place(each)} {each.run.label}".strip() + f": {text}" for each in found.accounts for text in each.remarks]


def mixed_up(found: Imported) -> list[str]:
    """Say so if the files name several models: a profile is of one."""
    models = sorted({each.run.model for each in found.accounts if each.run.model})
    return [f"the files are of {len(models)} models: {', '.join(models)}"] if len(models) > 1 else []


def place(account: Account) -> str:
    """File and line of a run."""
    run = account.run
    line = "" if run.line is None else f":{run.line}"
    return f"{run.file.name}{line}"


def row(account: Account) -> dict[str, Any]:
    """A run in numbers: what was asked, what was seen, what became of it."""
    run = account.run
    asked = run.asked_rps
    return {
        "file": place(account),
        "run": run.label,
        "kind": run.kind,
        "model_in_file": run.model,
        "asked_rps": "inf" if asked is not None and math.isinf(asked) else asked,
        "achieved_rps": _rounded(run.achieved_rps),
        "duration_s": _rounded(run.duration_s),
        "concurrency": run.concurrency,
        "completed": run.completed,
        "failed": run.failed,
        "zeros": run.zeros,
        "warmup": run.warmup,
        "prompt_tokens": _middle([seen.prompt_tokens for seen in run.seen]),
        "output_tokens": _middle([seen.output_tokens for seen in run.seen]),
        "ttft_s": _middle([seen.ttft_s for seen in run.seen]),
        "tpot_s": _middle([seen.decode_s for seen in run.seen]),
        "batch": account.batch,
        "prefill_rows": account.prefill_rows,
        "decode_rows": account.decode_rows,
    }


def source(row: dict[str, Any]) -> str:
    """A run in a line, for the head of the profile."""
    requests = "requests not counted" if row["completed"] is None else f"{row['completed']} requests"
    rates = f"asked {_cell(row['asked_rps'])} RPS, got {_cell(row['achieved_rps'])}"
    return f"{row['file']} {row['run']}: {row['kind']}, {requests}, {row['failed']} failed, {rates}"


def _middle(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _rounded(median(known)) if known else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.7g}")


def table(summary: dict[str, Any], rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Runs, one a row, and what they make together."""
    origin = "" if summary["origin"] == "measured" else f" ({summary['origin']}, not measured)"
    errors = [
        f"{phase} {summary[f'{phase}_fit_mape']:.2%}"
        for phase in ("prefill", "decode")
        if summary[f"{phase}_fit_mape"] is not None
    ]
    lines = [
        f"{summary['profile']}{origin}: {summary['prefill_rows']} prefill and {summary['decode_rows']} decode times",
        *([f"mean error of the fit on its own points: {', '.join(errors)}"] if errors else []),
        *([f"written to {summary['written']}"] if summary["written"] else ["not written: no --out"]),
    ]
    text = Text("\n".join(lines))
    if not rows:
        return text
    files = [
        part
        for _, same in groupby(rows, key=lambda row: (_FILE.sub("", row["file"]), row["kind"]))
        for part in _runs(list(same))
    ]
    units = Text("TTFT and TPOT in ms; Asked and RPS in requests per second; Rows of prefill + decode times", "dim")
    return Group(*files, units, text)


def _runs(rows: Sequence[dict[str, Any]]) -> tuple[RenderableType, RenderableType]:
    """The runs of one file, under its name."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Run", overflow="fold")
    for column in ("Asked", "RPS", "Done", "Failed", "Zeros", "TTFT", "TPOT", "Batch", "Rows"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        ways = f"{row['prefill_rows']}+{row['decode_rows']}"
        numbers = [row["asked_rps"], row["achieved_rps"], row["completed"], row["failed"], row["zeros"]]
        times = [None if row[name] is None else row[name] * 1e3 for name in ("ttft_s", "tpot_s")]
        cells = [_cell(each) for each in (*numbers, *times, row["batch"])]
        table.add_row(plain(row["run"] or "the whole file"), *cells, ways)
    return Text(printable(f"{_FILE.sub('', rows[0]['file'])}: {rows[0]['kind']}")), table


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"  # noqa: PLR2004 - no powers of ten
    return str(value)
