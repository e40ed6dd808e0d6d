"""A cluster design: which machine serves which phase (Splitwise, Table V)."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from provisioner.domain.machine import Machine
from provisioner.domain.scheduling import Scheduling
from provisioner.domain.value import Value


class Design(Value):
    """Either two pools, `prompt` and `token`, or one pool of `mixed` machines (the baselines)."""

    name: str = Field(min_length=1, max_length=80)
    short: str = Field(min_length=1, max_length=40)
    prompt: Machine | None = None
    token: Machine | None = None
    mixed: Machine | None = None
    tensor_parallel: int = Field(default=8, ge=1, le=1024)
    scheduling: Scheduling = Scheduling()

    @model_validator(mode="after")
    def _has_its_pools(self) -> Self:
        split = self.prompt is not None and self.token is not None
        one_phase = self.prompt is not None or self.token is not None
        if split == (self.mixed is not None) or one_phase != split:
            raise ValueError("a design names either a prompt and a token machine, or one mixed machine")
        return self

    @property
    def is_mixed(self) -> bool:
        """Whether every machine runs both phases."""
        return self.mixed is not None

    @property
    def machines(self) -> tuple[Machine, ...]:
        """The machine of each pool: (prompt, token) or (mixed,)."""
        return tuple(machine for machine in (self.prompt, self.token, self.mixed) if machine is not None)
