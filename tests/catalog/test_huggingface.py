"""Hugging Face configurations of known models: parameters and KV-cache as their authors publish them.

The dimensions below are those of each model's config.json; the counts beside them are:

- Llama-3.1-70B, Mixtral-8x7B, Qwen3-32B, Qwen3-30B-A3B: `metadata.total_size` of model.safetensors.index.json in the
  model's repository, in bytes of bfloat16 (141,107,412,992; 93,405,585,408; 65,524,246,528; 61,064,245,248).
- BLOOM: 176,247,271,424 parameters, by its model card; KV-cache of Llama-2-70B and BLOOM: docs of this project.
- DeepSeek-V3: 671,026,419,200 parameters (without multi-token prediction), 37 B active with the input embedding, by
  its model card; arXiv 2412.19437, section 2.1.1: the cache holds 512 + 64 elements a token and layer.
- gpt-oss-120b and -20b: 116.83 B and 20.91 B parameters, 5.13 B and 3.61 B active, checkpoints of 60.8 and 12.8 GiB, by
  their model card (arXiv 2508.10925, table 1).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.catalog import Catalog
from provisioner.catalog.huggingface import read_config
from provisioner.domain.model import Model
from provisioner.errors import InputError

NAMES = (
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
)


def config(kind: str, sizes: str, **more: Any) -> dict[str, Any]:
    """A configuration of layers, hidden, heads, KV heads, head dimension, MLP and vocabulary."""
    return {"model_type": kind, **dict(zip(NAMES, map(int, sizes.split()), strict=True)), **more}


LLAMA3_70B = config("llama", "80 8192 64 8 128 28672 128256", tie_word_embeddings=False)
LLAMA2_70B = config("llama", "80 8192 64 8 128 28672 32000", tie_word_embeddings=False)
LLAMA3_8B = config("llama", "32 4096 32 8 128 14336 128256", tie_word_embeddings=False)
QWEN3_32B = config("qwen3", "64 5120 64 8 128 25600 151936", tie_word_embeddings=False)
QWEN25_7B = config("qwen2", "28 3584 28 4 128 18944 152064", tie_word_embeddings=False)
MIXTRAL = config("mixtral", "32 4096 32 8 128 14336 32000", num_local_experts=8, num_experts_per_tok=2)
QWEN3_30B = config(
    "qwen3_moe", "48 2048 32 4 128 6144 151936", num_experts=128, num_experts_per_tok=8, moe_intermediate_size=768
)
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 129280,
    "topk_method": "noaux_tc",
}
GPT_OSS = {
    "num_experts_per_tok": 4,
    "attention_bias": True,
    "sliding_window": 128,
    "quantization_config": {"quant_method": "mxfp4"},
}
GPT_OSS_120B = config(
    "gpt_oss",
    "36 2880 64 8 64 2880 201088",
    num_local_experts=128,
    layer_types=["sliding_attention", "full_attention"] * 18,
    **GPT_OSS,
)
GPT_OSS_20B = config(
    "gpt_oss",
    "24 2880 64 8 64 2880 201088",
    num_local_experts=32,
    layer_types=["sliding_attention", "full_attention"] * 12,
    **GPT_OSS,
)
BLOOM = {"model_type": "bloom", "n_layer": 70, "n_embed": 14336, "num_attention_heads": 112, "vocab_size": 250880}


def model(folder: Path, values: dict[str, Any], *, name: str = "a-model", **beside: dict[str, Any]) -> Model:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "config.json").write_text(json.dumps(values))
    for file, content in beside.items():
        (folder / name / file.replace("__", ".")).write_text(json.dumps(content))
    return Catalog.open(cwd=folder).model(f"{name}/config.json")


@pytest.mark.parametrize(
    ("values", "weights_bytes"),
    [
        (LLAMA3_70B, 141_107_412_992),
        (LLAMA2_70B, 2 * 68_976_648_192),
        (LLAMA3_8B, 2 * 8_030_261_248),
        (QWEN3_32B, 65_524_246_528),
        (QWEN25_7B, 2 * 7_615_616_512),
        (MIXTRAL, 93_405_585_408),
        (QWEN3_30B, 61_064_245_248),
        (DEEPSEEK, 2 * 671_026_419_200),
        (BLOOM, 2 * 176_247_271_424),
    ],
    ids=[
        "llama-3.1-70b",
        "llama-2-70b",
        "llama-3.1-8b",
        "qwen3-32b",
        "qwen2.5-7b",
        "mixtral",
        "qwen3-30b",
        "deepseek-v3",
        "bloom",
    ],
)
def test_weights_are_what_the_authors_publish(tmp_path: Path, values: dict[str, Any], weights_bytes: int) -> None:
    assert model(tmp_path, values).weights_bytes == weights_bytes


@pytest.mark.parametrize(
    ("values", "kv_bytes"),
    [
        (LLAMA2_70B, 327_680),  # GQA
        (BLOOM, 4_014_080),  # MHA
        (DEEPSEEK, 61 * (512 + 64) * 2),  # MLA: 70,272 bytes, where 128 heads of K and V would take 4 million
        (GPT_OSS_120B, 18 * 2 * 8 * 64 * 2),  # every other layer has a window of 128 tokens
    ],
    ids=["llama-2-70b", "bloom", "deepseek-v3", "gpt-oss-120b"],
)
def test_the_cache_takes_what_its_attention_keeps(tmp_path: Path, values: dict[str, Any], kv_bytes: int) -> None:
    assert model(tmp_path, values).kv_bytes_per_token == kv_bytes


@pytest.mark.parametrize(
    ("values", "gib", "active"), [(GPT_OSS_120B, 60.8, 5.13e9), (GPT_OSS_20B, 12.8, 3.61e9)], ids=["120b", "20b"]
)
def test_gpt_oss(tmp_path: Path, values: dict[str, Any], gib: float, active: float) -> None:
    """Its card counts the output matrix, not the input embedding, as active."""
    found = model(tmp_path, values)
    assert found.weights_bytes / 2**30 == pytest.approx(gib, abs=0.05)
    assert found.active_parameters == pytest.approx(active, rel=0.01)


@pytest.mark.parametrize(
    ("values", "parallel", "copies"),
    [
        (LLAMA3_70B, 8, 1),  # a head each
        (LLAMA3_70B, 16, 2),
        (QWEN25_7B, 8, 2),  # four heads
        (DEEPSEEK, 8, 8),  # one compressed vector, which every GPU needs
    ],
)
def test_gpus_beyond_the_heads_hold_copies(
    tmp_path: Path, values: dict[str, Any], parallel: int, copies: float
) -> None:
    """As engines do: vLLM and SGLang replicate KV heads beyond tensor parallelism, and the latent cache of MLA."""
    found, machine = model(tmp_path, values), Catalog.open().machine("dgx-h100")
    roomy = machine.model_copy(update={"hbm_bytes": 10 * machine.hbm_bytes})
    whole = found.kv_capacity_tokens(roomy)
    assert found.kv_capacity_tokens(roomy, parallel) == pytest.approx(whole / copies)


def test_deepseek_activates_37_billion_with_the_embedding(tmp_path: Path) -> None:
    active = model(tmp_path, DEEPSEEK).active_parameters
    assert active is not None
    assert active + 129280 * 7168 == pytest.approx(37.55e9, rel=1e-3)


def test_of_experts_only_those_that_tokens_meet_are_read(tmp_path: Path) -> None:
    """Two of eight for one token; for four tokens each is missed with 0.75^4."""
    mixtral = model(tmp_path, MIXTRAL)
    experts = 32 * 8 * 3 * 4096 * 14336 * 2
    assert mixtral.read_bytes(1) == pytest.approx(mixtral.weights_bytes - experts * 0.75)
    assert mixtral.read_bytes(4) == pytest.approx(mixtral.weights_bytes - experts * 0.75**4)


@pytest.mark.parametrize(
    ("quantization", "per_element"),
    [
        ({"quant_method": "fp8"}, 1.0),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, 0.5 + 2.5 / 128),
        ({"quant_method": "compressed-tensors", "config_groups": {"0": {"weights": {"num_bits": 8}}}}, 1.0),
    ],
)
def test_matrices_shrink_and_embeddings_do_not(
    tmp_path: Path, quantization: dict[str, Any], per_element: float
) -> None:
    found = model(tmp_path, {**LLAMA3_8B, "quantization_config": quantization})
    matrices = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    assert found.weights_bytes == round(matrices * per_element) + 2 * (8_030_261_248 - matrices)


def test_modelopt_writes_beside_it(tmp_path: Path) -> None:
    beside = {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}
    found = model(tmp_path, LLAMA3_8B, hf_quant_config__json=beside)
    assert found.kv_bytes_per_token == 32 * 2 * 8 * 128  # a byte each
    assert found.weights_bytes < 0.6 * 2 * 8_030_261_248


def test_the_index_beside_it_tells_the_weights_of_any_architecture(tmp_path: Path) -> None:
    values = {**LLAMA3_8B, "model_type": "unheard_of"}
    with pytest.raises(InputError) as caught:
        model(tmp_path, values)
    (fault,) = caught.value.faults
    assert (fault.field, fault.value) == ("model_type", "unheard_of")
    (tmp_path / "a-model" / "model.safetensors.index.json").write_text('{"metadata": {"total_size": 12345}}')
    assert model(tmp_path, values).weights_bytes == 12345


def test_its_name_is_that_of_its_folder_or_file(tmp_path: Path) -> None:
    assert model(tmp_path, LLAMA3_8B, name="Llama-3.1-8B").name == "Llama-3.1-8B"
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine.json").write_text(json.dumps(LLAMA3_8B))
    catalog = Catalog.open(cwd=tmp_path, overrides={"models.mine.bytes_per_element": 1})
    assert "mine" in catalog.names("models")
    assert catalog.model("mine").kv_bytes_per_token == 32 * 2 * 8 * 128


@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ({}, {"model_type", "hidden_size", "num_hidden_layers", "num_attention_heads"}),
        ({**LLAMA3_8B, "hidden_size": "4096"}, {"hidden_size"}),
        ({**LLAMA3_8B, "num_hidden_layers": 0}, {"num_hidden_layers"}),
        ({**LLAMA3_8B, "vocab_size": -1}, {"vocab_size"}),
        ({**LLAMA3_8B, "vocab_size": True}, {"vocab_size"}),
        (
            {"model_type": "llava", "text_config": LLAMA3_8B},
            {"text_config", "hidden_size", "num_hidden_layers", "num_attention_heads"},
        ),
        ({**LLAMA3_8B, "quantization_config": {"quant_method": "mystery"}}, {"quantization_config.quant_method"}),
    ],
)
def test_every_fault_is_told(tmp_path: Path, values: dict[str, Any], fields: set[str]) -> None:
    with pytest.raises(InputError) as caught:
        model(tmp_path, values)
    assert {fault.field for fault in caught.value.faults} == fields


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"])
def test_what_is_no_configuration(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(content)
    document = read_config(file)
    assert document.value is None
    assert len(document.faults) == 1


@given(st.data())
def test_damaged_bytes_of_a_configuration(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(json.dumps(GPT_OSS_20B).encode())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.mktemp("models") / "config.json"
    file.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    document = read_config(file)
    assert (document.value is None) == bool(document.faults)


JUNK = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just([]), st.just({}))


@given(st.sampled_from([LLAMA3_8B, MIXTRAL, DEEPSEEK, BLOOM, GPT_OSS_20B]), st.data())
def test_a_damaged_configuration_is_a_model_or_a_clean_fault(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any], data: st.DataObject
) -> None:
    key = data.draw(st.sampled_from(sorted(values)))
    try:
        found = model(tmp_path_factory.mktemp("models"), {**values, key: data.draw(JUNK)})
    except InputError as error:
        assert error.faults  # noqa: PT017 - either way is right
    else:
        assert found.weights_bytes > 0
