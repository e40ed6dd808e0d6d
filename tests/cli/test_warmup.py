"""The compiled simulator is there before it is needed, wherever it may be written, and whoever looks for it at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from provisioner.sim.native import IS_PLAIN, file, is_on, keep, kept_in, machine_code
from provisioner.sim.warm import warm
from tests.cli.runs import MAIN_JOB, Provision, environment, process, timeless

COMMAND = (sys.executable, "-m", "provisioner.cli.main")
compiled_only = pytest.mark.skipif(IS_PLAIN, reason="nothing is compiled")


def filled(folder: Path) -> Path:
    """A cache folder with the compiled kernel in it."""
    (folder / "provisioner").mkdir(parents=True)
    (folder / "provisioner" / file().name).write_bytes(kept().read_bytes())
    return folder


def kept() -> Path:
    """The compiled kernel's file."""
    warm()
    place = kept_in()
    assert place is not None
    return place


def in_a_world_of_its_own(*script: str, cwd: Path, changes: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a shell script that may mount; skip where the machine does not allow that."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("no mount namespaces here")
    return subprocess.run(
        ["unshare", "-rm", "sh", "-euc", "\n".join(script)],
        cwd=cwd, env=environment(changes), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_case_worked_out_by_hand_comes_out() -> None:
    assert warm() > 0


@compiled_only
def test_warmup_says_where_and_how_long(provision: Provision) -> None:
    place = kept()
    run = provision("warmup")
    assert run.code == 0
    done, where = run.out.splitlines()
    assert done.startswith("compiled already, loaded and tried on a case worked out by hand, in ")
    assert where.startswith(f"kept in {place}, ")
    assert provision("warmup", "--quiet").out == ""


@compiled_only
def test_a_cache_that_cannot_be_written_is_read(folder: Path) -> None:
    cache = filled(folder / "cache")
    done = in_a_world_of_its_own(
        f"mount --bind '{cache}' '{cache}'",
        f"mount -o remount,ro,bind '{cache}'",
        f"! touch '{cache}/x' 2>&-",
        f"'{sys.executable}' -m provisioner.cli.main warmup",
        f"'{sys.executable}' -m provisioner.cli.main {' '.join(MAIN_JOB)} --json",
        cwd=folder,
        changes={"XDG_CACHE_HOME": str(cache), "TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("compiled already")
    assert f"kept in {cache}/provisioner/" in done.stdout
    assert "compiling" not in done.stderr


@compiled_only
def test_machine_code_that_is_kept_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = machine_code()
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda _: str(tmp_path / "own"))
    monkeypatch.setattr("platformdirs.site_cache_dir", lambda _: str(tmp_path / "for all"))
    assert kept_in() is None
    for for_all in (True, False):  # one's own comes first
        for _ in range(2):  # anew, and over what is there
            keep(code, for_all=for_all)
            assert kept_in() == file(for_all=for_all)
            assert list(file(for_all=for_all).parent.iterdir()) == [kept_in()]
    for damaged in (b"", code[:100], file().read_bytes()[:-1]):
        file().write_bytes(damaged)
        assert kept_in() == file(for_all=True)
    file(for_all=True).unlink()
    assert kept_in() is None
    file().unlink()
    file().parent.rmdir()
    file().parent.touch()
    with pytest.raises(OSError, match="own"):
        keep(code)


def without_home(_: str) -> str:
    raise RuntimeError("could not determine the home directory")  # as platformdirs has it


@compiled_only
def test_a_user_without_a_home_has_what_is_kept_for_all(
    provision: Provision, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = machine_code()
    monkeypatch.setattr("platformdirs.user_cache_dir", without_home)
    monkeypatch.setattr("platformdirs.site_cache_dir", lambda _: str(tmp_path))
    assert file() is None
    assert kept_in() is None
    with pytest.raises(OSError, match="home"):
        keep(code)
    assert provision("warmup", "--all-users").code == 0
    assert kept_in() == file(for_all=True)
    assert provision(*MAIN_JOB, "--duration", "5").code == 0


@compiled_only
def test_what_is_kept_for_all_can_be_read_by_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.site_cache_dir", lambda _: str(tmp_path / "for all"))
    strict = os.umask(0o077)
    try:
        keep(machine_code(), for_all=True)
    finally:
        os.umask(strict)
    place = file(for_all=True)
    assert place is not None
    assert place.stat().st_mode & 0o777 == 0o644
    assert place.parent.stat().st_mode & 0o777 == 0o755


def test_plain_python_has_nothing_to_compile(folder: Path) -> None:
    for arguments in (("warmup",), ("warmup", "--all-users")):
        run = process(*arguments, cwd=folder, changes={"NUMBA_DISABLE_JIT": "1"})
        assert run.code == 2
        assert run.err.startswith("error: NUMBA_DISABLE_JIT: nothing is compiled: the simulator runs as plain Python")


@pytest.mark.parametrize(("switch", "on"), [("", False), ("0", False), ("00", False), ("false", False), ("12", True)])
def test_numba_switches_are_read_as_numba_reads_them(switch: str, *, on: bool) -> None:
    assert is_on(switch) == on


@compiled_only
@pytest.mark.slow
def test_first_uses_at_the_same_time(folder: Path) -> None:
    """Each compiles, and one of them keeps it: the answers are the same, and the next run compiles nothing."""
    changes = environment({"XDG_CACHE_HOME": str(folder / "cache")})
    running = [
        subprocess.Popen([*COMMAND, *MAIN_JOB, "--json"], cwd=folder, env=changes, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]  # fmt: skip
    both = [each.communicate(timeout=600) for each in running]
    assert [each.returncode for each in running] == [0, 0]
    assert len({timeless(out) for out, _ in both}) == 1
    assert all("compiling the simulator" in err for _, err in both)
    after = process(*MAIN_JOB, "--json", cwd=folder, changes={"XDG_CACHE_HOME": str(folder / "cache")})
    assert timeless(after.out) == timeless(both[0][0])
    assert "compiling" not in after.err


@compiled_only
@pytest.mark.slow
@pytest.mark.parametrize("place", ["a file", "full"])
def test_where_nothing_can_be_kept_it_compiles_all_the_same(folder: Path, place: str) -> None:
    cache = folder / "cache"
    cache.touch() if place == "a file" else cache.mkdir()
    mount = f"mount -t tmpfs -o size=64k tmpfs '{cache}'" if place == "full" else "true"
    done = in_a_world_of_its_own(
        mount,
        f"'{sys.executable}' -m provisioner.cli.main {' '.join(MAIN_JOB)} --json",
        cwd=folder,
        changes={"XDG_CACHE_HOME": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be written to" in done.stderr


@compiled_only
def test_a_run_loads_neither_the_compiler_nor_scipy(folder: Path) -> None:
    """The kernel is machine code by then, and fits are remembered."""
    kept()
    question = [*MAIN_JOB, "--duration", "20", "--quiet"]
    told = "print(*({'numba', 'scipy'} & sys.modules.keys()), 'are loaded')"
    script = f"import sys; from provisioner.cli.main import main; main({question}); {told}"
    runs = [
        subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[1].stdout.splitlines()[-1] == "are loaded"
