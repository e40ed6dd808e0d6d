"""How well a fit predicts runs that it has not seen (Splitwise, V-B: MAPE on an 80:20 split).

The rows of a profile are split at random, repeats and all; the model is fitted to 80 % of them and asked
for the other 20 %. Rows that `plausible` leaves out of a fit are left out here too, and counted.
MAPE is the mean of `|predicted / measured - 1|` over all held-out rows of all splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provisioner.errors import Fault, InputError
from provisioner.perf.fit import fit, plausible
from provisioner.perf.points import Points, label

Floats = NDArray[np.float64]

HELD_OUT = 0.2
LEAST_ROWS = 5
MAX_HELD_OUT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileError:
    """Mean absolute percentage errors, as fractions; NaN for a phase of which nothing was held out."""

    model: str
    machine: str
    tensor_parallel: int
    rows: int
    """Rows split and predicted."""
    left_out: int
    """Rows that cannot have run as one batch, neither fitted nor predicted."""
    prefill_mape: float
    decode_mape: float
    mape: float
    """Both phases together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """Errors of each profile, and of all rows pooled."""

    splits: int
    seed: int
    profiles: tuple[ProfileError, ...]
    rows: int
    left_out: int
    prefill_mape: float
    decode_mape: float
    mape: float

    @property
    def worst(self) -> ProfileError:
        """The profile with the largest error of both phases together."""
        return max(self.profiles, key=lambda profile: profile.mape)


def validate(
    points: Iterable[Points], splits: int = 50, seed: int = 0, watch: Callable[[int], None] = lambda _: None
) -> Validation:
    """Cross-validate the fit of each profile.

    Parameters
    ----------
    points : iterable of Points
        One per profile; at least 5 rows each.
    splits : int
        Random 80:20 splits, at least 1. Profiles of as many rows are split alike, whatever their order.
    seed : int
        Fixes the splits.
    watch : callable
        Told of every split that is done.

    Raises
    ------
    InputError
        If there is nothing to validate, a profile has too few rows, or lacks a phase.
    """
    if splits < 1:
        raise InputError(Fault(problem="too few splits", field="splits", value=splits, allowed="at least 1"))
    profiles = list(points)
    if not profiles:
        raise InputError(Fault(problem="no measured points to validate"))
    parts: list[ProfileError] = []
    prefill: list[Floats] = []
    decode: list[Floats] = []
    for profile in profiles:
        kept = profile.at(plausible(profile))
        errors = _held_out(kept, splits, seed, watch)
        parts.append(_summary(kept, len(profile) - len(kept), *errors))
        prefill.append(errors[0])
        decode.append(errors[1])
    return Validation(
        splits=splits,
        seed=seed,
        profiles=tuple(parts),
        rows=sum(part.rows for part in parts),
        left_out=sum(part.left_out for part in parts),
        prefill_mape=_mean(np.concatenate(prefill)),
        decode_mape=_mean(np.concatenate(decode)),
        mape=_mean(np.concatenate(prefill + decode)),
    )


def _held_out(points: Points, splits: int, seed: int, watch: Callable[[int], None]) -> tuple[Floats, Floats]:
    """Absolute relative errors of prefill and of decode over the held-out rows of all splits."""
    rows = len(points)
    if rows < LEAST_ROWS:
        raise InputError(
            Fault(
                problem="too few rows to validate",
                field=label(points.key),
                value=rows,
                allowed=f"at least {LEAST_ROWS}",
            )
        )
    rng = np.random.default_rng(seed)
    prefill: list[Floats] = []
    decode: list[Floats] = []
    for _ in range(splits):
        tested, fitted = np.split(rng.permutation(rows), [round(HELD_OUT * rows)])
        model, test = fit(points.at(fitted)), points.at(tested)
        prefill.append(model.prefill_s(test.total_tokens) / test.prefill_s - 1)
        decode.append(model.decode_s(test.batch, test.context_tokens) / test.decode_s - 1)
        watch(1)
    return _measured(prefill), _measured(decode)


def _measured(errors: list[Floats]) -> Floats:
    every = np.abs(np.concatenate(errors))
    return every[~np.isnan(every)]


def _mean(errors: Floats) -> float:
    return float(errors.mean()) if errors.size else np.nan


def _summary(points: Points, left_out: int, prefill: Floats, decode: Floats) -> ProfileError:
    return ProfileError(
        model=points.model,
        machine=points.machine,
        tensor_parallel=points.tensor_parallel,
        rows=len(points),
        left_out=left_out,
        prefill_mape=_mean(prefill),
        decode_mape=_mean(decode),
        mape=_mean(np.concatenate([prefill, decode])),
    )


def axis_errors(points: Points) -> dict[str, float]:
    """How well the fit interpolates: along each axis, MAPE of inner values held out, one after the other.

    Prompt tokens for prefill, batch and context for decode; NaN for an axis with fewer than three values. Of more
    than 32 inner values, 32 evenly spread ones are held out.
    """
    kept = points.at(plausible(points))
    context = np.round(kept.context_tokens / kept.batch)
    axes = {
        "prefill over prompt tokens": (kept.total_tokens, ~np.isnan(kept.prefill_s)),
        "decode over batch": (kept.batch, ~np.isnan(kept.decode_s)),
        "decode over context": (context, ~np.isnan(kept.decode_s)),
    }
    return {axis: _axis_error(kept, values, measured, axis) for axis, (values, measured) in axes.items()}


def _axis_error(points: Points, values: Floats, measured: NDArray[np.bool_], axis: str) -> float:
    inner = np.unique(values[measured])[1:-1]
    if len(inner) > MAX_HELD_OUT:
        inner = inner[np.linspace(0, len(inner) - 1, MAX_HELD_OUT).round().astype(int)]
    errors: list[Floats] = []
    for value in inner:
        tested = points.at(measured & (values == value))
        model = fit(points.at(~(measured & (values == value))))
        if axis.startswith("prefill"):
            errors.append(model.prefill_s(tested.total_tokens) / tested.prefill_s - 1)
        else:
            errors.append(model.decode_s(tested.batch, tested.context_tokens) / tested.decode_s - 1)
    return _mean(_measured(errors)) if errors else np.nan
