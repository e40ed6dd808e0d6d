"""Standard output holds the answer and nothing else; a command can be cut short, from either side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.runs import MAIN_JOB, TINY, Provision, environment, parsed, process

COMMAND = (sys.executable, "-m", "provisioner.cli.main")
LONG = ("--design", "HH", "--target-rps", "15", "--duration", "60", "--replications", "5000", "--minimize", "cost")
"""Takes minutes, and has a note to make when it begins."""


def test_notes_go_to_standard_error(provision: Provision) -> None:
    run = provision(*MAIN_JOB)
    assert any("P99 of so few" in note for note in run.notes)
    assert "note" not in run.out
    assert not run.errors


def test_what_is_extrapolated_on_a_machine_is_said_once_for_all_its_pools(provision: Provision, folder: Path) -> None:
    """Prompt machines lend a hand with so many decodes that both pools leave what was measured."""
    rows = "".join(f"{i / 300},10,200\n" for i in range(600))
    (folder / "burst.csv").write_text("arrival_s,prompt_tokens,output_tokens\n" + rows)
    run = provision("simulate", "--design", "HH", "--cluster", "1,1", "--workload", "burst.csv")
    said = [line for line in run.notes if "decode on dgx-h100 is extrapolated" in line]
    assert len(said) == 1, said


@pytest.mark.parametrize("quiet", ["--quiet", "-q"])
def test_quiet_leaves_only_the_answer(provision: Provision, quiet: str) -> None:
    loud, silent = provision(*MAIN_JOB, "--json"), provision(*MAIN_JOB, "--json", quiet)
    assert silent.err == ""
    assert silent.answer["cluster"] == loud.answer["cluster"]


def test_json_is_all_of_standard_output_and_the_bar_vanishes_without_a_terminal(folder: Path) -> None:
    run = process(*MAIN_JOB, "--json", cwd=folder)
    assert run.code == 0
    parsed(run.out)
    assert run.out.startswith("{")
    assert run.out.endswith("}\n")
    assert run.notes
    assert not run.errors
    assert "simulating" not in run.err


def test_the_bar_is_on_standard_error_of_a_terminal(folder: Path) -> None:
    """Even then standard output, which is a pipe, holds only JSON."""
    pty = pytest.importorskip("pty")
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "--design", "AA", "--target-rps", "70", "--minimize", "cost", "--jobs", "1", "--json"],
        cwd=folder,
        env=environment({"TERM": "xterm"}),
        stdout=subprocess.PIPE,
        stderr=terminal,
    ) as running:
        os.close(terminal)
        assert running.stdout is not None
        out = running.stdout.read().decode()
        shown = b""
        while chunk := _read(main):
            shown += chunk
    os.close(main)
    assert running.returncode == 0
    assert parsed(out)["status"] == "optimal"
    assert b"simulating" in shown
    assert b"at most" in shown


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how a terminal says that nobody is left
        return b""


def test_a_reader_that_leaves_is_no_error(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [*COMMAND, "simulate", "--design", "HH", "--cluster", "2,1", *TINY],
        cwd=folder,
        env=environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
    ) as running:
        os.close(writing)
        _, err = running.communicate(timeout=120)
    assert b"Traceback" not in err
    assert b"BrokenPipe" not in err


def test_an_interrupt_is_130_and_leaves_nothing_behind(folder: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, *LONG, "--csv", "all.csv", "--json", "answer.json"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Whatever runs the tests in the background has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
    ) as running:
        try:
            assert running.stderr is not None
            assert running.stderr.readline().startswith(b"note: ")
            time.sleep(0.5)
            assert running.poll() is None
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
        finally:
            running.kill()
    assert running.returncode == 130
    assert out == b""
    assert b"interrupted" in err
    assert b"Traceback" not in err
    assert not [file for file in folder.iterdir() if file.name not in {"all.csv", "answer.json"}]
    assert all(file.stat().st_size for file in folder.iterdir())


def test_an_interrupt_in_this_process_is_130(provision: Provision, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("provisioner.search.evaluate.Judge.evaluate", interrupted)
    run = provision("simulate", "--design", "HH", "--cluster", "2,1", *TINY)
    assert (run.code, run.out) == (130, "")
    assert run.errors == ["interrupted"]


def test_an_internal_error_is_1_and_says_where_to_report_it(
    provision: Provision, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("provisioner.search.evaluate.Judge.evaluate", broken)
    run = provision("simulate", "--design", "HH", "--cluster", "2,1", *TINY)
    assert (run.code, run.out) == (1, "")
    assert "ZeroDivisionError: boom" in run.err
    assert "report" in run.err
