"""Three hosts, each a network namespace of Linux: a scheduler and whoever asks on one, a worker on each of two others.

Nothing is shared but the wires: each host has its own loopback, and reaches the others by their addresses.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.runs import TINY, environment, process

GRID = ("sweep", "--design", "HH", *TINY, "--prompt", "1:12", "--token", "1:5", "--quiet")
ADDRESSES = ("10.213.77.1", "10.213.77.2", "10.213.77.3")
SCHEDULER = f"tcp://{ADDRESSES[0]}:8786"


def can_have_hosts() -> bool:
    name = f"p{os.getpid()}-try"
    if shutil.which("ip") is None or os.geteuid() != 0:
        return False
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode:
        return False
    return subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False).returncode == 0


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def hosts() -> Iterator[list[str]]:
    """Name three namespaces; the first has a bridge that the others are wired to."""
    names = [f"p{os.getpid()}-{number}" for number in range(3)]
    with ExitStack() as stack:
        for name in names:
            ip("netns", "add", name)
            stack.callback(ip, "netns", "delete", name)
            ip("-n", name, "link", "set", "lo", "up")
        first = names[0]
        ip("-n", first, "link", "add", "bridge", "type", "bridge")
        ip("-n", first, "address", "add", f"{ADDRESSES[0]}/24", "dev", "bridge")
        ip("-n", first, "link", "set", "bridge", "up")
        for name, address in zip(names[1:], ADDRESSES[1:], strict=True):
            ip("-n", name, "link", "add", "wire", "type", "veth", "peer", "name", f"to-{name[-1]}", "netns", first)
            ip("-n", first, "link", "set", f"to-{name[-1]}", "master", "bridge", "up")
            ip("-n", name, "address", "add", f"{address}/24", "dev", "wire")
            ip("-n", name, "link", "set", "wire", "up")
        yield names


@pytest.mark.slow
@pytest.mark.skipif(find_spec("distributed") is None, reason="needs the extra [dask]")
def test_three_hosts_give_the_same_bytes(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not can_have_hosts():
        pytest.skip("network namespaces need root and Linux's ip")
    hosts = request.getfixturevalue("hosts")
    here = process(*GRID, "--csv", "here.csv", cwd=tmp_path)
    programs = [("scheduler", "--host", ADDRESSES[0], "--port", "8786")]
    programs += [("worker", SCHEDULER, "--host", each, "--nthreads", "1", "--no-nanny") for each in ADDRESSES[1:]]
    with ExitStack() as stack:
        for host, (program, *options) in zip(hosts, programs, strict=True):
            command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *options, "--no-dashboard"]
            log = stack.enter_context((tmp_path / f"{host}.log").open("wb"))
            run = stack.enter_context(
                subprocess.Popen(
                    ["ip", "netns", "exec", host, *command], cwd=tmp_path, env=environment(), stdout=log, stderr=log
                )
            )
            stack.callback(run.kill)
        there = subprocess.run(
            ["ip", "netns", "exec", hosts[0], sys.executable, "-m", "provisioner.cli.main", *GRID, "--csv", "there.csv",
             "--backend", "dask", "--address", SCHEDULER],
            cwd=tmp_path, env=environment(), text=True, capture_output=True, check=False, timeout=300,
        )  # fmt: skip
    assert (there.returncode, there.stderr) == (0, "")
    assert there.stdout == here.out
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    for host in hosts[1:]:
        assert "Registered to" in (tmp_path / f"{host}.log").read_text()
