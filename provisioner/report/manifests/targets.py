"""The targets by name, and what is written for each: manifests, and a README that says what to fill in."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML

from provisioner.report.manifests import dynamo, kubernetes, llmd
from provisioner.report.manifests.deployment import IMAGE, MACHINE_LABEL, MODEL, Deployment
from provisioner.report.manifests.names import label_value
from provisioner.report.plain import printable

Documents = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Target:
    """Who takes the manifests."""

    documents: Callable[[Deployment], Documents]
    title: str
    image: str
    apply: str
    """The command that does."""
    needs: str
    """What must be there before."""


TARGETS: Mapping[str, Target] = {
    "k8s": Target(
        kubernetes.documents,
        "Kubernetes",
        IMAGE,
        "kubectl apply -f .",
        "NVIDIA's device plugin, and a router in front of the Services that sends each prompt to a prefill server and"
        " its KV-cache on to a decode server: Kubernetes itself has none",
    ),
    "dynamo": Target(
        dynamo.documents,
        "NVIDIA Dynamo",
        dynamo.IMAGE,
        "kubectl apply -f dynamo.yaml",
        "the Dynamo operator, of a version that serves `nvidia.com/v1beta1`",
    ),
    "llm-d": Target(
        llmd.documents,
        "llm-d",
        IMAGE,
        "helm install NAME llm-d-modelservice/llm-d-modelservice -f values.yaml",
        "llm-d's gateway and inference scheduler, and the chart's repository"
        " (https://llm-d-incubation.github.io/llm-d-modelservice/)",
    ),
}


def files(target: str, deployment: Deployment) -> dict[str, str]:
    """File names with their content."""
    chosen = TARGETS[target]
    manifests = {name: _yaml(documents) for name, documents in chosen.documents(deployment).items()}
    return {**manifests, "README.md": _readme(chosen, deployment)}


def _yaml(documents: list[dict[str, Any]]) -> str:
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.representer.ignore_aliases = lambda _: True
    yaml.allow_unicode = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    text = io.StringIO()
    yaml.dump_all(documents, text)
    return text.getvalue()


def _readme(target: Target, deployment: Deployment) -> str:
    rows = [
        f"| {servers.phase} | {servers.replicas} | {servers.gpus} | `{MACHINE_LABEL}={label_value(servers.machine)}` |"
        for servers in deployment.servers
    ]
    machines = dict.fromkeys(label_value(servers.machine) for servers in deployment.servers)
    label_lines = [f"       kubectl label node NODE {MACHINE_LABEL}={machine}" for machine in machines]
    model = printable(deployment.model).replace("`", "'")
    return "\n".join(
        [
            f"# {target.title}: a planned cluster",
            "",
            f"{printable(deployment.summary)}",
            "",
            "| phase | servers | GPUs each | nodes |",
            "|---|---|---|---|",
            *rows,
            "",
            "## To fill in",
            "",
            f"1. `{MODEL}`: where the weights of {model} are, as a Hugging Face name or a path.",
            f"2. `{target.image}`: the image that serves it.",
            "3. Nodes with their machine types, or in the manifests a node selector that your nodes have already:",
            "",
            *label_lines,
            "",
            "   A machine type with a power cap is a label like any other: the cap itself is set on the node.",
            "4. Whatever your cluster asks of every pod: namespace, tolerations, secrets, volumes with the weights.",
            "",
            f"Needed before: {target.needs}. Then:",
            "",
            f"    {target.apply}",
            "",
            "## What the plan takes for granted",
            "",
            "In the plan, machines change between prefill and decode under load; here they are fixed. The limits of a",
            "batch are the engine's own: measure once, and plan again with what you measured.",
            "",
        ]
    )
