"""NVIDIA Dynamo: a DynamoGraphDeployment (`nvidia.com/v1beta1`), one component for each phase."""

from __future__ import annotations

from typing import Any

from provisioner.report.manifests import pods
from provisioner.report.manifests.deployment import Deployment, Servers
from provisioner.report.manifests.names import dns_label

IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:fill-in"
_TYPES = {"prefill": "prefill", "decode": "decode", "both": "worker"}


def documents(deployment: Deployment) -> dict[str, list[dict[str, Any]]]:
    """One file."""
    graph = {
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": dns_label(deployment.name, 40)},
        "spec": {
            "backendFramework": "vllm",
            "components": [_frontend(), *(_worker(deployment, servers) for servers in deployment.servers)],
        },
    }
    return {"dynamo.yaml": [graph]}


def _frontend() -> dict[str, Any]:
    return {
        "name": "frontend",
        "type": "frontend",
        "replicas": 1,
        "podTemplate": {"spec": {"containers": [{"name": "main", "image": IMAGE}]}},
    }


def _worker(deployment: Deployment, servers: Servers) -> dict[str, Any]:
    mode = [] if servers.phase == "both" else ["--disaggregation-mode", servers.phase]
    container = {
        "name": "main",
        "image": IMAGE,
        "command": ["python3", "-m", "dynamo.vllm"],
        "args": [
            *pods.model_arguments(deployment.model),
            *pods.engine_arguments(servers),
            *mode,
            *pods.transfer_arguments(servers),
        ],
        "resources": pods.gpu_resources(servers),
    }
    return {
        "name": "worker" if servers.phase == "both" else servers.phase,
        "type": _TYPES[servers.phase],
        "replicas": servers.replicas,
        "podTemplate": {"spec": {"nodeSelector": pods.node_selector(servers), "containers": [container]}},
    }
