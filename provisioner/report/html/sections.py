"""What a page tells in words and tables, from the answer as JSON and CSV have it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from provisioner.report.figures import Figure, Front
from provisioner.report.figures.wording import GOAL_UNITS, METRICS
from provisioner.report.html.element import Markup, element

Answer = Mapping[str, Any]
MOST_ROWS = 500
UNITS_OF = {
    "_usd_per_h": "USD/h",
    "_kw": "kW",
    "_gb": "GB",
    "_gb_per_s": "GB/s",
    "_kb_per_token": "kB/token",
    "_rps": "requests/s",
    "_usd": "USD",
    "_s": "s",
}
"""Units by the endings of keys."""
STATUS_OF_MANY = {True: "feasible: some cluster meets every SLO", False: "infeasible: no cluster meets every SLO"}
STATUS = {
    "optimal": "optimal: every SLO is met, and nothing that takes less does",
    "feasible": "feasible: every SLO is met",
    "infeasible": "infeasible: some SLO is missed",
    "uncertain": "uncertain: too close to tell",
}


STATUS_OF_FLEETS = {
    "optimal": "optimal: every SLO is met within the limits, and no other fleet is better",
    "feasible": "feasible: every SLO is met within the limits; a better fleet may exist",
    "infeasible": "infeasible: no fleet was found within the limits",
}
ROWS = {
    "services": ("Services", "What each service gets"),
    "hours": ("Hours", "What each service gets in each hour"),
    "clusters": ("Alternatives", "What was simulated"),
    "cluster": ("Alternatives", "What was simulated"),
}
"""What rows are of, by what answers have."""


class Verdict(str):
    """Whether an objective is met, which is coloured."""

    __slots__ = ()


def heading(title: str, answer: Answer) -> Markup:
    """The title, what became of the question, and the switch between dark and light."""
    status = answer.get("status")
    worded_as = STATUS_OF_FLEETS if "services" in answer or "hours" in answer else STATUS
    words = worded_as.get(str(status))
    if "clusters" in answer:
        passes = any(cluster["status"] == "feasible" for cluster in answer["clusters"])
        status, words = "feasible" if passes else "infeasible", STATUS_OF_MANY[passes]
    return element(
        "header",
        element("h1", title),
        element("p", words, class_=f"status {status}") if words else None,
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
    cluster = answer.get("cluster") or _whole(answer)
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


def _whole(answer: Answer) -> Answer | None:
    """What a fleet takes, or a day of it."""
    if "hours" in answer:
        goal = () if answer["unit"] == "USD" else ("value", "unit", "peak_value")
        found = {name: answer[name] for name in (*goal, "cost_usd", "peak_usd", "saving", "reserved")}
        return {**found, "saving": f"{found['saving'] or 0:.1%}"} if answer["hours"] else None
    return answer.get("totals")


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
            Verdict(slo["verdict"]),
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
    text = search.get("certificate")
    return section(
        "Why it is optimal" if answer.get("status") == "optimal" else "What was searched",
        element("p", f"{text[:1].upper()}{text[1:]}.") if text else None,
        element("p", confirmed) if confirmed else None,
        terms(counts),
        name="why",
    )


def figure(name: str, shown: Figure, remark: str | None) -> Markup:
    """Room for a chart; the script draws it, and reads out where the arrow keys go."""
    note = ". ".join(text for text in (getattr(shown, "note", ""), remark) if text)
    zoom = " The wheel zooms, dragging moves." if isinstance(shown, Front) else ""
    return element(
        "section",
        element("h2", shown.title),
        element(
            "figure",
            element(
                "div",
                element(
                    "div", class_="chart", id_=name, role="group", tabindex="0", aria_label=f"Chart: {shown.title}"
                ),
                class_="window",
            ),
            element("output", f"Arrow keys go from mark to mark.{zoom}", class_="readout", for_=name),
            element("figcaption", note) if note else None,
        ),
    )


def limits(answer: Answer) -> Markup | None:
    """What is limited, what is used of it, and what more of it would buy; of a fleet that cannot be, what would do."""
    is_conflict = bool(answer.get("conflict"))
    uses = answer.get("conflict") or answer.get("limits")
    if not uses:
        return None
    heads = ["Limit", "Used", "Of", "One more buys", "The next step", "It buys"]
    if is_conflict:
        heads = ["Limit", "Is", "Enough, if the others stay"]
    caption = "Limits that contradict each other" if is_conflict else f"Limits; gains are {_gains(answer)}"
    rows = []
    for use in uses:
        step, gain = (use["enough"]["limit"], use["enough"]["gain"]) if use["enough"] else (None, None)
        if step is None and not use["known"]:
            step = "not known"
        name = f"{use['name']} ({use['unit']})"
        bought = use["one_more"] if use["binds"] else None
        used = [use["used"], use["limit"], bought, step, gain]
        rows.append([name, use["limit"], step] if is_conflict else [name, *used])
    dropped = ", then ".join(f"{each['service']} (at {each['at']:.0%})" for each in answer.get("dropped_first", []))
    return section(
        "Limits",
        table(caption, heads, rows),
        element("p", f"With less {answer['rationed']}, dropped first: {dropped}.") if dropped else None,
    )


def _gains(answer: Answer) -> str:
    return GOAL_UNITS[next(iter(answer["goal"].values()))]


def catalog(answer: Answer) -> list[Markup]:
    """Each kind with its entries; sortable."""
    return [
        section(
            "SLOs" if kind == "slos" else kind.capitalize(),
            table(
                f"The {kind} that can be named",
                [worded(name) for name in entries[0]],
                [list(entry.values()) for entry in entries],
                is_sortable=True,
            ),
            name=f"all-{kind}",
        )
        for kind, entries in answer.get("catalog", {}).items()
        if entries
    ]


def alternatives(rows: str, answer: Answer) -> Markup | None:
    """All rows that CSV has, or those that fare best where they are many; sortable."""
    found = list(csv.DictReader(io.StringIO(rows)))
    if len(found) < 2 or "catalog" in answer:  # noqa: PLR2004 - the only row is the answer
        return None
    title, caption = next((ROWS[name] for name in ROWS if name in answer), ("Values", "As in CSV"))
    heads = [name for name in found[0] if not name.endswith("_limit")]
    shown = found
    if len(found) > MOST_ROWS and "headroom" in found[0]:
        shown = sorted(found, key=lambda row: (row["status"] != "feasible", -float(row["headroom"] or "-inf")))
    remark = f"{len(found):,} rows" if len(found) <= MOST_ROWS else f"{MOST_ROWS} of {len(found):,} rows; CSV has all"
    return section(
        title,
        element("p", f"{remark}. A heading sorts."),
        table(
            caption,
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
    if not found:
        return None
    named = {name: value for name, value in found.items() if _is_nested(value)}
    return section(
        "Inputs",
        terms({name: value for name, value in found.items() if name not in named}),
        *(
            element("details", element("summary", name), terms(own))
            for several in named.values()
            for name, own in several.items()
        ),
    )


def _is_nested(value: Any) -> bool:
    """Whether it has values of its own by name, as the inputs of each service."""
    return isinstance(value, Mapping) and bool(value) and all(isinstance(own, Mapping) for own in value.values())


def reproduce(command: str, answer: Answer) -> Markup:
    """The command, and what to run it with."""
    version = answer.get("inputs", {}).get("version")
    return section(
        "Reproduce",
        element(
            "pre",
            # Lines break between words, and not at the dashes of an option.
            element("code", *(element("span", word) for word in re.split(r"(?<= )", command))),
            tabindex="0",
            aria_label="The command",
        ),
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
            element(
                "th",
                element("button", name, type="button") if is_sortable else name,
                scope="col",
                class_="number" if place and any(_is_number(row[place]) for row in rows) else None,
            )
            for place, name in enumerate(heads)
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


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any, *, is_first: bool) -> Markup:
    number = value if _is_number(value) else None
    text = _short(number) if number is not None else {None: "-", True: "yes", False: "no"}.get(value, value)
    kind = "number" if number is not None else value if isinstance(value, Verdict) else None
    if is_first:
        return element("th", text, scope="row")
    return element("td", text, class_=kind, data_value=number)


def worded(name: str) -> str:
    """A key as people read it: `cost_usd_per_h` is `cost (USD/h)`."""
    for ending, unit in UNITS_OF.items():
        if name.endswith(ending):
            return f"{name.removesuffix(ending).replace('_', ' ')} ({unit})"
    return name.replace("_", " ")


def _words(value: Any) -> object:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_words(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(str(_words(each)) for each in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return _short(value) if isinstance(value, float) else value


def _short(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"  # noqa: PLR2004


def _value(text: str) -> Any:
    """A number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text
