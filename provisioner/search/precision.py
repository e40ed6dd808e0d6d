"""How sure a verdict must be, and how many replications that may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """Replications and confidence.

    Without a `confidence`, an objective is met if the mean of `replications` percentiles is within its
    limit. With one, it is met or missed only if the interval of the mean at that confidence lies on one
    side of the limit; replications are added, one at a time up to `most`, until that is so. With `in_full` a
    search runs simulations to their end even where a miss is certain before, so that all values are achieved.
    """

    replications: int = 5
    confidence: float | None = None
    most: int = 30
    in_full: bool = False

    @property
    def least(self) -> int:
        """Replications before a verdict may be given: an interval of two is too wide to decide anything."""
        return self.replications if self.confidence is None else min(3, self.most)

    @property
    def all(self) -> int:
        """Replications at most."""
        return self.replications if self.confidence is None else self.most

    def limited_to(self, available: int | None) -> Precision:
        """No more replications than differ; a single one has no interval, so it is judged as it is."""
        if available is None or available >= self.all:
            return self
        return Precision(replications=available, confidence=None, most=available, in_full=self.in_full)
