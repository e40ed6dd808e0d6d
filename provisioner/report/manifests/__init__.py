"""An answer as manifests: what to hand to Kubernetes, NVIDIA Dynamo or llm-d to get the cluster."""

from provisioner.report.manifests.deployment import Deployment
from provisioner.report.manifests.targets import TARGETS, files

__all__ = ["TARGETS", "Deployment", "files"]
