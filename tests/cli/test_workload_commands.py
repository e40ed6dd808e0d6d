"""`provision workload`: what users type and see; and trace files of other tools wherever a workload is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.runs import Provision, environment
from tests.traces.shapes import LENGTH_LISTS, SHAPES

CLUSTER = ("simulate", "--design", "HH", "--cluster", "2,2", "--json")


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    for name, shape in SHAPES.items():
        (folder / f"{name}.txt").write_bytes(shape.content)
    for name, content in LENGTH_LISTS.items():
        (folder / f"lengths {name}.txt").write_bytes(content)


class TestDescribe:
    def test_in_words(self, provision: Provision) -> None:
        out = provision("workload", "describe", "burstgpt-1.txt").out
        for words in (
            "BurstGPT CSV",
            "6 read, 3 kept",
            "2: no prompt and no output tokens",
            "line 3",
            "Model, Total tokens, Log Type",
            "113 s",
            "steps back in time",
            "Spearman",
        ):
            assert words in " ".join(out.split())
        assert max(map(len, out.splitlines())) <= 80

    def test_as_data(self, provision: Provision) -> None:
        answer = provision("workload", "describe", "burstgpt-1.txt", "--json").answer
        assert (answer["format"], answer["rows"], answer["kept"]) == ("BurstGPT CSV", 6, 3)
        assert answer["left_out"][1] == {
            "reason": "no output tokens (failed, or stopped at once)",
            "rows": 1,
            "first_line": 5,
        }
        assert answer["arrivals"]["span_s"] == 113.0
        assert answer["arrivals"]["rate_rps"] == pytest.approx(2 / 113, abs=1e-6)
        assert answer["prompt_tokens"]["percentiles"]["p50"] == 472
        assert answer["output_tokens"]["max"] == 276

    def test_as_csv(self, provision: Provision, folder: Path) -> None:
        provision("workload", "describe", "burstgpt-1.txt", "--csv", "d.csv")
        lines = (folder / "d.csv").read_text().splitlines()
        assert lines[0] == "what,value"
        assert "arrivals.span_s,113.0" in lines
        assert "left_out.1.rows,1" in lines

    def test_times_that_were_rounded(self, provision: Provision, folder: Path) -> None:
        rows = [f'{{"timestamp": {3 * (n // 5)}, "input_length": 9, "output_length": 9}}' for n in range(50)]
        (folder / "grid.jsonl").write_text("\n".join(rows) + "\n")
        out = provision("workload", "describe", "grid.jsonl", "--time-unit", "s").out
        assert "rounded to steps of 3 s" in " ".join(out.split())

    def test_the_unit_is_asked_for(self, provision: Provision) -> None:
        run = provision("workload", "describe", "mooncake.txt")
        assert run.code == 2
        assert len(run.errors) == 1
        assert "--time-unit" in run.errors[0]
        assert "s, ms, us, ns" in run.errors[0]

    def test_a_list_of_lengths(self, provision: Provision) -> None:
        answer = provision("workload", "describe", "lengths without a head.txt", "--json").answer
        assert answer["arrivals"] is None
        assert answer["kept"] == 2


class TestImport:
    def test_any_kind_becomes_the_plain_one(self, provision: Provision, folder: Path) -> None:
        assert provision("workload", "import", "mooncake.txt", "--time-unit", "ms", "--out", "mine.csv").code == 0
        assert (folder / "mine.csv").read_text() == (
            "arrival_s,prompt_tokens,output_tokens\n0.0,6758,500\n0.0,123192,1\n3.001,891,52\n"
        )

    def test_to_a_rate(self, provision: Provision, folder: Path) -> None:
        """Two gaps in 113 s become two in 1 s; their proportion, 40 to 73, stays."""
        args = ("workload", "import", "burstgpt-1.txt", "--target-rps", "2", "--out", "mine.csv", "--json")
        answer = provision(*args).answer
        assert answer["arrivals"]["rate_rps"] == pytest.approx(2.0)
        times = [float(line.split(",")[0]) for line in (folder / "mine.csv").read_text().splitlines()[1:]]
        assert times == pytest.approx([0.0, 40 / 113, 1.0])

    def test_a_window(self, provision: Provision, folder: Path) -> None:
        args = ("--window", "30:100", "--columns", "arrival=Timestamp,prompt=Request tokens,output=Response tokens")
        provision("workload", "import", "burstgpt-1.txt", *args, "--time-unit", "s", "--out", "mine.csv")
        assert (folder / "mine.csv").read_text().splitlines()[1:] == ["0.0,1087,230"]

    @pytest.mark.parametrize("rate", ["0", "-1", "nan", "1e9"])
    def test_no_rate(self, provision: Provision, rate: str) -> None:
        run = provision("workload", "import", "plain.txt", "--target-rps", rate, "--out", "mine.csv")
        assert (run.code, len(run.errors)) == (2, 1)
        assert "--target-rps" in run.errors[0]

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("--columns", "prompt=x"),
            ("--columns", "a"),
            ("--columns", "prompt=a,prompt=b,output=c"),
            ("--time-unit", "minutes"),
            ("--window", "5"),
            ("--window", "9:1"),
            ("--window", "a:b"),
            ("--unordered", "shuffle"),
        ],
    )
    def test_bad_options(self, provision: Provision, folder: Path, option: str, value: str) -> None:
        run = provision("workload", "import", "plain.txt", option, value, "--out", "mine.csv")
        assert (run.code, len(run.errors)) == (2, 1)
        assert option in run.errors[0]
        assert not (folder / "mine.csv").exists()


class TestGenerate:
    def test_the_rate_asked_for_and_the_one_that_came(self, provision: Provision) -> None:
        args = ("workload", "generate", "--target-rps", "5", "--duration", "20", "--out", "mine.csv")
        answer = provision(*args, "--json").answer
        assert answer["asked_rps"] == 5.0
        assert answer["arrivals"]["rate_rps"] == pytest.approx(5.0, rel=0.4)
        assert f"{answer['arrivals']['rate_rps']:.4g} RPS (asked for: 5)" in " ".join(provision(*args).out.split())

    @pytest.mark.parametrize(
        ("option", "value"),
        [("--target-rps", "0"), ("--target-rps", "nan"), ("--duration", "-1"), ("--duration", "1e9"),
         ("--target-rps", "1e6")],
    )  # fmt: skip
    @pytest.mark.parametrize("arrivals", ["poisson", "hourly:1,2"])
    def test_bad_numbers(self, provision: Provision, option: str, value: str, arrivals: str) -> None:
        run = provision("workload", "generate", "--arrivals", arrivals, option, value, "--out", "mine.csv")
        assert (run.code, len(run.errors)) == (2, 1)
        assert option in run.errors[0]

    @pytest.mark.parametrize(
        "option",
        [("--columns", "prompt=a,output=b"), ("--time-unit", "ms"), ("--window", "0:1"), ("--unordered", "sort")],
    )
    def test_options_about_files_need_one(self, provision: Provision, option: tuple[str, str]) -> None:
        run = provision("workload", "generate", "--target-rps", "5", *option, "--out", "mine.csv")
        assert (run.code, len(run.errors)) == (2, 1)
        assert option[0] in run.errors[0]

    def test_the_same_seed_gives_the_same_bytes(self, provision: Provision, folder: Path) -> None:
        args = ("workload", "generate", "--target-rps", "5", "--duration", "20", "--arrivals", "gamma:2")
        for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
            assert provision(*args, "--seed", seed, "--out", f"{name}.csv").code == 0
        a, b, c = ((folder / f"{name}.csv").read_text() for name in "abc")
        assert a == b != c

    def test_lengths_of_a_list(self, provision: Provision, folder: Path) -> None:
        args = ("--workload", "lengths jsonl.txt", "--arrivals", "poisson", "--target-rps", "9", "--duration", "30")
        assert provision("workload", "generate", *args, "--out", "mine.csv").code == 0
        lengths = {line.partition(",")[2] for line in (folder / "mine.csv").read_text().splitlines()[1:]}
        assert lengths == {"100,20", "7,3"}

    def test_hourly_rates_are_rates(self, provision: Provision) -> None:
        args = ("workload", "generate", "--arrivals", "hourly:0.5,0,1", "--out", "mine.csv", "--json")
        answer = provision(*args).answer
        assert answer["kept"] == pytest.approx(5400, abs=4 * 5400**0.5)
        assert answer["arrivals"]["span_s"] > 2 * 3600

    def test_hourly_rates_are_proportions_of_a_rate(self, provision: Provision) -> None:
        args = ("--arrivals", "hourly:1,3", "--target-rps", "0.5", "--out", "mine.csv", "--json")
        answer = provision("workload", "generate", *args).answer
        assert answer["kept"] == pytest.approx(3600, abs=4 * 3600**0.5)
        assert answer["arrivals"]["peak_minute_to_mean"] > 1.5

    @pytest.mark.parametrize(
        "arrivals",
        ["hourly:", "hourly:0,0", "hourly:1,x", "hourly:-1", "resampled", "resampled:0", "resampled:x", "poisson:2",
         "recorded:", "recorded", "uniform", ""],
    )  # fmt: skip
    def test_bad_arrivals(self, provision: Provision, arrivals: str) -> None:
        run = provision("workload", "generate", "--target-rps", "5", "--arrivals", arrivals, "--out", "mine.csv")
        assert (run.code, len(run.errors)) == (2, 1)
        assert "--arrivals" in run.errors[0]


class TestAnywhere:
    def test_a_trace_of_another_tool(self, provision: Provision) -> None:
        run = provision(*CLUSTER, "--workload", "mooncake.txt", "--time-unit", "ms", "--target-rps", "1")
        assert run.answer["inputs"]["time_unit"] == "ms"
        assert run.answer["inputs"]["arrivals"] == "recorded"
        assert any("not taken into account: hash_ids" in note for note in run.notes)

    def test_what_was_left_out_is_said(self, provision: Provision) -> None:
        run = provision(*CLUSTER, "--workload", "burstgpt-1.txt")
        assert any("2 of 6 rows left out" in note and "line 3" in note for note in run.notes)

    def test_a_list_of_lengths_needs_arrivals_and_a_rate(self, provision: Provision) -> None:
        lengths = ("--workload", "lengths headed.txt")
        for more, option in (
            ((), "--arrivals"),
            (("--target-rps", "5"), "--arrivals"),
            (("--arrivals", "poisson"), "--target-rps"),
        ):
            run = provision(*CLUSTER, *lengths, *more)
            assert (run.code, len(run.errors)) == (2, 1)
            assert option in run.errors[0]
        given = provision(*CLUSTER, *lengths, "--arrivals", "poisson", "--target-rps", "5", "--duration", "10")
        assert given.answer["inputs"]["arrivals"] == "poisson"

    def test_in_a_mix_too(self, provision: Provision) -> None:
        mix = ("--workload", "lengths headed.txt:0.5", "--workload", "coding:0.5", "--target-rps", "5")
        assert "--arrivals" in provision(*CLUSTER, *mix).errors[0]
        assert provision(*CLUSTER, *mix, "--arrivals", "poisson", "--duration", "10").answer["status"]

    def test_a_resampled_trace_has_intervals(self, provision: Provision, folder: Path) -> None:
        rows = [f"{0.4 * n + 0.1 * (n % 3)},{100 + n % 50},{3 + n % 7}" for n in range(200)]
        (folder / "mine.csv").write_text("\n".join(["arrival_s,prompt_tokens,output_tokens", *rows]) + "\n")
        answer = provision(*CLUSTER, "--workload", "mine.csv", "--arrivals", "resampled:10").answer
        assert answer["inputs"]["arrivals"] == "resampled:10"
        assert answer["inputs"]["replications"] == 5
        assert all(slo["ci95"] is not None for slo in answer["slos"])

    def test_rows_out_of_order(self, provision: Provision, folder: Path) -> None:
        head, *rows = SHAPES["plain"].content.decode().splitlines()
        (folder / "back.csv").write_text("\n".join([head, *reversed(rows)]) + "\n")
        assert "--unordered sort" in provision(*CLUSTER, "--workload", "back.csv").errors[0]
        run = provision(*CLUSTER, "--workload", "back.csv", "--unordered", "sort")
        own = provision(*CLUSTER, "--workload", "plain.txt")
        assert run.answer["slos"] == own.answer["slos"]
        assert any("time goes back 2 times" in note for note in run.notes)


class TestClosedLoop:
    CLOSED = ("--arrivals", "closed:8:4000", "--replications", "1")

    def test_the_rate_is_what_was_served(self, provision: Provision) -> None:
        """Users = throughput x response time (Little), but for the end, when users have nothing left to send."""
        answer = provision(*CLUSTER, *self.CLOSED).answer
        assert answer["goal"] == {"users": 8}
        assert answer["inputs"]["arrivals"] == "closed:8:4000"
        rows = provision("simulate", "--design", "HH", "--cluster", "2,2", *self.CLOSED, "--requests", "r.csv")
        assert "from 8 users" in rows.out
        lines = Path("r.csv").read_text().splitlines()
        assert len(lines) == 4001
        place = lines[0].split(",").index("e2e_s")
        response_s = sum(float(line.split(",")[place]) for line in lines[1:]) / 4000
        assert answer["cluster"]["throughput_rps"] * response_s == pytest.approx(8, rel=0.05)

    def test_the_least_cluster(self, provision: Provision) -> None:
        asked = ("--design", "HH", "--minimize", "cost", "--max-machines", "6", "--json")
        answer = provision(*asked, "--arrivals", "closed:2:100", "--replications", "2").answer
        assert answer["status"] == "optimal"
        assert answer["goal"]["users"] == 2
        assert "target_rps" not in answer["goal"]

    @pytest.mark.parametrize(
        ("more", "option"),
        [(("--target-rps", "5"), "--target-rps"), (("--duration", "5"), "--duration"), (("--warmup", "1"), "--warmup")],
    )
    def test_what_has_no_meaning_is_refused(self, provision: Provision, more: tuple[str, str], option: str) -> None:
        run = provision(*CLUSTER, *self.CLOSED, *more)
        assert (run.code, len(run.errors)) == (2, 1)
        assert option in run.errors[0]

    @pytest.mark.parametrize("text", ["closed:0", "closed:5:4", "closed:x", "closed:", "closed:1:2:3", "closed:200000"])
    def test_no_closed_loop(self, provision: Provision, text: str) -> None:
        run = provision(*CLUSTER, "--arrivals", text)
        assert (run.code, len(run.errors)) == (2, 1)
        assert "--arrivals" in run.errors[0]

    def test_machines_fail_half_way(self, provision: Provision) -> None:
        """Unless `--fail-at` says when: half of the time that the loop lasts where nothing fails, not second 0."""
        asked = ("--arrivals", "closed:8:400", "--replications", "1")
        provision("simulate", "--design", "HH", "--cluster", "2,2", *asked, "--requests", "r.csv")
        header, *lines = [line.split(",") for line in Path("r.csv").read_text().splitlines()]
        ends_s = [float(line[header.index("arrival_s")]) + float(line[header.index("e2e_s")]) for line in lines]
        changed = provision("whatif", *CLUSTER[1:], *asked, "--fail", "token=1").answer
        assert changed["inputs"]["fail_at_s"] == pytest.approx(max(ends_s) / 2)
        assert changed["cluster"]["throughput_rps"] < changed["before"]["cluster"]["throughput_rps"]

    def test_there_is_no_trace_of_one(self, provision: Provision) -> None:
        run = provision("workload", "generate", *self.CLOSED[:2], "--out", "mine.csv")
        assert (run.code, len(run.errors)) == (2, 1)


def test_pyarrow_is_not_loaded_where_it_is_not_needed(folder: Path) -> None:
    code = (
        "import sys\n"
        "from provisioner.cli.main import main\n"
        "assert main(['workload', 'describe', 'burstgpt-1.txt']) == 0\n"
        "import provisioner.search\n"
        "print('pyarrow' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "False", done.stderr
