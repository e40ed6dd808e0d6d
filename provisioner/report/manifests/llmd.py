"""llm-d: values of the Helm chart `llm-d-modelservice`, with its `prefill` and `decode` pods.

Machines that run both phases are decode pods without a prefill pool in front.
"""

from __future__ import annotations

from typing import Any

from provisioner.report.manifests import pods
from provisioner.report.manifests.deployment import IMAGE, MODEL, PORT, TRANSFER_PORT, Deployment, Servers
from provisioner.report.manifests.names import label_value

BEHIND_PROXY = 8200
"""Where the engine listens if the chart's routing sidecar takes the requests."""


def documents(deployment: Deployment) -> dict[str, list[dict[str, Any]]]:
    """One file."""
    by_role = {"decode" if servers.phase == "both" else servers.phase: servers for servers in deployment.servers}
    values = {
        "modelArtifacts": {
            "name": MODEL,
            "uri": f"hf://{MODEL}",
            "size": "1Ti",
            "authSecretName": "",
            "labels": {"llm-d.ai/inferenceServing": "true", "llm-d.ai/model": label_value(deployment.model)},
        },
        "multinode": False,
        "routing": {"servicePort": PORT, "proxy": {"enabled": deployment.is_split}},
        "decode": _pods(deployment, by_role["decode"]),
        "prefill": _pods(deployment, by_role["prefill"]) if "prefill" in by_role else {"create": False, "replicas": 0},
    }
    return {"values.yaml": [values]}


def _pods(deployment: Deployment, servers: Servers) -> dict[str, Any]:
    port = BEHIND_PROXY if servers.phase == "decode" else PORT
    ports = [{"name": "metrics", "containerPort": port, "protocol": "TCP"}]
    if servers.phase != "both":
        ports.append({"name": "kv", "containerPort": TRANSFER_PORT, "protocol": "TCP"})
    return {
        "create": True,
        "replicas": servers.replicas,
        "nodeSelector": pods.node_selector(servers),
        "parallelism": {"tensor": servers.tensor_parallel, "data": 1, "dataLocal": 1, "workers": 1},
        "containers": [
            {
                "name": "vllm",
                "image": IMAGE,
                "modelCommand": "vllmServe",
                "args": ["--served-model-name", deployment.model, *pods.transfer_arguments(servers)],
                "env": pods.transfer_environment(servers),
                "ports": ports,
                "resources": pods.gpu_resources(servers),
                "mountModelVolume": True,
            }
        ],
    }
