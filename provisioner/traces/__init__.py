"""Request traces: read from files, described, or drawn from size tables and arrival processes."""

from provisioner.traces.arrivals import ArrivalProcess, Gamma, Poisson, Recorded, arrivals_s
from provisioner.traces.bounds import Bounds
from provisioner.traces.closed import Closed
from provisioner.traces.demand import Demand, Drawn, Replayed, Stretched
from provisioner.traces.description import Description, describe, describe_trace
from provisioner.traces.hourly import Hourly
from provisioner.traces.readers import read_recording, read_sizes, read_trace, without_arrivals
from provisioner.traces.reading import Reading
from provisioner.traces.resampled import Resampled
from provisioner.traces.rows import Intake
from provisioner.traces.sequence import RequestSequence
from provisioner.traces.sizes import SizeTable
from provisioner.traces.synthetic import generate
from provisioner.traces.writers import plain_csv, plain_csv_pieces

__all__ = [
    "ArrivalProcess",
    "Bounds",
    "Closed",
    "Demand",
    "Description",
    "Drawn",
    "Gamma",
    "Hourly",
    "Intake",
    "Poisson",
    "Reading",
    "Recorded",
    "Replayed",
    "RequestSequence",
    "Resampled",
    "SizeTable",
    "Stretched",
    "arrivals_s",
    "describe",
    "describe_trace",
    "generate",
    "plain_csv",
    "plain_csv_pieces",
    "read_recording",
    "read_sizes",
    "read_trace",
    "without_arrivals",
]
