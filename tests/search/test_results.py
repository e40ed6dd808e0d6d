"""Results are kept as they come: a run that was killed goes on, and nothing is simulated twice."""

from __future__ import annotations

import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from provisioner.cli.wording import word
from provisioner.domain.cluster import Cluster
from provisioner.errors import InputError
from provisioner.search import EVALUATE, Budget, Cell, Judge, ResultsFile, Workers, maximise, minimise, pareto
from provisioner.search.cells import decode, encode
from provisioner.search.maximise import STEP, Climb, Climbing, RateSearch
from tests.cli.runs import TINY, environment, process
from tests.search.questions import shipped

LONG = ("sweep", "--design", "HH", *TINY[:2], "--duration", "60", "--replications", "100", "--prompt", "1:60",
        "--token", "1:10", "--quiet", "--results", "grid.db")  # fmt: skip
"""Half a minute of work."""
CHUNK = 64
"""More cells than one chunk of that has."""


@pytest.fixture
def judge() -> Judge:
    (judge,) = shipped("HH", rate_rps=10.0, span_s=20.0, replications=2)
    return judge


def cells(judge: Judge) -> list[Cell]:
    return [Cell(judge, judge.cluster(prompt, token)) for prompt in range(1, 6) for token in (1, 2)]


def settled(threads: int) -> bool:
    """Wait for work that a search had begun ahead of its answer: no more than so many threads are left."""
    until = time.monotonic() + 60
    while threading.active_count() > threads and time.monotonic() < until:
        time.sleep(0.001)
    return threading.active_count() <= threads


def rows(file: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as results:
            return int(results.execute("SELECT count(*) FROM results").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_an_evaluation_comes_back_to_the_last_bit(judge: Judge) -> None:
    for cell in cells(judge):
        evaluation = EVALUATE(cell)
        assert decode(json.loads(json.dumps(encode(evaluation))), judge, cell.cluster) == evaluation
    endless = replace(evaluation, load=math.inf)
    assert decode(json.loads(json.dumps(encode(endless))), judge, cell.cluster).load == math.inf


def test_nothing_is_simulated_twice(judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[str] = Counter()
    simulate = Judge.simulate

    def counted(self: Judge, cluster: Any, *rest: Any) -> Any:
        asked[cluster.label] += 1
        return simulate(self, cluster, *rest)

    monkeypatch.setattr(Judge, "simulate", counted)
    budget = Budget(machines=6)
    searches = (
        lambda workers: workers.map(EVALUATE, cells(judge)),
        lambda workers: minimise([judge], "cost", max_machines=12, workers=workers).rows(),
        lambda workers: maximise([judge], budget, workers=workers).rows(),
        lambda workers: pareto([judge], max_machines=12, workers=workers).rows(),
    )
    threads = threading.active_count()
    for number, search in enumerate(searches):
        with Workers(2) as workers:
            plain = search(workers)
        for resume in (False, True):
            assert settled(threads)
            asked.clear()
            with (
                ResultsFile(tmp_path / f"{number}.db", resume=resume) as results,
                Workers(2, results=results) as workers,
            ):
                assert search(workers) == plain
        # What is not recorded: the nearest miss, and the first and the last climb of a search over rates.
        assert sum(asked.values()) <= (60 if number == 2 else 0), number


@pytest.mark.parametrize("jobs", [1, 2])
def test_equal_cells_are_simulated_once(
    judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    asked: Counter[str] = Counter()
    evaluate = Judge.evaluate

    def counted(self: Judge, cluster: Cluster, **rest: Any) -> Any:
        asked[cluster.label] += 1
        return evaluate(self, cluster, **rest)

    monkeypatch.setattr(Judge, "evaluate", counted)
    plain = [EVALUATE(cell) for cell in cells(judge)]
    doubled = [cell for pair in zip(cells(judge), reversed(cells(judge)), strict=True) for cell in pair]
    expected = [evaluation for pair in zip(plain, reversed(plain), strict=True) for evaluation in pair]
    for way in ("map", "stream"):
        asked.clear()
        watched: list[int] = []
        with ResultsFile(tmp_path / way) as results, Workers(jobs, watched.append, results=results) as workers:
            if way == "map":
                found = workers.map(EVALUATE, doubled)
            else:
                with workers.stream(EVALUATE, iter(doubled)) as done:
                    pairs = list(done)
                assert [cell for cell, _ in pairs] == doubled
                found = [evaluation for _, evaluation in pairs]
        assert found == expected
        assert asked == dict.fromkeys((cell.cluster.label for cell in cells(judge)), 1)
        assert sum(watched) == len(doubled)


def test_what_was_tried_before_a_test_is_not_part_of_its_result(judge: Judge, tmp_path: Path) -> None:
    """Another search that comes to the same test has tried other rates by then."""
    search, cluster, step = RateSearch(judge), judge.cluster(2, 1), round(math.log(2.0) / math.log(STEP))
    test = Climbing(step, tests_only=True)
    with ResultsFile(tmp_path / "grid.db") as results, Workers(results=results) as workers:
        begun = Climb(search, cluster)
        begun.passes(step - 50)
        (first,) = workers.map(test, [begun])
        (again,) = workers.map(test, [Climb(search, cluster)])
    assert first.tried.keys() | first.excluded == {step - 50, step}
    assert again.tried.keys() | again.excluded == {step}


def test_a_file_that_is_there_wants_resume(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with ResultsFile(file) as results:
        results.add([("one", 1), ("two", [1.5, math.inf])])
    with pytest.raises(InputError) as caught:
        ResultsFile(file)
    assert word(caught.value.faults[0]).startswith("--results: is there already (got '")
    assert word(caught.value.faults[0]).endswith("; allowed: --resume, or another file")
    with ResultsFile(file, resume=True) as results:
        assert (results.find("one"), results.find("two"), results.find("three")) == (1, [1.5, math.inf], None)


@pytest.mark.parametrize("what", ["text", "folder", "nowhere", "other"])
def test_a_file_that_cannot_be_used_is_a_line(tmp_path: Path, what: str) -> None:
    file = tmp_path / "a.db"
    match what:
        case "folder":
            file.mkdir()
        case "nowhere":
            file = tmp_path / "no" / "a.db"
        case "other":
            with closing(sqlite3.connect(file)) as other:
                other.execute("CREATE TABLE mine (x)")
        case "text":
            file.write_text("not a database, but something of mine\n" * 50)
    before = file.read_bytes() if file.is_file() else b""
    with pytest.raises(InputError) as caught:
        ResultsFile(file, resume=True)
    assert word(caught.value.faults[0]).startswith("--results: ")
    assert not file.is_file() or file.read_bytes() == before


@pytest.mark.parametrize("damage", ["a row", "a page", "cut short"])
def test_of_a_damaged_file_the_good_part_is_kept(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "a.db"
    with ResultsFile(file) as results:
        for start in range(0, 3000, 100):
            results.add((f"key {number}", {"value": number, "text": "x" * 50}) for number in range(start, start + 100))
    raw = bytearray(file.read_bytes())
    if damage == "a row":
        place = raw.rindex(b'"value": 2000')
        raw[place + 9 : place + 13] = b"2001"
    elif damage == "a page":
        raw[len(raw) // 2 : len(raw) // 2 + 4096] = os.urandom(4096)
    else:
        del raw[len(raw) // 2 :]
    file.write_bytes(raw)
    with ResultsFile(file, resume=True) as results:
        assert len(results.notes) == 1
        assert "is damaged" in results.notes[0]
        least = {"a row": 2999, "a page": 2800, "cut short": 500}[damage]
        assert least <= len(results) < 3000
        found = [results.find(f"key {number}") for number in range(3000)]
        assert all(each is None or each == {"value": n, "text": "x" * 50} for n, each in enumerate(found))
        assert sum(each is not None for each in found) == len(results)
        kept = len(results)
    assert (tmp_path / "a.db.damaged").read_bytes().startswith(bytes(raw))
    with ResultsFile(file, resume=True) as again:
        assert (len(again), again.notes) == (kept, [])


def test_a_full_disk_is_a_line_and_what_came_before_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with ResultsFile(file) as results:
        results.add([("one", 1)])
        results._file.execute("PRAGMA max_page_count = 8")
        with pytest.raises(InputError) as caught:
            results.add([(f"key {number}", "x" * 1000) for number in range(1000)])
        assert "disk is full; what came before is kept" in word(caught.value.faults[0])
    with ResultsFile(file, resume=True) as results:
        assert (len(results), results.find("one"), results.notes) == (1, 1, [])


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    run = subprocess.Popen(
        [sys.executable, "-m", "provisioner.cli.main", *LONG, *options],
        cwd=folder, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    for _ in range(1200):
        if rows(folder / "grid.db") >= CHUNK:
            return run
        time.sleep(0.05)
    raise AssertionError("nothing came")


def test_an_interrupt_ends_within_a_second_and_keeps_what_is_done(tmp_path: Path) -> None:
    with started(tmp_path) as run:
        run.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, err = run.communicate(timeout=60)
        took_s = time.monotonic() - sent
    assert (run.returncode, out) == (130, "")
    assert err.splitlines()[-1].startswith("interrupted")
    assert rows(tmp_path / "grid.db") >= CHUNK
    assert took_s < 10  # a second, on a machine that has nothing else to do


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_a_run_that_is_killed_goes_on(tmp_path: Path, backend: str) -> None:
    with started(tmp_path, "--backend", backend) as run:
        run.kill()
        run.communicate(timeout=60)  # until its workers are gone too, which have the same standard output
    done = rows(tmp_path / "grid.db")
    assert CHUNK <= done < 600
    after = process(*LONG, "--resume", "--csv", "a.csv", cwd=tmp_path, timeout_s=600)
    assert after.code == 0
    assert rows(tmp_path / "grid.db") == 600
    whole = process(*LONG[:-2], "--csv", "b.csv", cwd=tmp_path, timeout_s=600)
    assert whole.out == after.out
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
