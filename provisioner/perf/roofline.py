"""Iteration times where nothing was measured: a roofline, and labelled as such (`origin` is `estimated`).

    time = max(FLOPs / (peak x compute share), bytes / (bandwidth x memory share)) + communication + launch

- FLOPs: two for each active parameter and token, and attention's for each pair of tokens (n^2 / 2 in a prompt of n).
- Bytes: the weights, of experts those that the tokens meet, and the KV-cache of the contexts.
- Communication of t > 1 GPUs: two all-reduces a layer, each a latency, and 2 (t - 1) / t of the activations (tokens x
  hidden x 2 bytes) over a GPU's link.
- Launch: host and kernel launches, a constant a layer.

The shares and the two constants are rules of thumb, not measured on any machine of yours; `docs/bring-your-own.md` says
how far such estimates are off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from provisioner.domain.machine import Machine
from provisioner.domain.model import Model
from provisioner.errors import Fault, InputError
from provisioner.perf.points import Points

PROMPTS = (1, *(2**power for power in range(5, 16)))
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTEXTS = (256, 1024, 4096, 8192)
_STEPS = 2
_ACTIVATION_BYTES = 2
_PEAKS = ("flops_per_s", "hbm_bytes_per_s", "gpu_link_bytes_per_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How much of a data sheet is had in practice.

    Parameters
    ----------
    compute, memory : float
        Shares of peak FLOPs and of memory bandwidth that large operations reach, above 0, at most 1.
    all_reduce_s : float
        Latency of one all-reduce.
    launch_s : float
        Seconds a layer takes beside its operations.
    """

    compute: float = 0.6
    memory: float = 0.8
    all_reduce_s: float = 10e-6
    launch_s: float = 10e-6


@dataclass(frozen=True, slots=True)
class Roofline:
    """A model on some GPUs of a machine.

    Raises
    ------
    InputError
        If the machine's data sheet is not told, or it has fewer GPUs.
    """

    model: Model
    machine: Machine
    tensor_parallel: int
    shares: Shares = Shares()

    def __post_init__(self) -> None:
        faults = [
            Fault(
                problem="an estimate needs the data sheet",
                field=f"machines.{self.machine.name}.{field}",
                allowed="a number",
            )
            for field in _PEAKS
            if getattr(self.machine, field) is None and (field != _PEAKS[2] or self.tensor_parallel > 1)
        ]
        if self.tensor_parallel > self.machine.gpus:
            problem = f"more GPUs than {self.machine.name} has"
            allowed = f"at most {self.machine.gpus}"
            faults.append(Fault(problem=problem, field="--tp", value=self.tensor_parallel, allowed=allowed))
        if faults:
            raise InputError(faults)

    def prefill_s(self, tokens: float) -> float:
        """Seconds of an iteration over one prompt."""
        return self._seconds(tokens, tokens * tokens / 2, tokens)

    def decode_s(self, batch: float, context: float) -> float:
        """Seconds of a token-phase iteration over requests whose contexts sum to `context` tokens."""
        return self._seconds(batch, context, context)

    def _seconds(self, tokens: float, pairs: float, cached: float) -> float:
        share = self.tensor_parallel / self.machine.gpus
        compute = (self.machine.flops_per_s or 0.0) * share * self.shares.compute
        memory = (self.machine.hbm_bytes_per_s or 0.0) * share * self.shares.memory
        moved = self.model.read_bytes(tokens) + self.model.kv_bytes_per_token * cached
        busy_s = max(self.model.flops(tokens, pairs) / compute, moved / memory)
        return busy_s + self._communication_s(tokens) + self.model.layers * self.shares.launch_s

    def _communication_s(self, tokens: float) -> float:
        gpus = self.tensor_parallel
        if gpus == 1:
            return 0.0
        sent = 2 * (gpus - 1) / gpus * tokens * self.model.hidden * _ACTIVATION_BYTES
        each_s = self.shares.all_reduce_s + sent / (self.machine.gpu_link_bytes_per_s or np.inf)
        return 2 * self.model.layers * each_s


def estimate(
    roofline: Roofline,
    prompts: Sequence[int] = PROMPTS,
    batches: Sequence[int] = BATCHES,
    contexts: Sequence[int] = CONTEXTS,
) -> Points:
    """Sample a roofline on a grid: a prompt of each size alone, and each batch at each context."""
    prefill = [(size, 1, 0, roofline.prefill_s(size), np.nan) for size in prompts]
    decode = [
        (context, batch, _STEPS, np.nan, roofline.decode_s(batch, batch * (context + 1)))
        for batch in batches
        for context in contexts
    ]
    prompt, batch, output, prefill_s, decode_s = np.array(prefill + decode, np.float64).T
    return Points(
        model=roofline.model.name,
        machine=roofline.machine.name,
        tensor_parallel=roofline.tensor_parallel,
        prompt_tokens=prompt,
        batch=batch,
        output_tokens=output,
        prefill_s=prefill_s,
        decode_s=decode_s,
        origin="estimated",
    )
