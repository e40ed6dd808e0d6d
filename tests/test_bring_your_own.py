"""docs/bring-your-own.md: its commands run, its files are taken."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from provisioner.catalog import Catalog
from provisioner.cli.main import main

TEXT = (Path(__file__).parents[1] / "docs" / "bring-your-own.md").read_text()
COMMANDS = [
    shlex.split(command)[1:] for command in re.findall(r"^\$ (provision .*)", TEXT.replace("\\\n", " "), re.MULTILINE)
]
MACHINES, DESIGN, SLO = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.skipif(find_spec("aiconfigurator_core") is None, reason="the extra [aic] is not installed")
def test_the_five_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i / 10},{200 + 37 * i % 1500},{20 + 11 * i % 300}\n" for i in range(300))
    (tmp_path / "my-trace.csv").write_text("arrival_s,prompt_tokens,output_tokens\n" + rows)
    five = COMMANDS[:5]
    assert [command[:2] for command in five] == [
        ["profile", "import-aic"],
        ["profile", "import-aic"],
        ["profile", "validate"],
        ["workload", "describe"],
        ["compare", "--design"],
    ]
    for command in five:
        assert main(command) == 0, capfd.readouterr().err
    assert "on modelled times" in capfd.readouterr().out


def test_the_files_are_taken(tmp_path: Path) -> None:
    (tmp_path / "designs").mkdir()
    (tmp_path / "slos").mkdir()
    (tmp_path / "designs" / "machines.yaml").write_text(MACHINES)
    (tmp_path / "designs" / "quarters.yaml").write_text(DESIGN)
    (tmp_path / "slos" / "mine.yaml").write_text(SLO)
    catalog = Catalog.open(cwd=tmp_path)
    (quarter,) = catalog.design("quarters").machines
    assert (quarter.gpus, quarter.cost_usd_per_h) == (2, 12.5)
    assert [objective.unit for objective in catalog.slo("mine").objectives] == [
        "s",
        "s_per_token",
        "slowdown",
        "missed",
    ]


def test_an_estimate_as_in_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Llama-3.1-8B").mkdir()
    config = '{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,'
    config += '"num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256}'
    (tmp_path / "Llama-3.1-8B" / "config.json").write_text(config)
    (estimate,) = (command for command in COMMANDS if command[:2] == ["profile", "estimate"])
    assert main(estimate) == 0
    assert "Llama-3.1-8B,dgx-h100,1," in (tmp_path / "guess.csv").read_text()
