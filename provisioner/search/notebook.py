"""Results as notebooks show them: `to_frame()` for pandas, and a table where a cell ends with one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20
SHOWN = ("design", "prompt_machines", "token_machines", "machines", "cost_usd_per_h", "power_kw", "throughput_rps")
"""Columns of the table, before the status and the objectives."""


class Tabular:
    """A result made of rows."""

    __slots__ = ()

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """One cluster a row, as CSV has them."""

    @abstractmethod
    def summary(self) -> str:
        """The result in a sentence."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas DataFrame, which the extra `notebook` brings.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - only for those who ask for frames
        except ImportError as error:
            raise ImportError("to_frame() needs pandas: pip install '.[notebook]' in the checkout") from error
        return pd.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        """The summary, and a table of the first rows."""
        rows = self.rows()
        objectives = [name.removesuffix("_limit") for name in (rows[0] if rows else {}) if name.endswith("_limit")]
        columns = [*SHOWN, "status", *objectives]
        body = [[_marked(row, name) for name in columns] for row in rows[:MOST_ROWS]]
        more = f"<p>and {len(rows) - MOST_ROWS} more</p>" if len(rows) > MOST_ROWS else ""
        return f"<p><b>{escape(self.summary())}</b></p>{_table(columns, body)}{more}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = "".join(f'<th scope="col">{escape(name.replace("_", " "))}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>" if rows else ""


def _marked(row: dict[str, Any], name: str) -> str:
    """A cell; an objective that is missed is bold, and has its limit beside it."""
    limit = row.get(f"{name}_limit")
    value = row[name]
    if limit is None:
        return _cell(value)
    is_missed = value is None or value > limit  # None: infinite, or that no request has it
    return f"<b>{_cell(value)} &gt; {_cell(limit)}</b>" if is_missed else _cell(value)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"  # noqa: PLR2004
    return "-" if value is None else escape(str(value))
