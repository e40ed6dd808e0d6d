"""What a page tells in words and tables, from the answer as JSON and CSV have it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from provisioner.report.figures import Figure
from provisioner.report.figures.wording import METRICS
from provisioner.report.html.element import Markup, element

Answer = Mapping[str, Any]
MOST_ROWS = 500
STATUS_OF_MANY = {True: "feasible: some cluster meets every SLO", False: "infeasible: no cluster meets every SLO"}
STATUS = {
    "optimal": "optimal: every SLO is met, and nothing that takes less does",
    "feasible": "feasible: every SLO is met",
    "infeasible": "infeasible: some SLO is missed",
    "uncertain": "uncertain: too close to tell",
}


def heading(title: str, answer: Answer) -> Markup:
    """The title, what became of the question, and the switch between dark and light."""
    status = answer.get("status")
    words = STATUS.get(str(status), status)
    if "clusters" in answer:
        passes = any(cluster["status"] == "feasible" for cluster in answer["clusters"])
        status, words = "feasible" if passes else "infeasible", STATUS_OF_MANY[passes]
    return element(
        "header",
        element("h1", title),
        element("p", words, class_=f"status {status}") if status else None,
        element("button", "Dark or light", type="button", id_="theme"),
    )


def section(title: str, *content: object, name: str | None = None) -> Markup:
    """A part of the page with its heading."""
    name = name or title.lower().replace(" ", "-")
    return element("section", element("h2", title, id_=name), *content, aria_labelledby=name)


def question(answer: Answer) -> Markup | None:
    """What was asked."""
    asked = {**answer.get("goal", {})}
    inputs = answer.get("inputs", {})
    asked.update({name: inputs[name] for name in ("design", "workload", "model", "slo", "profile") if name in inputs})
    return section("Question", terms(asked)) if asked else None


def verdict(answer: Answer) -> Markup | None:
    """The cluster that is the answer, or why there is none."""
    cluster = answer.get("cluster")
    reason = answer.get("reason")
    if cluster is None and reason is None:
        return None
    binding = answer.get("binding_slo")
    bound = f"{METRICS[binding['metric']]} P{binding['percentile']:g} binds" if binding else None
    room = binding.get("headroom") if binding else None
    return section(
        "Answer",
        terms(cluster) if cluster else None,
        element("p", bound, "" if room is None else f", with {room:.1%} of its limit to spare", ".") if bound else None,
        element("p", f"{reason}.") if reason else None,
    )


def objectives(answer: Answer) -> Markup | None:
    """The SLOs with what was achieved; before a change too."""
    slos = answer.get("slos")
    if not slos:
        return None
    before = [None] * len(slos) if "before" not in answer else answer["before"]["slos"]
    heads = ["Objective", "Limit", *(["Before"] if "before" in answer else []), "Achieved", "95 % interval", "Verdict"]
    rows = [
        [
            f"{METRICS[slo['metric']]} P{slo['percentile']:g} ({slo['unit']})",
            slo["limit"],
            *([was["value"]] if was else []),
            slo["value"],
            "" if slo["ci95"] is None else f"{_short(slo['ci95'][0])} to {_short(slo['ci95'][1])}",
            slo["verdict"],
        ]
        for slo, was in zip(slos, before, strict=True)
    ]
    return section("Objectives", table("Service-level objectives", heads, rows))


def proof(answer: Answer) -> Markup | None:
    """Why nothing better passes."""
    search = answer.get("search")
    if not search:
        return None
    confirmation = answer.get("confirmation")
    confirmed = confirmation and (
        f"On {confirmation['fresh_seeds']} fresh seeds, one at a time, it passes {confirmation['passed']} times."
    )
    counts = {name: value for name, value in search.items() if name != "certificate"}
    return section(
        "Why it is optimal" if answer.get("status") == "optimal" else "What was searched",
        element("p", f"{search['certificate'][:1].upper()}{search['certificate'][1:]}."),
        element("p", confirmed) if confirmed else None,
        terms(counts),
        name="why",
    )


def figure(name: str, shown: Figure) -> Markup:
    """Room for a chart; the script draws it, and reads out where the arrow keys go."""
    note = getattr(shown, "note", "")
    return element(
        "section",
        element("h2", shown.title),
        element(
            "figure",
            element("div", class_="chart", id_=name, role="group", tabindex="0", aria_label=f"Chart: {shown.title}"),
            element("output", "Arrow keys go from mark to mark.", class_="readout", for_=name),
            element("figcaption", note) if note else None,
        ),
    )


def alternatives(rows: str) -> Markup | None:
    """All clusters that CSV has, or those that fare best where they are many; sortable."""
    found = list(csv.DictReader(io.StringIO(rows)))
    if len(found) < 2:  # noqa: PLR2004 - the only row is the answer
        return None
    heads = [name for name in found[0] if not name.endswith("_limit")]
    shown = found
    if len(found) > MOST_ROWS and "headroom" in found[0]:
        shown = sorted(found, key=lambda row: (row["status"] != "feasible", -float(row["headroom"] or "-inf")))
    remark = f"{len(found):,} rows" if len(found) <= MOST_ROWS else f"{MOST_ROWS} of {len(found):,} rows; CSV has all"
    return section(
        "Alternatives",
        element("p", f"{remark}. A heading sorts."),
        table(
            "What was simulated",
            [worded(name) for name in heads],
            [[_value(row[name]) for name in heads] for row in shown[:MOST_ROWS]],
            is_sortable=True,
        ),
    )


def warnings(answer: Answer) -> Markup | None:
    """What is to be kept in mind, of the answer and of each of its clusters."""
    told = [*answer.get("warnings", [])]
    for cluster in answer.get("clusters", []):
        told += [f"{cluster['cluster']['design']}: {text}" for text in cluster.get("warnings", [])]
    told = list(dict.fromkeys(told))
    return section("Warnings", element("ul", *(element("li", text) for text in told))) if told else None


def inputs(answer: Answer) -> Markup | None:
    """Every input as it was resolved."""
    found = answer.get("inputs")
    return section("Inputs", terms(found)) if found else None


def reproduce(command: str, answer: Answer) -> Markup:
    """The command, and what to run it with."""
    version = answer.get("inputs", {}).get("version")
    return section(
        "Reproduce",
        element("pre", element("code", command), tabindex="0", aria_label="The command"),
        element("p", f"With provisioner {version}.") if version else None,
    )


def terms(values: Mapping[str, Any]) -> Markup:
    """Names and values."""
    return element(
        "dl",
        *(
            element("div", element("dt", worded(name)), element("dd", _words(value)))
            for name, value in values.items()
            if value not in (None, [], {}, "")
        ),
    )


def table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]], *, is_sortable: bool = False) -> Markup:
    """A table that scrolls by itself; numbers are right-aligned."""
    head = element(
        "tr",
        *(
            element("th", element("button", name, type="button") if is_sortable else name, scope="col")
            for name in heads
        ),
    )
    body = (element("tr", *(_cell(value, is_first=not place) for place, value in enumerate(row))) for row in rows)
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", head),
            element("tbody", *body),
            class_="sortable" if is_sortable else None,
        ),
        class_="scroll", tabindex="0", role="region", aria_label=caption,
    )  # fmt: skip


def _cell(value: Any, *, is_first: bool) -> Markup:
    number = None if isinstance(value, str) or value is None else value
    text = "-" if value is None else value if number is None else _short(number)
    kind = "number" if number is not None else str(value) if value in ("met", "missed", "uncertain") else None
    if is_first:
        return element("th", text, scope="row")
    return element("td", text, class_=kind, data_value=number)


def worded(name: str) -> str:
    """A key as people read it: `cost_usd_per_h` is `cost (USD/h)`."""
    for ending, unit in (("_usd_per_h", "USD/h"), ("_kw", "kW"), ("_rps", "requests/s"), ("_s", "s")):
        if name.endswith(ending):
            return f"{name.removesuffix(ending).replace('_', ' ')} ({unit})"
    return name.replace("_", " ")


def _words(value: Any) -> object:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_words(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(str(_words(each)) for each in value)
    return _short(value) if isinstance(value, float) else value


def _short(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 1e5 else f"{value:,.0f}"  # noqa: PLR2004


def _value(text: str) -> Any:
    """A number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text
