"""Profiles from NVIDIA's AIConfigurator: its model of an engine, sampled on a grid once.

What comes out is our own table of points, marked `modelled`: the package (extra `[aic]`) is not needed to use it, and
nothing of its database is in it but the sums of operator times at the points of the grid.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import metadata, resources
from typing import Any

import numpy as np

from provisioner.errors import Fault, InputError
from provisioner.perf.points import Key, Points

PACKAGE = "aiconfigurator_core"
DISTRIBUTION = "aiconfigurator-core"
BACKENDS = ("vllm", "trtllm", "sglang")
PROMPTS = (1, *(size for power in range(5, 15) for size in (2**power, 3 * 2 ** (power - 1))), 2**15)
"""Tokens of one prompt: 32 to 32,768, two sizes an octave, and 1."""
BATCHES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
CONTEXTS = (256, 512, 1024, 2048, 4096, 8192)
_STEPS = 2
"""Output tokens of a run with one decode iteration, whose context is then the prompt and one token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is sampled, in AIConfigurator's names.

    Parameters
    ----------
    model : str
        A Hugging Face name that the package knows, or a folder with a config.json.
    system : str
        As `h100_sxm`.
    backend : str
        One of `BACKENDS`.
    expert_parallel : int
        GPUs that the experts of an MoE are spread over; the rest of the tensor parallelism splits each expert.
    """

    model: str
    system: str
    backend: str = "vllm"
    expert_parallel: int = 1


def sample(
    subject: Subject,
    target: Key,
    prompts: Sequence[int] = PROMPTS,
    batches: Sequence[int] = BATCHES,
    contexts: Sequence[int] = CONTEXTS,
) -> Points:
    """Sample a model on a grid: a prompt of each size alone, and each batch at each context.

    Parameters
    ----------
    subject : Subject
        What to ask.
    target : (model, machine, tensor_parallel)
        Names in our catalog, for the points; the tensor parallelism is asked for too.

    Raises
    ------
    InputError
        If the package is not installed, or knows no such model, system or parallelism.
    """
    parallel = target[2]
    if subject.backend not in BACKENDS:
        raise InputError(
            Fault(problem="unknown backend", field="--backend", value=subject.backend, allowed=", ".join(BACKENDS))
        )
    if parallel % subject.expert_parallel:
        problem = "does not divide the tensor parallelism"
        raise InputError(Fault(problem=problem, field="--expert-parallel", value=subject.expert_parallel))
    version()
    _check_names(subject)
    try:
        with _quiet():
            engine = _engine(subject, parallel)
            prefill = [(size, 1, 0, engine.predict_prefill_latency(1, size) / 1e3, np.nan) for size in prompts]
            decode = [
                (context, batch, _STEPS, np.nan, engine.decode_step_latency(batch, context, _STEPS) / 1e3)
                for batch in batches
                for context in contexts
            ]
    except Exception as error:  # noqa: BLE001 - the package promises no errors of its own, nor that asserts hold
        raise _refused(subject, parallel, error) from None
    prompt, batch, output, prefill_s, decode_s = np.array(prefill + decode, np.float64).T
    return Points(
        model=target[0],
        machine=target[1],
        tensor_parallel=parallel,
        prompt_tokens=prompt,
        batch=batch,
        output_tokens=output,
        prefill_s=prefill_s,
        decode_s=decode_s,
        origin="modelled",
    )


def version() -> str:
    """Version of the package that is installed.

    Raises
    ------
    InputError
        If none is.
    """
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        allowed = "pip install '.[aic]' in the checkout (Python 3.11 to 3.13; wheels for Linux x86-64)"
        raise InputError(Fault(problem=f"{DISTRIBUTION} is not installed", allowed=allowed)) from None


def _engine(subject: Subject, parallel: int) -> Any:
    from aiconfigurator_core.sdk import EngineHandle  # noqa: PLC0415 - an extra

    return EngineHandle.compile(
        subject.model,
        subject.system,
        subject.backend,
        tp_size=parallel,
        moe_tp_size=parallel // subject.expert_parallel,
        moe_ep_size=subject.expert_parallel,
    )


def _check_names(subject: Subject) -> None:
    """Refuse what the package has no data of, before it looks for it elsewhere."""
    systems, models = _known("systems", ".yaml"), _known("model_configs", "_config.json")
    faults = []
    if subject.system not in systems:
        allowed = ", ".join(systems)
        faults.append(Fault(problem="unknown system", field="--system", value=subject.system, allowed=allowed))
    if subject.model not in models and "/" in subject.model and not subject.model.startswith((".", "/")):
        close = get_close_matches(subject.model[:200], models, n=5, cutoff=0.3)
        allowed = f"{', '.join(close) or 'one of its models'}, or a folder with a config.json, as ./my-model"
        faults.append(Fault(problem="unknown model", field="--aic-model", value=subject.model, allowed=allowed))
    if faults:
        raise InputError(faults)


def _known(folder: str, ending: str) -> list[str]:
    names = sorted(each.name for each in (resources.files(PACKAGE) / folder).iterdir())
    if folder == "systems":
        data = {each.name for each in (resources.files(PACKAGE) / folder / "data").iterdir()}
        return [name.removesuffix(ending) for name in names if name.removesuffix(ending) in data]
    return [name.removesuffix(ending).replace("--", "/") for name in names if name.endswith(ending)]


def _refused(subject: Subject, parallel: int, error: Exception) -> InputError:
    reason = " ".join(str(error).split()) or type(error).__name__
    value = f"{subject.model} on {subject.system}, TP {parallel}, {subject.backend}"
    return InputError(Fault(problem=f"AIConfigurator cannot model this: {reason[:240]}", value=value))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the package's notes on how it loads its tables off standard error."""
    logger = logging.getLogger(PACKAGE)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
