"""Request traces: read from files, or drawn from size tables and arrival processes."""

from provisioner.traces.arrivals import ArrivalProcess, Gamma, Poisson, Recorded, arrivals_s
from provisioner.traces.demand import Demand, Drawn, Replayed, Stretched
from provisioner.traces.readers import read_trace
from provisioner.traces.sequence import RequestSequence
from provisioner.traces.sizes import SizeTable
from provisioner.traces.synthetic import generate
from provisioner.traces.writers import plain_csv

__all__ = [
    "ArrivalProcess",
    "Demand",
    "Drawn",
    "Gamma",
    "Poisson",
    "Recorded",
    "Replayed",
    "RequestSequence",
    "SizeTable",
    "Stretched",
    "arrivals_s",
    "generate",
    "plain_csv",
    "read_trace",
]
