"""Make the gallery's images from the shipped workloads: `python docs/scripts/gallery.py [NAME ...]`.

Each image is the `--plot` of a command, which `docs/gallery.md` shows beside it; the commands stand here once.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from provisioner.cli.main import main

FOLDER = Path(__file__).parents[1] / "gallery"
COMMANDS = {
    "heatmaps": "provision sweep --design HH --target-rps 70 --prompt 16:39 --token 1:12 --replications 2",
    "misses": "provision sweep --design HH --target-rps 150 --prompt 16:39 --token 1:12 --replications 2",
    "curve": "provision curve --design HH --cluster 27,5 --design HA --cluster 25,8 --design H100 --cluster 32 "
    "--rps 30:110:5",
    "machines": "provision sweep --design H100 --target-rps 70 --prompt 30:80:2",
    "front": "provision pareto --target-rps 20 --max-machines 60 --replications 2",
    "bars": "provision compare --target-rps 20 --minimize cost --max-machines 60 --replications 2",
    "rates": "provision pareto --design HH --design HA --budget-cost 300 --duration 60 --replications 2",
    "fleet": "provision fleet examples/fleet.yaml --replications 2",
    "day": "provision fleet examples/day.yaml --by-hour --replications 2",
    "batches": "provision simulate --design HH --cluster 27,5 --target-rps 70",
    "whatif": "provision whatif --design HH --cluster 27,5 --target-rps 70 --fail token=1",
    "fit": "provision profile validate --splits 1",
    "knots": "provision profile show bloom-176b/dgx-a100",
    "catalog": "provision list machines",
    "lengths": "provision workload generate --workload conversation --target-rps 70 --out conversation.csv",
}
MADE_ON_THE_WAY = ("conversation.csv",)


def draw(name: str) -> None:
    """Run one command with `--plot` and nothing else to say."""
    arguments = [*shlex.split(COMMANDS[name])[1:], "--plot", str(FOLDER / f"{name}.png"), "--quiet"]
    code = main(arguments)
    if code not in (0, 3):
        sys.exit(code)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in sys.argv[1:] or COMMANDS:
        draw(each)
    for file in MADE_ON_THE_WAY:
        Path(file).unlink(missing_ok=True)
