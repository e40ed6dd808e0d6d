"""The shipped entries load, and reproduce what was published of them."""

from __future__ import annotations

import pytest

from provisioner.catalog import Catalog
from provisioner.domain.cluster import Cluster
from provisioner.domain.scheduling import Scheduling

CATALOG = Catalog.open()
GIB = 2**30


def test_every_design_loads_in_the_order_of_the_paper() -> None:
    assert [design.short for design in CATALOG.designs()] == ["AA", "HH", "HA", "HHcap", "A100", "H100"]
    assert all(design.tensor_parallel == 8 and design.scheduling == Scheduling() for design in CATALOG.designs())


@pytest.mark.parametrize(
    ("short", "machines"),
    [  # Splitwise, table V
        ("AA", ["dgx-a100", "dgx-a100"]),
        ("HH", ["dgx-h100", "dgx-h100"]),
        ("HA", ["dgx-h100", "dgx-a100"]),
        ("HHcap", ["dgx-h100", "dgx-h100-cap"]),
        ("A100", ["dgx-a100"]),
        ("H100", ["dgx-h100"]),
    ],
)
def test_a_design_has_the_machines_of_table_v(short: str, machines: list[str]) -> None:
    assert [machine.name for machine in CATALOG.design(short).machines] == machines


@pytest.mark.parametrize("kind", ["designs", "machines", "models", "slos", "workloads", "presets"])
def test_every_name_that_is_listed_loads(kind: str) -> None:
    load = {
        "designs": CATALOG.design,
        "machines": CATALOG.machine,
        "models": CATALOG.model,
        "slos": CATALOG.slo,
        "workloads": lambda name: CATALOG.workload(name)[0],
        "presets": CATALOG.preset,
    }[kind]
    assert CATALOG.names(kind)
    assert [load(name).name for name in CATALOG.names(kind)] == list(CATALOG.names(kind))


@pytest.mark.parametrize(
    ("model", "kv_bytes_per_token", "weights_bytes"),
    [
        ("bloom-176b", 4_014_080, 352_500_000_000),  # multi-head: 2 x 70 x 112 x 128 x 2
        ("llama2-70b", 327_680, 137_950_000_000),  # grouped: 2 x 80 x 8 x 128 x 2, an eighth of 64 heads
    ],
)
def test_a_model_takes_the_memory_of_its_published_shape(
    model: str, kv_bytes_per_token: int, weights_bytes: int
) -> None:
    assert CATALOG.model(model).kv_bytes_per_token == kv_bytes_per_token
    assert CATALOG.model(model).weights_bytes == weights_bytes


@pytest.mark.parametrize(
    ("name", "interconnect", "residue", "cost", "power"),
    [  # Splitwise, table I (cost of 8 GPUs at 2.21 and 4.76 USD/h) and section VI-A (residue)
        ("dgx-a100", 200e9, 0.008, 8 * 2.21, 6.2),
        ("dgx-h100", 400e9, 0.005, 8 * 4.76, 11.0),
        ("dgx-h100-cap", 400e9, 0.005, 8 * 4.76, 0.7 * 11.0),
    ],
)
def test_a_machine_has_its_published_figures(
    name: str, interconnect: float, residue: float, cost: float, power: float
) -> None:
    machine = CATALOG.machine(name)
    assert (machine.gpus, machine.hbm_bytes, machine.usable_memory_fraction) == (8, 640 * GIB, 0.9)
    assert (machine.interconnect_bytes_per_s, machine.transfer_residue_s) == (interconnect, residue)
    assert machine.cost_usd_per_h == pytest.approx(cost)
    assert machine.power_kw == pytest.approx(power)


def test_forty_h100_draw_what_seventy_a100_draw() -> None:
    # Splitwise, section VI-B: iso-power, 40 DGX-H100 = 70 DGX-A100.
    h100 = Cluster(design=CATALOG.design("H100"), prompt_machines=40, token_machines=0)
    a100 = Cluster(design=CATALOG.design("A100"), prompt_machines=70, token_machines=0)
    assert (h100.power_kw, a100.power_kw) == (pytest.approx(440), pytest.approx(434))
    assert int(h100.power_kw / CATALOG.machine("dgx-a100").power_kw) == 70


def test_forty_h100_cost_what_eighty_six_a100_cost() -> None:
    # Splitwise, section VI-D: iso-cost, 40 DGX-H100 = 86 DGX-A100.
    h100 = Cluster(design=CATALOG.design("H100"), prompt_machines=40, token_machines=0)
    assert int(h100.cost_usd_per_h / CATALOG.machine("dgx-a100").cost_usd_per_h) == 86


def test_the_nine_slos_are_those_of_table_vi() -> None:
    slo = CATALOG.slo("splitwise")
    assert {limit.name: limit.limit for limit in slo.limits} == {
        "ttft_p50": 2, "ttft_p90": 3, "ttft_p99": 6,
        "tbt_p50": 1.25, "tbt_p90": 1.5, "tbt_p99": 5,
        "e2e_p50": 1.25, "e2e_p90": 1.5, "e2e_p99": 5,
    }  # fmt: skip
    assert slo.reference_machine == "dgx-a100"
    assert {limit.unit for limit in slo.limits} == {"slowdown"}


def test_the_simulators_slos_differ_in_how_tbt_is_measured_only() -> None:
    ours, theirs = CATALOG.slo("splitwise"), CATALOG.slo("splitwisesim")
    changes = {"name": "splitwisesim", "tbt_counts_first_token": True, "tbt_reference": "prompt_as_batch"}
    assert theirs == ours.model_copy(update=changes)


@pytest.mark.parametrize("name", ["coding", "conversation"])
def test_a_workload_comes_with_the_folder_of_its_sizes(name: str) -> None:
    workload, folder = CATALOG.workload(name)
    assert (folder / workload.sizes).is_file()
    assert "CC-BY 4.0" in workload.source


class TestPresetSplitwisesim:
    """The reference simulator's memory figures and habits (its public results, ../shared/reference/README.md)."""

    CATALOG = Catalog.open(preset="splitwisesim")

    def test_it_names_its_profile_and_slos(self) -> None:
        preset = self.CATALOG.preset("splitwisesim")
        assert (preset.profile, preset.slo) == ("splitwisesim", "splitwisesim")

    def test_it_has_no_grouped_query_attention(self) -> None:
        for name, weights in [("bloom-176b", 329e9), ("llama2-70b", 135e9)]:
            model = self.CATALOG.model(name)
            assert model.kv_bytes_per_token == 4 * model.hidden * model.layers
            assert model.weights_bytes == weights

    @pytest.mark.parametrize("name", ["dgx-a100", "dgx-h100", "dgx-h100-cap"])
    def test_every_machine_uses_all_memory_and_sends_at_200_gib_per_s(self, name: str) -> None:
        machine = self.CATALOG.machine(name)
        assert machine.hbm_bytes * machine.usable_memory_fraction == 640 * GIB
        assert machine.interconnect_bytes_per_s == 200 * GIB

    def test_every_design_has_every_habit(self) -> None:
        for design in self.CATALOG.designs():
            assert design.scheduling == Scheduling(
                layerwise_from_tokens=1_000_000_000,
                first_token_in_prompt_kv=True,
                strict_room=True,
                long_prompts_wait=True,
                transfer_retry_s=1.0,
            )
            assert all(machine.interconnect_bytes_per_s == 200 * GIB for machine in design.machines)

    def test_an_override_comes_after_it(self) -> None:
        overrides = {"machines.dgx-a100.usable_memory_fraction": 0.5}
        catalog = Catalog.open(preset="splitwisesim", overrides=overrides)
        assert catalog.machine("dgx-a100").usable_memory_fraction == 0.5
        assert catalog.machine("dgx-h100").usable_memory_fraction == 1.0
