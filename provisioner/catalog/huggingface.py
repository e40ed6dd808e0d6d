"""A model from its Hugging Face `config.json`: dense, GQA, MLA and MoE.

Weights are counted (`parameters`) and take what the configuration's `quantization_config` says, or two bytes each;
where `model.safetensors.index.json` lies beside it, its total counts instead, and any architecture will do. The model's
name is that of the folder, or of the file if it has another name than `config.json`.

Layers with a sliding window of up to 1,024 tokens do not count for the KV-cache: theirs stops growing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provisioner.catalog.document import Document, Origin
from provisioner.catalog.parameters import Parameters, Traits, bloom, grouped, latent
from provisioner.errors import Fault, FaultList, InputError

MAX_BYTES = 4 * 2**20
MAX_INDEX_BYTES = 64 * 2**20
MAX_NUMBER = 10**9
SHORT_WINDOW = 1024
MODELOPT = "hf_quant_config.json"
INDEX = "model.safetensors.index.json"

_GROUPED = {
    "llama": Traits(),
    "mistral": Traits(),
    "phi3": Traits(),
    "mixtral": Traits(),
    "qwen2": Traits(qkv_bias=True),
    "qwen2_moe": Traits(qkv_bias=True),
    "qwen3": Traits(qk_norm=True),
    "qwen3_moe": Traits(qk_norm=True),
    "gpt_oss": Traits(attention_bias=True, sinks=True, expert_bias=True),
}
_LATENT = ("deepseek_v2", "deepseek_v3", "kimi_k2")
FAMILIES = (*_GROUPED, *_LATENT, "bloom")
_TIED_UNLESS_TOLD = ("bloom",)
_KV_BYTES = 2
_BYTES = {"fp8": 1.0, "nvfp4": 0.5 + 1 / 16}
"""Of an element of any matrix; NVFP4 has a scale of a byte for each 16."""


def read_config(file: Path) -> Document:
    """Read a configuration as the document of a model. One that cannot be read is a document of nothing but faults."""
    name = file.resolve().parent.name if file.name == "config.json" else file.stem
    try:
        fields = _Config(_load(file, MAX_BYTES), file).model()
    except InputError as error:
        return Document(None, {(): Origin(file, None, "")}, error.faults)
    return Document({"name": name, **fields}, {(): Origin(file, None, "")})


@dataclass(slots=True)
class _Config:
    """A configuration, and the numbers of a model that follow from it."""

    values: Mapping[str, Any]
    file: Path

    def model(self) -> dict[str, Any]:
        """Fields of `domain.model.Model`, all but its name.

        Raises
        ------
        InputError
            With every number that is missing or wrong, or if the architecture is not known.
        """
        faults = FaultList(self.file)
        number = _reader(self.values, faults)
        kind = self._kind(faults)
        total_bytes = _indexed_bytes(self.file.parent / INDEX)
        fields = self._attention(number, kind)
        if kind not in FAMILIES:
            if total_bytes is None and not len(faults):
                allowed = f"{', '.join(FAMILIES)}; or {INDEX} beside the file, which tells the weights"
                faults.add(
                    "weights of this architecture cannot be counted", field="model_type", value=kind, allowed=allowed
                )
            faults.raise_if_any()
            return {**fields, "weights_bytes": total_bytes}
        tied = self.values.get("tie_word_embeddings", kind in _TIED_UNLESS_TOLD) is True
        count = self._count(kind, number, tied=tied)
        faults.raise_if_any()
        return {**fields, **self._weights(count, total_bytes)}

    def _kind(self, faults: FaultList) -> str:
        kind = self.values.get("model_type")
        if not isinstance(kind, str):
            faults.add(
                "is missing, or no text: no Hugging Face configuration", field="model_type", allowed=", ".join(FAMILIES)
            )
            return ""
        if "text_config" in self.values and "num_hidden_layers" not in self.values:
            problem = "a model of several kinds of input: its text_config is the language model"
            faults.add(problem, field="text_config", allowed="a file of what stands under text_config")
        return kind

    def _attention(self, number: Any, kind: str) -> dict[str, Any]:
        hidden, layers = number("hidden_size", "n_embed"), number("num_hidden_layers", "n_layer")
        heads = number("num_attention_heads", "n_head")
        fields: dict[str, Any] = {"layers": layers, "hidden": hidden, "bytes_per_element": self._kv_bytes()}
        if "kv_lora_rank" in self.values:
            rank, rotary = number("kv_lora_rank"), number("qk_rope_head_dim")
            key, value = number("qk_nope_head_dim") + rotary, number("v_head_dim")
            return {
                **fields,
                "kv_heads": 1,
                "head_dim": rank + rotary,
                "kv_elements": rank + rotary,
                "attention_flops": 2 * layers * heads * (key + value),
            }
        d = number("head_dim", default=max(hidden // max(heads, 1), 1))
        kv_heads = heads if kind == "bloom" else number("num_key_value_heads", default=heads)
        growing = self._growing_layers(layers)
        return {
            **fields,
            "kv_heads": kv_heads,
            "head_dim": d,
            "attention_flops": 4 * layers * heads * d,
            **({} if growing == layers else {"kv_layers": max(growing, 1)}),
        }

    def _growing_layers(self, layers: int) -> int:
        kinds, window = self.values.get("layer_types"), self.values.get("sliding_window")
        if not isinstance(kinds, list) or len(kinds) != layers or not isinstance(window, int) or window > SHORT_WINDOW:
            return layers
        return sum(kind != "sliding_attention" for kind in kinds)

    def _kv_bytes(self) -> int:
        scheme = self._quantization().get("kv_cache_scheme")
        return 1 if isinstance(scheme, dict) and scheme.get("num_bits") == 8 else _KV_BYTES  # noqa: PLR2004

    def _count(self, kind: str, number: Any, *, tied: bool) -> Parameters:
        if kind in _LATENT:
            return latent(number, tied=tied, router_bias=self.values.get("topk_method") == "noaux_tc")
        if kind == "bloom":
            return bloom(number)
        traits = _GROUPED[kind]
        if self.values.get("attention_bias") is True and not traits.qkv_bias:
            traits = Traits(
                qk_norm=traits.qk_norm,
                attention_bias=True,
                mlp_bias=self.values.get("mlp_bias") is True,
                sinks=traits.sinks,
                expert_bias=traits.expert_bias,
            )
        return grouped(number, traits, tied=tied)

    def _weights(self, count: Parameters, total_bytes: int | None) -> dict[str, Any]:
        linear_bytes, routed_bytes = self._element_bytes()
        routed = round(count.routed * routed_bytes)
        rest = 2 * (count.embedding + count.head + count.other)
        counted = round(count.linear * linear_bytes) + routed + rest
        fields: dict[str, Any] = {"weights_bytes": total_bytes or counted, "active_parameters": count.active}
        if count.routed:
            fields["experts"] = {
                "count": count.experts,
                "per_token": count.experts_per_token,
                "weights_bytes": min(routed, fields["weights_bytes"]),
            }
        return fields

    def _element_bytes(self) -> tuple[float, float]:
        """Bytes of an element of a dense matrix, and of one of a routed expert."""
        quantization = self._quantization()
        method = quantization.get("quant_method")
        if method is None:
            return 2.0, 2.0
        if method == "mxfp4":  # four bits, and an eighth of a byte a block of 32; experts only
            return 2.0, 4.25 / 8
        if method in _BYTES:
            return _BYTES[method], _BYTES[method]
        bits = quantization.get("bits", _group_bits(quantization))
        if not isinstance(bits, int) or not 1 <= bits <= 16:  # noqa: PLR2004
            problem = "how the weights are quantised is not known"
            allowed = f"fp8, mxfp4, or a number of bits; or {INDEX} beside the file"
            field = "quantization_config.quant_method"
            raise InputError(Fault(problem=problem, file=self.file, field=field, value=method, allowed=allowed))
        group = quantization.get("group_size")
        scales = (2 + bits / 8) / group if isinstance(group, int) and group > 0 else 0.0
        return bits / 8 + scales, bits / 8 + scales

    def _quantization(self) -> Mapping[str, Any]:
        """What is quantised: by the configuration, or by what ModelOpt writes beside it."""
        found = self.values.get("quantization_config")
        if isinstance(found, dict):
            return found
        try:
            beside = _load(self.file.parent / MODELOPT, MAX_BYTES).get("quantization")
        except InputError:
            return {}
        if not isinstance(beside, dict):
            return {}
        cache = {"num_bits": 8} if beside.get("kv_cache_quant_algo") == "FP8" else None
        return {"quant_method": str(beside.get("quant_algo")).casefold(), "kv_cache_scheme": cache}


def _group_bits(quantization: Mapping[str, Any]) -> object:
    """The bits of `compressed-tensors`: those of the weights of its first group."""
    groups = quantization.get("config_groups")
    first = next(iter(groups.values()), None) if isinstance(groups, dict) else None
    weights = first.get("weights") if isinstance(first, dict) else None
    return weights.get("num_bits") if isinstance(weights, dict) else None


def _reader(values: Mapping[str, Any], faults: FaultList) -> Any:
    """A function that reads a whole number by any of its names, and notes what is missing or wrong."""
    told: set[str] = set()

    def number(*names: str, default: int | None = None) -> int:
        name = next((each for each in names if values.get(each) is not None), None)
        if name is None and default is not None:
            return default
        value = None if name is None else values[name]
        least = 1 if default is None else 0
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_NUMBER:
            return value
        field = name or names[0]
        if field not in told:
            told.add(field)
            problem = "is missing" if value is None else "is no whole number, or out of range"
            faults.add(problem, field=field, value=value, allowed=f"a whole number from 1 to {MAX_NUMBER}")
        return 1

    return number


def _indexed_bytes(file: Path) -> int | None:
    """The bytes of all weights by their index; None where there is none, or it does not tell."""
    try:
        index = _load(file, MAX_INDEX_BYTES)
    except InputError:
        return None
    metadata = index.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    return int(total) if isinstance(total, int | float) and not isinstance(total, bool) and 0 < total <= 2**60 else None


def _load(file: Path, most: int) -> dict[str, Any]:
    try:
        if not file.is_file():
            raise InputError(Fault(problem="is no file", file=file))
        with file.open("rb") as stream:
            content = stream.read(most + 1)
        if len(content) > most:
            raise InputError(Fault(problem="is too large", file=file, allowed=f"at most {most} bytes"))
        values = json.loads(content.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise InputError(Fault(problem=f"is not JSON: {error.msg}", file=file, line=error.lineno)) from None
    except UnicodeDecodeError:
        raise InputError(Fault(problem="is not UTF-8 text", file=file, allowed="UTF-8")) from None
    except (RecursionError, ValueError):
        raise InputError(Fault(problem="is not JSON: nested too deeply, or numbers too long", file=file)) from None
    except OSError as error:
        raise InputError(Fault(problem=f"cannot be read: {error.strerror}", file=file)) from None
    if not isinstance(values, dict):
        raise InputError(Fault(problem="is no mapping", file=file, allowed="a Hugging Face config.json"))
    return values
