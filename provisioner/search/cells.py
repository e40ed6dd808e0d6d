"""Work on one cluster, as it is handed to workers and written down: what is asked, of whom, about which cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar

from provisioner.domain.cluster import Cluster
from provisioner.metrics import SloResult
from provisioner.search.availability import Share
from provisioner.search.evaluate import Judge
from provisioner.search.evaluation import Evaluation, Trouble
from provisioner.search.resilient import ResilientJudge

Item_contra = TypeVar("Item_contra", contravariant=True)
Result = TypeVar("Result")


class Recorded(Protocol[Item_contra, Result]):
    """Work whose results can be written down, and found again by what they follow from."""

    def __call__(self, item: Item_contra, /) -> Result:
        """Do it."""

    def key(self, item: Item_contra, /) -> str:
        """What the result follows from; equal only if that is."""

    def encode(self, result: Result, /) -> Any:
        """The result as JSON has it."""

    def decode(self, data: Any, item: Item_contra, /) -> Result:
        """The result again."""


class Judged(Protocol):
    """A cluster, and who judges it."""

    @property
    def judge(self) -> Judge:
        """Who judges."""

    @property
    def cluster(self) -> Cluster:
        """What is judged."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cluster, and who judges it."""

    judge: Judge
    cluster: Cluster


@dataclass(frozen=True, slots=True)
class Judging:
    """Ask a judge about a cluster: a `Recorded`."""

    how: str
    whole: bool = False

    def __call__(self, cell: Judged, /) -> Evaluation:
        """Ask."""
        ask = getattr(cell.judge, self.how)
        evaluation: Evaluation = ask(cell.cluster, whole=True) if self.whole else ask(cell.cluster)
        return evaluation

    def known(self, cell: Judged, /) -> Evaluation | None:
        """The answer, where the judge has it already."""
        return cell.judge.known(cell.cluster) if self.how == "screen" else None

    def key(self, cell: Judged, /) -> str:
        """The question, the judge and the counts."""
        return f"{self.how}{' whole' if self.whole else ''} {of(cell.judge, cell.cluster)}"

    def encode(self, evaluation: Evaluation, /) -> Any:
        """All but what the cell says itself."""
        return encode(evaluation)

    def decode(self, data: Any, cell: Judged, /) -> Evaluation:
        """The evaluation again."""
        return decode(data, cell.judge, cell.cluster)


EVALUATE = Judging("evaluate")
EVALUATE_WHOLE = Judging("evaluate", whole=True)
SCREEN = Judging("screen")
GLANCE = Judging("glance")


@dataclass(frozen=True, slots=True)
class PassingAlone:
    """Ask whether a cluster meets every objective in one replication by itself: a `Recorded`."""

    cell: Cell

    def __call__(self, replication: int, /) -> bool:
        """Ask."""
        return self.cell.judge.passes_alone(self.cell.cluster, replication)

    def key(self, replication: int, /) -> str:
        """The judge, the counts and the replication."""
        return f"passes {replication} {of(self.cell.judge, self.cell.cluster)}"

    def encode(self, passes: bool, /) -> Any:  # noqa: FBT001 - the result
        """As it is."""
        return passes

    def decode(self, data: Any, _: int, /) -> bool:
        """As it is."""
        return bool(data)


def of(judge: Any, cluster: Cluster) -> str:
    """A judge, or whoever else answers, and a cluster, in short."""
    return f"{judge.identity} {cluster.prompt_machines},{cluster.token_machines}"


def encode(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation without its cluster and the limits, which are known beforehand."""
    data = {each.name: getattr(evaluation, each.name) for each in fields(evaluation)}
    del data["cluster"]
    share = evaluation.share
    return data | {
        "results": [(result.value, result.ci95, result.verdict) for result in evaluation.results],
        "troubles": [_encoded(trouble) for trouble in evaluation.troubles],
        "share": None if share is None else (share.lower, share.upper, share.states),
    }


def _encoded(trouble: Trouble) -> tuple[Any, ...]:
    cluster = trouble.evaluation.cluster
    counts = cluster.prompt_machines, cluster.token_machines
    return trouble.lost, trouble.is_during, counts, encode(trouble.evaluation)


def decode(data: Mapping[str, Any], judge: Judge, cluster: Cluster) -> Evaluation:
    """The evaluation again: its numbers are the same to the last bit."""
    results = tuple(
        SloResult(limit, value, None if ci95 is None else tuple(ci95), verdict)
        for limit, (value, ci95, verdict) in zip(judge.scenario.slo.objectives, data["results"], strict=True)
    )
    rest: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    troubles = tuple(
        Trouble(lost, is_during, decode(left, judge, judge.cluster(*counts)))
        for lost, is_during, counts, left in data["troubles"]
    )
    asked = judge.availability if isinstance(judge, ResilientJudge) else None
    share = None if asked is None or data["share"] is None else Share(asked, *data["share"])
    return Evaluation(**rest | {"cluster": cluster, "results": results, "troubles": troubles, "share": share})
