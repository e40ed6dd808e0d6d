"""An answer as one page for the browser: it needs no other file and asks for none (Vega is embedded).

`charts` says in Vega-Lite what figures show, `sections` what is told in words and tables.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from provisioner.report.figures import Figure
from provisioner.report.html import sections
from provisioner.report.html.charts import chart, remark
from provisioner.report.html.element import Markup, data, element

__all__ = ["page"]


def page(answer: Mapping[str, Any], figures: Sequence[Figure], rows: str, command: str) -> str:
    """The whole page: an answer as JSON has it, its figures, its `rows` as CSV has them, and the command."""
    from provisioner.report.html.library import vega

    title = "What can be named" if "catalog" in answer else figures[0].title if figures else "provisioner"
    scripts = [vega(), _own("page.js")]
    specs = {f"chart-{number}": chart(figure) for number, figure in enumerate(figures, 1)}
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(scripts)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} - provisioner"),
        element("style", Markup(_own("page.css"))),
    )
    body = element(
        "body",
        sections.heading(title, answer),
        element(
            "main",
            sections.question(answer),
            sections.verdict(answer),
            sections.objectives(answer),
            sections.limits(answer),
            sections.proof(answer),
            *(sections.figure(name, figure, remark(figure)) for name, figure in zip(specs, figures, strict=True)),
            *sections.catalog(answer),
            sections.alternatives(rows, answer),
            sections.warnings(answer),
            sections.inputs(answer),
            sections.reproduce(command, answer),
            id_="content",
        ),
        element("script", data(specs), type="application/json", id_="charts"),
        *(element("script", Markup(script)) for script in scripts),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _own(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """Nothing is fetched, and no script runs but these."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"
