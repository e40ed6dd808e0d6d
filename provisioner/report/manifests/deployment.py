"""What is to be deployed: servers of a model, by phase and machine type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from provisioner.domain.cluster import Cluster
from provisioner.errors import Fault, InputError

Phase = Literal["prefill", "decode", "both"]
IMAGE = "fill-in/vllm:tag"
MODEL = "fill-in/model"
PORT = 8000
TRANSFER_PORT = 5600
MACHINE_LABEL = "machine-type"
"""Label of nodes that says which of the catalog's machines they are."""


@dataclass(frozen=True, slots=True)
class Servers:
    """So many equal servers, each on its own GPUs of one machine."""

    phase: Phase
    replicas: int
    machine: str
    gpus: int
    """GPUs that each takes: its whole part of the machine, as the plan pays for it."""
    tensor_parallel: int


@dataclass(frozen=True, slots=True)
class Deployment:
    """The servers of a cluster, for a model."""

    name: str
    model: str
    servers: tuple[Servers, ...]
    summary: str
    """What the plan says of the cluster, in a sentence."""

    @property
    def is_split(self) -> bool:
        """Whether prefill and decode are apart."""
        return len(self.servers) > 1

    @classmethod
    def of(cls, cluster: Cluster, model: str, summary: str) -> Self:
        """The deployment of a cluster.

        Raises
        ------
        InputError
            If a server needs the GPUs of more than one machine.
        """
        design = cluster.design
        phases: tuple[Phase, ...] = ("both",) if design.is_mixed else ("prefill", "decode")
        for machine in design.instances:
            if machine.gpus < design.tensor_parallel:
                raise InputError(
                    Fault(
                        problem=f"a server of {design.tensor_parallel} GPUs spans machines of {machine.gpus}",
                        field="--emit",
                        allowed="designs whose instances fit a machine",
                    )
                )
        servers = tuple(
            Servers(phase, count * design.instances_per_unit, machine.name, machine.gpus, design.tensor_parallel)
            for phase, count, machine in zip(phases, cluster.counts, design.instances, strict=True)
        )
        return cls(f"{model}-{design.short}", model, servers, summary)
