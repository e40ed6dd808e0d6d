"""The kernel made ready before it is needed, and tried on a case worked out by hand."""

from __future__ import annotations

import time

import numpy as np

from provisioner.domain.design import Design
from provisioner.domain.machine import Machine
from provisioner.domain.model import Model
from provisioner.domain.trace import RequestTrace
from provisioner.perf.model import PerformanceModel
from provisioner.sim.run import Network

_MACHINE = Machine(
    name="one", gpus=1, hbm_bytes=10**6, interconnect_bytes_per_s=1.0, transfer_residue_s=0.0,
    cost_usd_per_h=1.0, power_kw=1.0,
)  # fmt: skip
_MODEL = Model(name="tiny", layers=1, hidden=1, kv_heads=1, head_dim=1, weights_bytes=1)


def warm() -> float:
    """Compile the kernel, or load what was compiled, and simulate a request; returns seconds.

    A prompt of 100 tokens takes 2 s, and each of three more tokens 0.25 s: the first comes at 2 s, the
    last at 2.75 s.

    Raises
    ------
    RuntimeError
        If the times are others: the compiled code is not to be relied on.
    """
    started = time.perf_counter()
    performance = PerformanceModel(
        model="tiny", machine="one", tensor_parallel=1, gamma_s_per_token=0.0,
        prefill_tokens=np.array([1.0, 100.0]), prefill_seconds=np.array([0.02, 2.0]),
        decode_batch=np.array([1.0]), decode_seconds=np.array([0.25]),
    )  # fmt: skip
    design = Design(name="one", short="one", mixed=_MACHINE, tensor_parallel=1)
    trace = RequestTrace(np.array([0.0]), np.array([100]), np.array([4]))
    simulation = Network.of(design, _MODEL, {"one": performance}).simulate(1, 0, trace)
    times_s = (float(simulation.first_token_s[0]), float(simulation.finish_s[0]))
    if not np.allclose(times_s, (2.0, 2.75), rtol=1e-12):
        raise RuntimeError(f"the compiled simulator gives {times_s} where (2.0, 2.75) is right")
    return time.perf_counter() - started
