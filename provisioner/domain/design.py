"""A cluster design: which machine serves which phase (Splitwise, Table V)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from provisioner.domain.machine import Machine
from provisioner.domain.scheduling import Scheduling
from provisioner.domain.value import Value


class Design(Value):
    """Either two pools, `prompt` and `token`, or one pool of `mixed` machines (the baselines).

    A machine runs one instance of the model, or several side by side, each on its own GPUs with its
    share of the memory and of the links: 8 GPUs are four instances of tensor parallelism 2. What is
    counted, bought and found by a search is a machine, or a single instance; an instance of tensor
    parallelism 1 is a GPU.
    """

    name: str = Field(min_length=1, max_length=80)
    short: str = Field(min_length=1, max_length=40)
    prompt: Machine | None = None
    token: Machine | None = None
    mixed: Machine | None = None
    tensor_parallel: int = Field(default=8, ge=1, le=1024)
    instances_per_machine: int = Field(default=1, ge=1, le=1024)
    unit: Literal["machine", "instance"] = "machine"
    """What a count counts: whole machines, or instances, for which a share of a machine is paid."""
    scheduling: Scheduling = Scheduling()

    @model_validator(mode="after")
    def _has_its_pools(self) -> Self:
        split = self.prompt is not None and self.token is not None
        one_phase = self.prompt is not None or self.token is not None
        if split == (self.mixed is not None) or one_phase != split:
            raise ValueError("a design names either a prompt and a token machine, or one mixed machine")
        return self

    @model_validator(mode="after")
    def _rules_go_together(self) -> Self:
        if self.scheduling.chunked_prefill and not self.is_mixed:
            raise ValueError("scheduling.chunked_prefill is for a design of one mixed machine")
        if self.scheduling.kv_on_demand and self.scheduling.first_token_in_prompt_kv:
            raise ValueError("scheduling.kv_on_demand goes without first_token_in_prompt_kv, which is a reservation")
        return self

    @model_validator(mode="after")
    def _instances_fit(self) -> Self:
        if self.instances_per_machine == 1:
            return self
        for machine in self.whole_machines:
            if machine.gpus % self.instances_per_machine:
                raise ValueError(
                    f"the {machine.gpus} GPUs of {machine.name} make no {self.instances_per_machine} equal parts"
                )
            if machine.gpus < self.instances_per_machine * self.tensor_parallel:
                wanted = f"{self.instances_per_machine} instances of tensor parallelism {self.tensor_parallel}"
                raise ValueError(f"{wanted} need more than the {machine.gpus} GPUs of {machine.name}")
        return self

    @property
    def is_mixed(self) -> bool:
        """Whether every machine runs both phases."""
        return self.mixed is not None

    @property
    def pools(self) -> tuple[str, ...]:
        """The name of each pool, in the order of `machines`."""
        return ("mixed",) if self.is_mixed else ("prompt", "token")

    @property
    def machines(self) -> tuple[Machine, ...]:
        """What is counted of each pool, (prompt, token) or (mixed,): machines, or an instance's part of one."""
        return tuple(machine.part(self.units_per_machine) for machine in self.whole_machines)

    @property
    def instances(self) -> tuple[Machine, ...]:
        """What serves in each pool: the part of a machine that an instance runs on."""
        return tuple(machine.part(self.instances_per_machine) for machine in self.whole_machines)

    @property
    def units_per_machine(self) -> int:
        """How many of what is counted stand on a machine."""
        return self.instances_per_machine if self.unit == "instance" else 1

    @property
    def instances_per_unit(self) -> int:
        """Instances in one of what is counted."""
        return 1 if self.unit == "instance" else self.instances_per_machine

    @property
    def whole_machines(self) -> tuple[Machine, ...]:
        """The machine of each pool, as it is bought."""
        return tuple(machine for machine in (self.prompt, self.token, self.mixed) if machine is not None)
