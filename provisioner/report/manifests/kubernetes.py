"""Plain Kubernetes: a Deployment (`apps/v1`) and a Service for each phase."""

from __future__ import annotations

from typing import Any

from provisioner.report.manifests import pods
from provisioner.report.manifests.deployment import IMAGE, PORT, TRANSFER_PORT, Deployment, Servers
from provisioner.report.manifests.names import dns_label, label_value


def documents(deployment: Deployment) -> dict[str, list[dict[str, Any]]]:
    """One file a phase."""
    return {
        f"{servers.phase}.yaml": [_deployment(deployment, servers), _service(deployment, servers)]
        for servers in deployment.servers
    }


def _labels(deployment: Deployment, servers: Servers) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": label_value(deployment.model),
        "app.kubernetes.io/instance": dns_label(deployment.name),
        "app.kubernetes.io/component": servers.phase,
    }


def _name(deployment: Deployment, servers: Servers) -> str:
    return f"{dns_label(deployment.name, 54)}-{servers.phase}"


def _deployment(deployment: Deployment, servers: Servers) -> dict[str, Any]:
    labels = _labels(deployment, servers)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": _name(deployment, servers), "labels": labels},
        "spec": {
            "replicas": servers.replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeSelector": pods.node_selector(servers),
                    "containers": [_container(deployment, servers)],
                    "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
                },
            },
        },
    }


def _container(deployment: Deployment, servers: Servers) -> dict[str, Any]:
    ports = [{"name": "http", "containerPort": PORT}]
    if servers.phase != "both":
        ports.append({"name": "kv", "containerPort": TRANSFER_PORT})
    return {
        "name": "vllm",
        "image": IMAGE,
        "command": ["python3", "-m", "vllm.entrypoints.openai.api_server"],
        "args": [
            *pods.model_arguments(deployment.model),
            "--port",
            str(PORT),
            *pods.engine_arguments(servers),
            *pods.transfer_arguments(servers),
        ],
        "env": pods.transfer_environment(servers),
        "ports": ports,
        "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 10},
        "resources": pods.gpu_resources(servers),
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 - where NCCL shares memory
    }


def _service(deployment: Deployment, servers: Servers) -> dict[str, Any]:
    labels = _labels(deployment, servers)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _name(deployment, servers), "labels": labels},
        "spec": {"selector": labels, "ports": [{"name": "http", "port": PORT, "targetPort": "http"}]},
    }
