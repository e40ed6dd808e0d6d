"""The speed figures, measured: `python -m benchmarks` prints a table of medians and spreads.

Each benchmark asserts how much work it did (events, clusters), so that a faster figure is not a smaller
task. Cold figures start a new process with an empty cache of compiled code.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from provisioner.catalog import Catalog
from provisioner.domain.trace import RequestTrace
from provisioner.perf import read_profiles
from provisioner.report.figures import HeatMaps
from provisioner.report.plots import image
from provisioner.search import Judge, Precision, Scenario, Workers, minimise
from provisioner.sim import Network
from provisioner.traces import Drawn, Poisson, SizeTable, generate

CATALOG = Catalog.open()
PROFILES = read_profiles(CATALOG.find_file("profiles", "splitwise"))
REPORT_MB = 6
MAIN_JOB = ["--design", "HA", "--target-rps", "70", "--minimize", "cost", "--quiet"]


def trace(workload: str, rate_rps: float = 70.0, duration_s: float = 120.0, replication: int = 0) -> RequestTrace:
    entry, folder = CATALOG.workload(workload)
    return generate(SizeTable.read(folder / entry.sizes), rate_rps, duration_s, seed=0, replication=replication)


def network(design: str) -> Network:
    model = CATALOG.model("bloom-176b")
    found = CATALOG.design(design)
    performance = {
        machine.name: PROFILES.get(model.name, machine.name, found.tensor_parallel) for machine in found.machines
    }
    return Network.of(found, model, performance)


def scenario(workload: str) -> Scenario:
    entry, folder = CATALOG.workload(workload)
    return Scenario(
        model=CATALOG.model("bloom-176b"),
        slo=CATALOG.slo("splitwise"),
        profiles=PROFILES,
        demand=Drawn(SizeTable.read(folder / entry.sizes), 0, Poisson()),
        rate_rps=70.0,
        span_s=120.0,
    )


def seconds(work: Callable[[], object], repeats: int) -> list[float]:
    work()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return times


def simulation(design: str, workload: str, prompt: int, token: int) -> list[float]:
    laid_out, requests = network(design), trace(workload)
    result = laid_out.simulate(prompt, token, requests)
    assert result.unfinished == 0
    assert result.events > 3 * len(requests)
    return seconds(lambda: laid_out.simulate(prompt, token, requests), 31)


def grid(size: int) -> list[float]:
    judge = Judge(CATALOG.design("HH"), scenario("coding"), Precision(replications=1))
    clusters = [judge.cluster(p, t) for p in range(1, size + 1) for t in range(1, size + 1)]
    started = time.perf_counter()
    with Workers(2) as workers:
        found = workers.map(judge.evaluate, clusters)
    assert len(found) == size * size
    return [time.perf_counter() - started]


def search() -> list[float]:
    judge = Judge(CATALOG.design("HA"), scenario("coding"))
    with Workers(2) as workers:
        plan = minimise([judge], "cost", max_machines=200, workers=workers)
        assert plan.status == "optimal"
        return seconds(lambda: minimise([judge], "cost", max_machines=200, workers=workers), 3)


def heat_map(cells: int) -> list[float]:
    judge = Judge(CATALOG.design("HH"), scenario("coding"), Precision(replications=1))
    with Workers(2) as workers:
        found = workers.map(
            judge.evaluate, [judge.cluster(p, t) for p in range(1, cells // 25 + 1) for t in range(1, 26)]
        )
    assert len(found) == cells
    return seconds(lambda: image(HeatMaps.of(found, "HH"), ".png"), 5)


def report() -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        times = command("compare", "--target-rps", "70", "--minimize", "cost", "--quiet", "--report", str(file))
        size_mb = file.stat().st_size / 1e6
    assert size_mb < REPORT_MB
    return times


def every_answer() -> list[float]:
    goals = [word for goal in ("cost", "power", "machines") for word in ("--minimize", goal)]
    asked = ("compare", "--target-rps", "70", "--quiet", *goals, "--workload")
    return [
        coding + talk for coding, talk in zip(command(*asked, "coding"), command(*asked, "conversation"), strict=True)
    ]


def command(*arguments: str, cold: bool = False, runs: int = 3) -> list[float]:
    times = []
    for _ in range(1 if cold else runs):
        with tempfile.TemporaryDirectory() as empty:
            environment = {**os.environ, **({"XDG_CACHE_HOME": empty} if cold else {})}
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "provisioner.cli.main", *arguments],
                check=True, capture_output=True, env=environment,
            )  # fmt: skip
            times.append(time.perf_counter() - started)
    return times


def main() -> None:
    table = Table("What", "Median", "Spread", "Goal")
    for what, times, goal in (
        ("simulate HH 27P+3T coding 70 RPS 120 s", simulation("HH", "coding", 27, 3), "4 ms"),
        ("simulate HH 25P+15T conversation 70 RPS 120 s", simulation("HH", "conversation", 25, 15), "5 ms"),
        ("39 x 39 grid, HH coding, 2 cores", grid(39), "5 s"),
        ("search HA coding least cost, 5 replications, 2 cores", search(), "3 s"),
        ("provision main job, compiled", command(*MAIN_JOB), "1 s"),
        ("provision main job, first use", command(*MAIN_JOB, cold=True), "15 s"),
        ("six designs, two workloads, three goals: two commands", every_answer(), "15 s"),
        ("provision --help", command("--help"), "0.2 s"),
        ("heat map of 1,000 cells, drawn", heat_map(1000), "2 s"),
        ("compare six designs, with a report of at most 6 MB", report(), "-"),
    ):
        middle = median(times)
        shown = f"{middle * 1e3:.2f} ms" if middle < 1 else f"{middle:.2f} s"
        table.add_row(what, shown, f"{min(times) / middle:.2f} - {max(times) / middle:.2f}", goal)
    Console().print(table)
    usage_mb = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    print(f"peak memory {usage_mb:.0f} MB (goal 500 MB)")


if __name__ == "__main__":
    main()
