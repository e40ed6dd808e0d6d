"""A machine type: what one server costs, draws, remembers and sends (Splitwise, Table I)."""

from __future__ import annotations

from pydantic import Field

from provisioner.domain.value import Value


class Machine(Value):
    """A machine type as a provider buys it."""

    name: str = Field(min_length=1, max_length=80)
    gpus: int = Field(ge=1, le=10_000)
    hbm_bytes: int = Field(gt=0, le=2**60)
    """GPU memory of the whole machine."""
    usable_memory_fraction: float = Field(default=0.9, gt=0.0, le=1.0)
    """Share of `hbm_bytes` for weights and KV-cache; the rest is for activations and the runtime."""
    interconnect_bytes_per_s: float = Field(gt=0.0, le=1e18)
    """Bandwidth out of the whole machine, all links together."""
    transfer_residue_s: float = Field(ge=0.0, le=60.0)
    """The part of a layer-wise KV-cache transfer that never overlaps with the prompt (Splitwise, VI-A)."""
    cost_usd_per_h: float = Field(ge=0.0, le=1e9)
    power_kw: float = Field(ge=0.0, le=1e9)
    """Provisioned power, not the average draw."""
    capped_from: str | None = Field(default=None, min_length=1, max_length=80)
    """The machine that this one is with its power capped; None for one without a cap."""
    startup_s: float = Field(default=600.0, ge=0.0, le=604_800.0)
    """From asking for the machine until it serves: booting it, and loading weights; only plans by the hour ask."""
    flops_per_s: float | None = Field(default=None, gt=0.0, le=1e24)
    """Dense 16-bit FLOPs of all GPUs together, by the data sheet; only `profile estimate` asks for it."""
    hbm_bytes_per_s: float | None = Field(default=None, gt=0.0, le=1e21)
    """Memory bandwidth of all GPUs together, by the data sheet; only for estimates."""
    gpu_link_bytes_per_s: float | None = Field(default=None, gt=0.0, le=1e18)
    """Bandwidth of one GPU to the others of its machine, in one direction; only for estimates."""

    def part(self, parts: int) -> Machine:
        """One of so many equal parts of the machine, under its name: a share of everything that is shared."""
        if parts == 1:
            return self
        shares = {
            "interconnect_bytes_per_s": self.interconnect_bytes_per_s / parts,
            "cost_usd_per_h": self.cost_usd_per_h / parts,
            "power_kw": self.power_kw / parts,
            "flops_per_s": None if self.flops_per_s is None else self.flops_per_s / parts,
            "hbm_bytes_per_s": None if self.hbm_bytes_per_s is None else self.hbm_bytes_per_s / parts,
        }
        return self.model_copy(update={**shares, "gpus": self.gpus // parts, "hbm_bytes": self.hbm_bytes // parts})
