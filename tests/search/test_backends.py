"""The same bytes come out wherever the work is done, and what goes wrong there is one line that says what to do."""

from __future__ import annotations

import math
import os
import pickle
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provisioner.cli.wording import word
from provisioner.errors import Fault, InputError
from provisioner.search import EVALUATE, Budget, Cell, Judge, Workers, maximise, minimise, open_backend, pareto
from provisioner.search.identity import edition, identity
from provisioner.search.maximise import RateSearch
from provisioner.search.parcel import OtherEditionError, pack, unpack, work_off
from tests.cli.runs import TINY, environment, process, timeless
from tests.search.questions import shipped

GRID = ("sweep", "--design", "HH", *TINY, "--prompt", "1:12", "--token", "1:5", "--quiet")
needs_dask = pytest.mark.skipif(find_spec("distributed") is None, reason="needs the extra [dask]")
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra [ray]")


@pytest.fixture(scope="module")
def judge() -> Judge:
    return asked("HH")


def asked(design: str, rate_rps: float = 10.0, span_s: float = 20.0, replications: int = 2) -> Judge:
    (judge,) = shipped(design, rate_rps=rate_rps, span_s=span_s, replications=replications)
    return judge


def cells(judge: Judge) -> list[Cell]:
    return [Cell(judge, judge.cluster(prompt, token)) for prompt in range(1, 6) for token in (1, 2)]


# What travels


def test_a_parcel_names_the_judge_and_comes_back_as_the_same_objects(judge: Judge) -> None:
    shared: dict[str, Any] = {}
    data = pack((EVALUATE, cells(judge)), shared)
    assert list(shared) == [judge.identity]
    assert len(data) < 100 * len(cells(judge)) < len(judge.description)
    seconds, outcome = work_off(edition(), data, tuple(shared), *[each.description for each in shared.values()])
    found = unpack(outcome, shared)
    assert seconds > 0
    assert found == [EVALUATE(cell) for cell in cells(judge)]
    assert all(evaluation.cluster.design is judge.design for evaluation in found)
    assert found[0].results[0].limit is judge.scenario.slo.objectives[0]
    assert len(outcome) < 1500 * len(found)


def test_what_is_shared_can_be_made_again_from_its_description(judge: Judge) -> None:
    again = pickle.loads(judge.description.tobytes())
    assert again.identity == judge.identity
    assert pickle.loads(RateSearch(judge).description.tobytes()).judge.identity == judge.identity


def test_identity_is_of_the_content() -> None:
    one, same = asked("HH"), asked("HH")
    assert one.identity == same.identity
    others = [asked("HA"), asked("HH", 11.0), asked("HH", 10.0, 21.0), asked("HH", replications=3), one.at_rate(12.0)]
    assert len({each.identity for each in (one, *others)}) == 6
    assert identity(np.array([1.0])) != identity(np.array([1]))
    assert identity(("a", "bc")) != identity(("ab", "c"))
    assert identity(1) != identity(1.0) != identity("1.0")


def test_every_rule_of_scheduling_is_part_of_the_identity(judge: Judge) -> None:
    """A result under one rule is never taken for one under another, also for rules that are yet to come."""
    rules = judge.design.scheduling
    changed = [
        rules.model_copy(update={name: not value if isinstance(value, bool) else value + 1}) for name, value in rules
    ]
    others = [Judge(judge.design.model_copy(update={"scheduling": each}), judge.scenario) for each in (rules, *changed)]
    assert "kv_on_demand" in type(rules).model_fields
    assert len({each.identity for each in others}) == 1 + len(type(rules).model_fields)


def test_another_numpy_is_another_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its generators draw may change from one minor version to the next, and so may every result."""
    found = edition()
    monkeypatch.setattr(np, "__version__", "9.7.1")
    edition.cache_clear()
    try:
        assert edition() != found
        assert edition().endswith("NumPy 9.7")
    finally:
        edition.cache_clear()
    with pytest.raises(TypeError, match="no content"):
        identity(object())


def test_an_edition_that_differs_does_not_work() -> None:
    shared: dict[str, Any] = {}
    data = pack((EVALUATE, []), shared)
    with pytest.raises(OtherEditionError):
        work_off("0.0.1", data, ())


def test_faults_travel_whole() -> None:
    error = InputError([Fault(problem="one", field="a"), Fault(problem="two", value=math.inf)])
    assert pickle.loads(pickle.dumps(error)).faults == error.faults


# Processes


def test_searches_give_the_same_in_processes(judge: Judge) -> None:
    budget = Budget(machines=6)
    with Workers(2) as here, Workers(2, backend=open_backend("processes", 2)) as there:
        assert there.map(EVALUATE, cells(judge)) == here.map(EVALUATE, cells(judge))
        for search in (
            lambda workers: minimise([judge], "cost", max_machines=12, workers=workers),
            lambda workers: maximise([judge], budget, workers=workers),
            lambda workers: pareto([judge], max_machines=12, workers=workers),
        ):
            one, other = search(here), search(there)
            assert one.rows() == other.rows()
            assert one.summary() == other.summary()


def _boom(item: int) -> int:
    raise InputError(Fault(problem=f"item {item}", field="x"))


def _killed_once(folder_and_item: tuple[str, int]) -> int:
    folder, item = folder_and_item
    mark = Path(folder) / "killed"
    if item == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def _killed_always(_: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_what_work_raises_is_raised_here() -> None:
    with Workers(2, backend=open_backend("processes", 2)) as workers, pytest.raises(InputError) as caught:
        workers.map(_boom, [7])
    assert caught.value.faults == (Fault(problem="item 7", field="x"),)


def test_a_process_that_is_killed_is_replaced(tmp_path: Path) -> None:
    with Workers(2, backend=open_backend("processes", 2)) as workers:
        assert workers.map(_killed_once, [(str(tmp_path), item) for item in range(8)]) == list(range(8))
    assert (tmp_path / "killed").exists()


@pytest.mark.slow
def test_processes_that_always_die_end_the_run() -> None:
    with Workers(2, backend=open_backend("processes", 2)) as workers, pytest.raises(InputError, match="were lost 6"):
        workers.map(_killed_always, range(2))


def test_work_comes_in_chunks_in_order_and_no_further_than_asked() -> None:
    with Workers(2, backend=open_backend("processes", 2)) as workers:
        many = list(range(300))
        assert workers.map(abs, many) == many
        with workers.stream(abs, iter(many)) as done:
            assert list(done) == [(item, item) for item in many]
        with workers.stream(abs, iter(many)) as done:
            assert next(done) == (0, 0)


def test_workers_outlive_a_stream_that_is_closed_early() -> None:
    """A search closes its stream once it has its answer: the next one finds the same processes."""
    with Workers(2, backend=open_backend("processes", 2)) as workers:
        before = set(workers.map(_process, range(40)))
        for _ in range(3):
            with workers.stream(_process, iter(range(10_000))) as done:
                next(done)
        assert not before.isdisjoint(workers.map(_process, range(40)))


def _process(_: int) -> int:
    time.sleep(0.005)
    return os.getpid()


@pytest.mark.parametrize(
    ("name", "address", "said"),
    [
        ("gpu", None, "--backend: unknown backend (got 'gpu'); allowed: threads, processes, dask, ray"),
        ("threads", "tcp://x:1", "--address: goes with --backend dask or ray (got 'tcp://x:1')"),
        pytest.param("dask", None, "--address: missing; allowed: the address of a scheduler", marks=needs_dask),
        pytest.param(
            "dask",
            "tcp://127.0.0.1:9",
            "--address: no Dask scheduler answers there (got 'tcp://127.0.0.1:9'); allowed: a scheduler that runs",
            marks=needs_dask,
        ),
    ],
)
def test_a_backend_that_cannot_be_had_is_a_line(name: str, address: str | None, said: str) -> None:
    with pytest.raises(InputError) as caught:
        open_backend(name, 2, address)
    (fault,) = caught.value.faults
    assert word(fault).startswith(said)


@pytest.mark.parametrize(("name", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_an_extra_that_is_not_there_is_a_line(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"provisioner.search.on_{name}", raising=False)
    with pytest.raises(InputError) as caught:
        open_backend(name, 2, "x:1")
    wanted = f"--backend: {name} is not installed (got '{name}'); allowed: pip install '.[{name}]' in the checkout"
    assert word(caught.value.faults[0]).startswith(wanted)


# A cluster of processes on this machine


class Cluster:
    """A scheduler and workers of Dask, each a process of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str, changes: dict[str, str | None] | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{arguments[0]}", *arguments[1:], "--no-dashboard"]
        with (self.folder / f"{arguments[0]}-{time.monotonic_ns()}.log").open("wb") as log:
            return subprocess.Popen(command, cwd=self.folder, env=environment(changes), stdout=log, stderr=log)

    def add_worker(self, changes: dict[str, str | None] | None = None, *options: str) -> subprocess.Popen[bytes]:
        worker = self.start("worker", self.address, "--nthreads", "1", "--no-nanny", *options, changes=changes)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        for each in (*self.workers, self.scheduler):
            each.kill()
            each.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path / "cluster"
    folder.mkdir()
    with closing(Cluster(folder, port)) as running:
        yield running


@needs_dask
def test_dask_gives_the_same_bytes(tmp_path: Path, cluster: Cluster) -> None:
    for _ in range(2):
        cluster.add_worker()
    here = process(*GRID, "--csv", "here.csv", cwd=tmp_path)
    there = process(*GRID, "--csv", "there.csv", "--backend", "dask", "--address", cluster.address, cwd=tmp_path)
    assert there.errors == []
    assert there.out == here.out
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    main = ("--design", "HH", "--design", "HA", *TINY, "--quiet", "--json", "--minimize", "cost")
    dask = process(*main, "--backend", "dask", "--address", cluster.address, cwd=tmp_path)
    assert timeless(dask.out) == timeless(process(*main, cwd=tmp_path).out)


@needs_dask
@pytest.mark.slow
def test_dask_workers_that_are_not_as_they_should_be(tmp_path: Path, cluster: Cluster) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "provisioner").mkdir()
    (elsewhere / "provisioner" / "__init__.py").write_text("raise ModuleNotFoundError(name='provisioner')")
    alone = cluster.add_worker({"PYTHONPATH": str(elsewhere)})
    run = process(*GRID, "--backend", "dask", "--address", cluster.address, cwd=tmp_path)
    assert run.code == 2
    assert len(run.errors) == 1
    assert "has no package provisioner; allowed: provisioner 0." in run.errors[0]
    alone.kill()
    alone.wait()
    shutil.copytree(Path(environment()["PYTHONPATH"] or "") / "provisioner", tmp_path / "older" / "provisioner")
    rule = tmp_path / "older" / "provisioner" / "search" / "goal.py"
    rule.write_text(f"{rule.read_text()}# another rule\n")
    cluster.add_worker({"PYTHONPATH": str(tmp_path / "older")})
    time.sleep(1)
    run = process(*GRID, "--backend", "dask", "--address", cluster.address, cwd=tmp_path)
    assert run.code == 2
    assert len(run.errors) == 1
    assert "which may give other results; allowed: provisioner 0." in run.errors[0]


LONG = ("sweep", "--design", "HH", *TINY[:2], "--duration", "60", "--replications", "100", "--prompt", "1:60",
        "--token", "1:10", "--quiet")  # fmt: skip
"""Half a minute of work."""


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "provisioner.cli.main", *arguments],
        cwd=folder, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        yield run


def until_results(file: Path, least: int) -> None:
    for _ in range(600):
        time.sleep(0.1)
        if file.exists():
            try:
                with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as results:
                    if results.execute("SELECT count(*) FROM results").fetchone()[0] >= least:
                        return
            except sqlite3.OperationalError:
                continue
    raise AssertionError("nothing came")


@needs_dask
@pytest.mark.slow
def test_a_scheduler_that_is_lost_ends_the_run_and_the_next_goes_on(tmp_path: Path, cluster: Cluster) -> None:
    cluster.add_worker()
    there = ("--backend", "dask", "--address", cluster.address, "--results", "grid.db", "--resume", "--csv", "a.csv")
    with running(tmp_path, *LONG, *there) as run:
        until_results(tmp_path / "grid.db", 20)
        cluster.scheduler.kill()
        _, err = run.communicate(timeout=60)
    assert run.returncode == 2
    assert len(err.splitlines()) == 1
    assert "no Dask scheduler answers there" in err
    after = process(*LONG, "--results", "grid.db", "--resume", "--csv", "a.csv", cwd=tmp_path, timeout_s=300)
    assert after.code == 0
    assert process(*LONG, "--csv", "b.csv", cwd=tmp_path, timeout_s=300).out == after.out
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@needs_dask
@pytest.mark.slow
def test_chaos_gives_the_same_file(tmp_path: Path, cluster: Cluster) -> None:
    """Every five seconds a worker is killed, and another one started."""
    for _ in range(2):
        cluster.add_worker()
    there = ("--backend", "dask", "--address", cluster.address, "--csv", "there.csv")
    killed = 0
    with running(tmp_path, *LONG, *there) as run:
        while run.poll() is None:
            try:
                run.wait(5)
            except subprocess.TimeoutExpired:
                cluster.add_worker()
                cluster.workers[killed].kill()
                killed += 1
        assert run.communicate()[1] == ""
        assert run.returncode == 0
    assert killed >= 2
    process(*LONG, "--csv", "here.csv", cwd=tmp_path, timeout_s=300)
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()


@needs_ray
@pytest.mark.slow
def test_ray_gives_the_same_bytes(tmp_path: Path) -> None:
    here = process(*GRID, "--csv", "here.csv", cwd=tmp_path)
    there = process(*GRID, "--csv", "there.csv", "--backend", "ray", "--jobs", "2", cwd=tmp_path, timeout_s=300)
    assert there.errors == []
    assert there.out == here.out
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
