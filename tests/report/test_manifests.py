"""Manifests, against the published schemas, or rules of them that are written here, with their source.

Kubernetes: the strict JSON schemas of 1.34 in `schemas/kubernetes.json`, which names its source, also for the pods and
containers within the other targets' manifests; and what no schema says, by "Object Names and IDs" and "Labels and
Selectors" (kubernetes.io/docs). Dynamo: rules of the CRD DynamoGraphDeployment of `nvidia.com/v1beta1`, by the
reference of release 1.4 (docs.nvidia.com/dynamo, `dynamo-graph-deployment`). llm-d: rules of `values.schema.tmpl.json`
of the chart llm-d-modelservice, commit 00b82e2 (github.com/llm-d-incubation/llm-d-modelservice).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError
from ruamel.yaml import YAML

from provisioner.catalog import Catalog
from provisioner.domain.cluster import Cluster
from provisioner.errors import InputError
from provisioner.report.manifests import TARGETS, Deployment, files
from provisioner.report.manifests.names import dns_label, label_value
from provisioner.report.sink import check_folder, write_folder

DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
LABEL_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
QUANTITY = re.compile(r"[0-9]+")
IMAGE = re.compile(r"[a-z0-9.-]+(/[a-z0-9._-]+)*:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
HOSTILE = [
    "x: {y}",
    "../../etc",
    "$(reboot)",
    "a\nb: c",
    "\u202eevil",
    "<b>`q`",
    "-",
    "A" * 80,
    "日本",
    '"',
    "0",
    "on",
    "#",
]


def cluster(design: str, prompt: int, token: int = 0) -> Cluster:
    return Cluster(design=Catalog.open().design(design), prompt_machines=prompt, token_machines=token)


def emitted(target: str, of: Cluster, model: str = "bloom-176b") -> dict[str, list[dict[str, Any]]]:
    """Every document of every manifest, read back."""
    written = files(target, Deployment.of(of, model, "A plan."))
    assert "README.md" in written
    assert not any("&id" in text for text in written.values())
    return {name: list(YAML(typ="safe").load_all(text)) for name, text in written.items() if name.endswith(".yaml")}


def only(found: Mapping[str, Any], *, required: str, optional: str = "") -> None:
    keys = set(required.split())
    assert keys <= set(found)
    assert set(found) <= keys | set(optional.split())


KUBERNETES = json.loads((Path(__file__).parent / "schemas" / "kubernetes.json").read_text())
DEPLOYMENT, SERVICE = "io.k8s.api.apps.v1.Deployment", "io.k8s.api.core.v1.Service"
POD_TEMPLATE, CONTAINER = "io.k8s.api.core.v1.PodTemplateSpec", "io.k8s.api.core.v1.Container"


def check_schema(found: Mapping[str, Any], definition: str) -> None:
    """By a definition of Kubernetes' API; unknown fields are not allowed."""
    Draft202012Validator({**KUBERNETES, "$ref": f"#/$defs/{definition}"}).validate(found)


def check_labels(labels: Mapping[str, str]) -> None:
    for key, value in labels.items():
        assert LABEL_KEY.fullmatch(key)
        assert LABEL_VALUE.fullmatch(value), value


def check_container(found: Mapping[str, Any]) -> None:
    only(found, required="name image", optional="command args env ports readinessProbe resources volumeMounts")
    assert DNS_LABEL.fullmatch(found["name"])
    assert IMAGE.fullmatch(found["image"])
    for text in [*found.get("command", []), *found.get("args", [])]:
        assert isinstance(text, str)
    for variable in found.get("env", []):
        only(variable, required="name", optional="value valueFrom")
        assert isinstance(variable.get("value", ""), str)
    for port in found.get("ports", []):
        only(port, required="containerPort", optional="name protocol")
        assert 0 < port["containerPort"] < 65536
        assert re.fullmatch(r"[a-z0-9-]{1,15}", port["name"])
    for amounts in found.get("resources", {}).values():
        assert QUANTITY.fullmatch(amounts["nvidia.com/gpu"])
    if "resources" in found:
        assert (
            found["resources"]["limits"] == found["resources"]["requests"]
        )  # extended resources are not overcommitted


def check_pod(spec: Mapping[str, Any]) -> None:
    only(spec, required="containers", optional="nodeSelector volumes")
    check_labels(spec.get("nodeSelector", {}))
    volumes = {volume["name"] for volume in spec.get("volumes", [])}
    for container in spec["containers"]:
        check_container(container)
        assert {mount["name"] for mount in container.get("volumeMounts", [])} <= volumes


def check_kubernetes(documents: list[dict[str, Any]]) -> None:
    for found in documents:
        check_schema(found, SERVICE if found["kind"] == "Service" else DEPLOYMENT)
        only(found, required="apiVersion kind metadata spec")
        assert DNS_LABEL.fullmatch(found["metadata"]["name"])
        check_labels(found["metadata"]["labels"])
        spec = found["spec"]
        if found["kind"] == "Service":
            assert found["apiVersion"] == "v1"
            only(spec, required="selector ports")
            continue
        assert (found["apiVersion"], found["kind"]) == ("apps/v1", "Deployment")
        only(spec, required="selector template", optional="replicas")
        assert spec["replicas"] >= 0
        # "It must match the pod template's labels."
        assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
        check_labels(spec["template"]["metadata"]["labels"])
        check_pod(spec["template"]["spec"])


def check_dynamo(documents: list[dict[str, Any]]) -> None:
    (graph,) = documents
    assert (graph["apiVersion"], graph["kind"]) == ("nvidia.com/v1beta1", "DynamoGraphDeployment")
    assert DNS_LABEL.fullmatch(graph["metadata"]["name"])
    only(graph["spec"], required="components backendFramework")
    assert graph["spec"]["backendFramework"] in {"sglang", "vllm", "trtllm"}
    names = [component["name"] for component in graph["spec"]["components"]]
    assert len(set(names)) == len(names)
    for component in graph["spec"]["components"]:
        only(component, required="name", optional="type replicas podTemplate")
        assert 1 <= len(component["name"]) <= 63
        assert component["type"] in {"frontend", "worker", "prefill", "decode", "planner", "epp"}
        assert component["replicas"] >= 0
        check_schema(component["podTemplate"], POD_TEMPLATE)
        only(component["podTemplate"], required="spec")
        check_pod(component["podTemplate"]["spec"])
        assert [container["name"] for container in component["podTemplate"]["spec"]["containers"]] == ["main"]


def check_llmd(documents: list[dict[str, Any]]) -> None:
    (values,) = documents
    only(values, required="modelArtifacts decode prefill", optional="multinode routing accelerator")
    only(values["modelArtifacts"], required="name uri", optional="size authSecretName labels mountPath")
    assert re.match(r"(hf|pvc)://", values["modelArtifacts"]["uri"])
    only(values["modelArtifacts"]["labels"], required="llm-d.ai/inferenceServing llm-d.ai/model")
    check_labels(values["modelArtifacts"]["labels"])
    assert isinstance(values["multinode"], bool)
    only(values["routing"], required="servicePort proxy")
    assert isinstance(values["routing"]["proxy"]["enabled"], bool)
    for role in ("decode", "prefill"):
        found = values[role]
        only(found, required="create replicas", optional="nodeSelector parallelism containers")
        assert isinstance(found["create"], bool)
        assert isinstance(found["replicas"], int)
        check_labels(found.get("nodeSelector", {}))
        assert set(found.get("parallelism", {})) <= {"tensor", "data", "dataLocal", "workers"}
        for container in found.get("containers", []):
            chart = {key: value for key, value in container.items() if key not in ("modelCommand", "mountModelVolume")}
            check_schema(chart, CONTAINER)
            check_container(chart)
            assert container["modelCommand"] in {"vllmServe", "imageDefault", "custom"}


CHECKS = {"k8s": check_kubernetes, "dynamo": check_dynamo, "llm-d": check_llmd}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("of", [cluster("HA", 25, 6), cluster("HHcap", 35, 7), cluster("A100", 40)], ids=str)
def test_manifests_are_valid(target: str, of: Cluster) -> None:
    for documents in emitted(target, of).values():
        CHECKS[target](documents)


def test_the_schema_finds_what_is_wrong() -> None:
    """A number as text, a field that there is not, and a selector that is missing, which Kubernetes would refuse."""
    found = emitted("k8s", cluster("HA", 25, 6))["prefill.yaml"][0]
    spec = found["spec"]
    without = {name: value for name, value in spec.items() if name != "selector"}
    for wrong in ({**spec, "replicas": "25"}, {**spec, "replica": 25}, without):
        with pytest.raises(ValidationError):
            check_schema({**found, "spec": wrong}, DEPLOYMENT)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_made_harmless(target: str, name: str) -> None:
    of = cluster("HA", 2, 1)
    evil = of.design.model_copy(
        update={"prompt": of.design.machines[0].model_copy(update={"name": name}), "short": name[:40]}
    )
    deployment = Deployment.of(of.model_copy(update={"design": evil}), name, f"Plan of {name}.")
    written = files(target, deployment)
    for file, text in written.items():
        assert re.fullmatch(r"[a-zA-Z]+\.(yaml|md)", file)
        assert all(character.isprintable() or character == "\n" for character in text)
        if file.endswith(".yaml"):
            CHECKS[target](list(YAML(typ="safe").load_all(text)))


@given(st.text(min_size=1, max_size=90), st.text(min_size=1, max_size=90))
def test_names_are_valid_and_stay_different(first: str, second: str) -> None:
    for make, rule in ((dns_label, DNS_LABEL), (label_value, LABEL_VALUE)):
        assert rule.fullmatch(make(first))
        assert (make(first) == make(second)) == (first == second)
    assert label_value("dgx-a100") == dns_label("dgx-a100") == "dgx-a100"


def test_the_counts_and_machines_of_a_mixed_cluster_are_the_plans() -> None:
    """25 H100 machines for prompts and 6 A100 machines for tokens, 8 GPUs each."""
    by_kind = {file: documents[0]["spec"] for file, documents in emitted("k8s", cluster("HA", 25, 6)).items()}
    assert {file: spec["replicas"] for file, spec in by_kind.items()} == {"prefill.yaml": 25, "decode.yaml": 6}
    pods = {file: spec["template"]["spec"] for file, spec in by_kind.items()}
    assert pods["prefill.yaml"]["nodeSelector"] == {"machine-type": "dgx-h100"}
    assert pods["decode.yaml"]["nodeSelector"] == {"machine-type": "dgx-a100"}
    assert pods["decode.yaml"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    graph = emitted("dynamo", cluster("HA", 25, 6))["dynamo.yaml"][0]["spec"]["components"]
    assert [(each["type"], each["replicas"]) for each in graph] == [("frontend", 1), ("prefill", 25), ("decode", 6)]
    values = emitted("llm-d", cluster("HA", 25, 6))["values.yaml"][0]
    assert (values["prefill"]["replicas"], values["decode"]["replicas"]) == (25, 6)


def test_several_instances_of_a_machine_are_so_many_servers() -> None:
    """Ten machines with four instances each, of two GPUs: forty servers."""
    of = cluster("A100", 10)
    quarters = of.design.model_copy(update={"tensor_parallel": 2, "instances_per_machine": 4})
    (servers,) = Deployment.of(of.model_copy(update={"design": quarters}), "m", "").servers
    assert (servers.replicas, servers.gpus, servers.tensor_parallel) == (40, 2, 2)


def test_a_server_of_several_machines_is_refused() -> None:
    of = cluster("A100", 10)
    wide = of.design.model_copy(update={"tensor_parallel": 16})
    with pytest.raises(InputError, match="spans machines"):
        Deployment.of(of.model_copy(update={"design": wide}), "m", "")


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    write_folder(folder, {"a.yaml": "a: 1\n"}, "--emit")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "a.yaml"]
    with pytest.raises(InputError):
        write_folder(folder, {"b.yaml": ""}, "--emit")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.yaml", "out"]
    (tmp_path / "empty").mkdir()
    write_folder(tmp_path / "empty", {"a.yaml": ""}, "--emit")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match="No space left"):
        write_folder(tmp_path / "other", {"a.yaml": ""}, "--emit")
    assert not (tmp_path / "other").exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_is_not_empty_or_cannot_be_made_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for path, problem in (
        (tmp_path, "is not empty"),
        (tmp_path / "file", "is a file"),
        (tmp_path / "a" / "b", "does not exist"),
    ):
        with pytest.raises(InputError, match=problem):
            check_folder(path, "--emit")
    check_folder(tmp_path / "new", "--emit")
