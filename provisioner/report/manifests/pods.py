"""The part that all targets share: a pod that serves one phase on one machine type with vLLM."""

from __future__ import annotations

import json
from typing import Any

from provisioner.report.manifests.deployment import MACHINE_LABEL, MODEL, TRANSFER_PORT, Servers
from provisioner.report.manifests.names import label_value

TRANSFER = json.dumps({"kv_connector": "NixlConnector", "kv_role": "kv_both"})
"""vLLM hands KV-caches from prefill to decode with NIXL."""


def node_selector(servers: Servers) -> dict[str, str]:
    """The nodes of a machine type."""
    return {MACHINE_LABEL: label_value(servers.machine)}


def gpu_resources(servers: Servers) -> dict[str, Any]:
    """The GPUs of one server."""
    return {"limits": {"nvidia.com/gpu": str(servers.gpus)}, "requests": {"nvidia.com/gpu": str(servers.gpus)}}


def engine_arguments(servers: Servers) -> list[str]:
    """What every engine is told."""
    return ["--tensor-parallel-size", str(servers.tensor_parallel)]


def transfer_arguments(servers: Servers) -> list[str]:
    """What an engine that hands on or takes KV-caches is told."""
    return [] if servers.phase == "both" else ["--kv-transfer-config", TRANSFER]


def transfer_environment(servers: Servers) -> list[dict[str, Any]]:
    """Where its peers find it for that."""
    if servers.phase == "both":
        return []
    return [
        {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": str(TRANSFER_PORT)},
    ]


def model_arguments(model: str) -> list[str]:
    """The weights, to be filled in, under the catalog's name."""
    return ["--model", MODEL, "--served-model-name", model]
