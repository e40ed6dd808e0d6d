"""A small file of the shape of each kind of trace, made by hand, and the requests it holds."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from provisioner.traces import Reading

Rows = list[tuple[float, int, int]]
AS_IT_IS = Reading()


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A file, how it is read, and what it holds."""

    content: bytes
    rows: Rows
    format: str
    reading: Reading = AS_IT_IS
    unused: tuple[str, ...] = ()
    left_out: tuple[tuple[str, int, int], ...] = ()
    """Start of the reason, rows, line of the first."""


def _lines(*lines: str, end: str = "\n", last: str = "\n") -> bytes:
    return (end.join(lines) + last).encode()


SHAPES = {
    "plain": Shape(
        content=_lines("arrival_s,prompt_tokens,output_tokens", "0.5,100,20", "1,7,3", "2.25,4096,1"),
        rows=[(0.5, 100, 20), (1.0, 7, 3), (2.25, 4096, 1)],
        format="plain CSV",
    ),
    "plain-jsonl": Shape(
        content=_lines(
            '{"arrival_s": 0.5, "prompt_tokens": 100, "output_tokens": 20}',
            '{"output_tokens": 3, "prompt_tokens": 7, "arrival_s": 1e0}',
        ),
        rows=[(0.5, 100, 20), (1.0, 7, 3)],
        format="plain JSONL",
    ),
    "azure-2023": Shape(  # seven decimals, no zone, CRLF, no last line end
        content=_lines(
            "TIMESTAMP,ContextTokens,GeneratedTokens",
            "2023-11-16 18:17:03.9799600,4808,10",
            "2023-11-16 18:17:04.0319600,3180,8",
            "2023-11-17 00:00:00.0000001,110,27",
            end="\r\n",
            last="",
        ),
        rows=[(0.0, 4808, 10), (0.052, 3180, 8), (20_576.0200401, 110, 27)],  # 5 h 42 min 56.02 s later
        format="Azure CSV",
    ),
    "azure-2024": Shape(  # six decimals, or none where they are zero, and an offset
        content=_lines(
            "TIMESTAMP,ContextTokens,GeneratedTokens",
            "2024-05-10 00:00:00.009930+00:00,2162,5",
            "2024-05-10 00:00:01+00:00,2399,6",
            "2024-05-10 00:00:01.017335+00:00,76,0",
            "2024-05-10 00:00:01.017336+00:00,76,15",
        ),
        rows=[(0.0, 2162, 5), (0.99007, 2399, 6), (1.007406, 76, 15)],
        left_out=(("no output tokens", 1, 4),),
        format="Azure CSV",
    ),
    "azure-2025": Shape(
        content=_lines(
            "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens",
            "2024-10-15 07:00:00.5,0,900,50",
            "2024-10-15 07:00:02.0,3,2600,70",
        ),
        rows=[(0.0, 900, 50), (1.5, 2600, 70)],
        unused=("NumImages",),
        format="Azure CSV",
    ),
    "burstgpt-1": Shape(  # ties of a second, and a failure of each kind
        content=_lines(
            "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
            "5,ChatGPT,472,18,490,Conversation log",
            "45,GPT-4,0,0,0,Conversation log",
            "45,ChatGPT,1087,230,1317,Conversation log",
            "45,ChatGPT,417,0,417,API log",
            "118,GPT-4,417,276,693,API log",
            "118,GPT-4,0,0,0,API log",
        ),
        rows=[(0.0, 472, 18), (40.0, 1087, 230), (113.0, 417, 276)],
        unused=("Model", "Total tokens", "Log Type"),
        left_out=(("no prompt and no output", 2, 3), ("no output", 1, 5)),
        format="BurstGPT CSV",
    ),
    "burstgpt-3": Shape(  # two columns in between
        content=_lines(
            "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type",
            "5.5,a1,3.2,ChatGPT,472,18,490,Conversation log",
            "6.25,,0.9,GPT-4,87,30,117,API log",
        ),
        rows=[(0.0, 472, 18), (0.75, 87, 30)],
        unused=("Session ID", "Elapsed time", "Model", "Total tokens", "Log Type"),
        format="BurstGPT CSV",
    ),
    "mooncake": Shape(  # milliseconds, several at once
        content=_lines(
            '{"timestamp": 27000, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}',
            '{"timestamp": 27000, "input_length": 123192, "output_length": 1, "hash_ids": []}',
            '{"timestamp": 30001, "input_length": 891, "output_length": 52, "hash_ids": [0, 46]}',
        ),
        rows=[(0.0, 6758, 500), (0.0, 123_192, 1), (3.001, 891, 52)],
        reading=Reading(time_unit="ms"),
        unused=("hash_ids",),
        format="Mooncake JSONL",
    ),
    "qwen": Shape(  # Mooncake's keys, in seconds
        content=_lines(
            '{"chat_id": 1, "parent_chat_id": -1, "timestamp": 0.25, "input_length": 9, "output_length": 8, '
            '"type": "text", "turn": 1, "hash_ids": [7]}',
            '{"chat_id": 2, "parent_chat_id": 1, "timestamp": 61.5, "input_length": 90, "output_length": 80, '
            '"type": "text", "turn": 2, "hash_ids": [7, 8]}',
        ),
        rows=[(0.0, 9, 8), (61.25, 90, 80)],
        reading=Reading(time_unit="s"),
        unused=("chat_id", "parent_chat_id", "type", "turn", "hash_ids"),
        format="Mooncake JSONL",
    ),
    "splitwisesim": Shape(
        content=_lines(
            "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size",
            "0,2,0,1,1,4096,32",
            "1,2,0,3.5,1,2048,8",
        ),
        rows=[(0.0, 4096, 32), (2.5, 2048, 8)],
        unused=("request_type", "application_id"),
        format="SplitwiseSim CSV",
    ),
    "vidur": Shape(  # seventeen digits
        content=_lines("arrived_at,num_prefill_tokens,num_decode_tokens", "0.0,374,44", "5.8926549999999995,91,16"),
        rows=[(0.0, 374, 44), (5.8926549999999995, 91, 16)],
        format="Vidur CSV",
    ),
    "mapped-csv": Shape(  # seconds since 1970
        content=_lines("model,when,in,out,user", "x,1700000000.25,12.0,3,u1", "y,1700000001.75,40,5,u2"),
        rows=[(0.0, 12, 3), (1.5, 40, 5)],
        reading=Reading(columns={"arrival": "when", "prompt": "in", "output": "out"}, time_unit="s"),
        unused=("model", "user"),
        format="mapped CSV",
    ),
    "mapped-jsonl": Shape(  # dates
        content=_lines(
            '{"at": "2026-01-31T23:59:59.5Z", "p": "5", "o": 6, "meta": {"a": [1]}}',
            '{"at": "2026-02-01T02:00:00.5+02:00", "p": 7, "o": 8, "meta": null}',
        ),
        rows=[(0.0, 5, 6), (1.0, 7, 8)],
        reading=Reading(columns={"arrival": "at", "prompt": "p", "output": "o"}),
        unused=("meta",),
        format="mapped JSONL",
    ),
}
each_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)

LENGTH_LISTS = {
    "headed": b"prompt_tokens,output_tokens\n100,20\n7,3\n",
    "without a head": b"# from a tokenizer\n100,20\n7,3\n",
    "jsonl": b'{"prompt_tokens": 100, "output_tokens": 20}\n{"prompt_tokens": 7, "output_tokens": 3}\n',
    "vidur": b"num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n100,20,120,5.0\n7,3,10,2.33\n",
}
