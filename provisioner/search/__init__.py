"""The search: which cluster serves a workload within its SLOs for the least, and why."""

from provisioner.domain.cluster import Cluster
from provisioner.search.backends import Backend, open_backend
from provisioner.search.cells import EVALUATE, EVALUATE_WHOLE, Cell
from provisioner.search.evaluate import Judge
from provisioner.search.evaluation import Evaluation
from provisioner.search.goal import OBJECTIVES, UNITS, Budget, Objective, amount, amounts
from provisioner.search.maximise import maximise
from provisioner.search.minimise import minimise
from provisioner.search.pareto import dominates, pareto, pareto_of_rates
from provisioner.search.plan import Certificate, Front, Plan
from provisioner.search.pool import Workers
from provisioner.search.precision import Precision
from provisioner.search.results import ResultsFile
from provisioner.search.robust import Case, RobustPlan, robust
from provisioner.search.scenario import Scenario

__all__ = [
    "EVALUATE",
    "EVALUATE_WHOLE",
    "OBJECTIVES",
    "UNITS",
    "Backend",
    "Budget",
    "Case",
    "Cell",
    "Certificate",
    "Cluster",
    "Evaluation",
    "Front",
    "Judge",
    "Objective",
    "Plan",
    "Precision",
    "ResultsFile",
    "RobustPlan",
    "Scenario",
    "Workers",
    "amount",
    "amounts",
    "dominates",
    "maximise",
    "minimise",
    "open_backend",
    "pareto",
    "pareto_of_rates",
    "robust",
]
