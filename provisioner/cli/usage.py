"""What the option parser refuses, as a fault: which option, what was given, and what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provisioner.errors import Fault


def fault_of(error: Any, arguments: Sequence[str]) -> Fault:
    """The fault of a usage error of the option parser, of these arguments."""
    option = getattr(error, "param", None)
    name = max(getattr(option, "opts", None) or [""], key=len)
    if option is None or not name:
        return Fault(problem=" ".join(error.format_message().split()))
    if type(error).__name__ == "MissingParameter":
        return Fault(problem="missing", field=_shown(option, name), allowed=getattr(option, "help", None))
    problem = " ".join(str(error.message).split()).rstrip(".")
    return Fault(problem=problem[:1].lower() + problem[1:], field=name, value=_given(option.opts, arguments))


def _shown(option: Any, name: str) -> str:
    """`--design`; an argument, which has no dashes, as help shows it."""
    return name if name.startswith("-") else str(option.metavar or name.upper())


def _given(names: Sequence[str], arguments: Sequence[str]) -> str | None:
    """What was given last for an option of these names: `--seed=1`, or `--seed 1`."""
    found = None
    for argument, follower in zip(arguments, [*arguments, ""][1:], strict=True):
        name, is_joined, value = argument.partition("=")
        if name in names:
            found = value if is_joined else follower
    return found
