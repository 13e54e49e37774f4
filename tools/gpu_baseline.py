"""Times PyTorch's kernels for rows of the kernel list: a JSON question a line, a JSON answer a line.

Buffers rotate over copies, times are of CUDA events around each call; what has no counterpart gets an empty answer.
"""

import json
import sys

import torch
import torch.nn.functional as F

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}


def uniform(shape, dtype):
    return torch.empty(shape, device="cuda", dtype=torch.float32).uniform_(-1, 1).to(dtype)


def gemm(name, s):
    words = name.split("_")
    dtype = DTYPES.get(words[1])
    if dtype is None or len(words) < 3 or words[2] not in ("nt", "nn"):
        return None
    x = uniform((s["m"], s["k"]), dtype)
    w = uniform((s["n"], s["k"]), dtype)
    epilogue = "_".join(words[3:])
    weight = w if words[2] == "nt" else w.t().contiguous().t()
    bias = uniform((s["n"],), dtype)
    if epilogue == "":
        return lambda: F.linear(x, weight)
    if epilogue == "bias":
        return lambda: F.linear(x, weight, bias)
    if epilogue == "bias_gelu":
        return lambda: F.gelu(F.linear(x, weight, bias), approximate="tanh")
    if epilogue == "silu":
        return lambda: F.silu(F.linear(x, weight))
    if epilogue == "residual":
        residual = uniform((s["m"], s["n"]), dtype)
        return lambda: torch.addmm(residual, x, weight.t())
    if epilogue == "swiglu":
        up = uniform((s["n"], s["k"]), dtype)
        return lambda: F.silu(F.linear(x, weight)) * F.linear(x, up)
    return None


def gemv(_, s):
    x, w = uniform((1, s["k"]), torch.bfloat16), uniform((s["n"], s["k"]), torch.bfloat16)
    return lambda: F.linear(x, w)


def attention(name, s):
    words = name.split("_")
    dtype, d = DTYPES[words[1]], int(words[2][1:])
    rest = words[3:]
    group = next((int(word[3:]) for word in rest if word.startswith("gqa")), 1)
    if set(rest) - {"causal", f"gqa{group}"}:
        return None
    q = uniform((s["b"], s["g"] * group, s["l"], d), dtype)
    k, v = (uniform((s["b"], s["g"], s["s"], d), dtype) for _ in range(2))
    causal = "causal" in rest
    return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=group > 1)


def decode(name, s):
    if "page" in name or "p" in s:
        return None
    q = uniform((s["b"], s["g"] * 4, 1, 128), torch.bfloat16)
    k, v = (uniform((s["b"], s["g"], s["s"], 128), torch.bfloat16) for _ in range(2))
    return lambda: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


def rows(name, s):
    words = name.split("_")
    columns = s.get("c") or int(words[-1])
    dtype = DTYPES[words[-2]]
    x, scale, bias = uniform((s["r"], columns), dtype), uniform((columns,), dtype), uniform((columns,), dtype)
    if words[0] == "softmax":
        return lambda: torch.softmax(x, 1)
    if words[0] == "layer":
        return lambda: F.layer_norm(x, (columns,), scale, bias)
    return lambda: F.rms_norm(x, (columns,), scale)


def other(name, s):
    if name == "swiglu_bf16":
        gate, up = (uniform((s["r"], s["c"]), torch.bfloat16) for _ in range(2))
        return torch.compile(lambda: F.silu(gate) * up)
    if name == "transpose_bf16":
        x = uniform((s["r"], s["c"]), torch.bfloat16)
        return lambda: x.t().contiguous()
    if name == "sum_f32":
        x = uniform((s["n"],), torch.float32)
        return lambda: x.sum()
    if name == "argmax_f32":
        x = uniform((s["r"], 128256), torch.float32)
        return lambda: x.argmax(1)
    return None


def maker(name):
    if name.startswith(("softmax", "layer_norm", "rms_norm")):
        return rows
    table = {"gemm": gemm, "gemv": gemv, "attention": attention, "decode": decode}
    return table.get(name.split("_")[0], other)


def times(question):
    make = maker(question["row"])
    calls = [make(question["row"], question["sizes"]) for _ in range(question["copies"])]
    if None in calls:
        return []
    for call in calls:
        call()
    torch.cuda.synchronize()
    found, runs = [], question["runs"]
    while len(found) < runs:
        events = [torch.cuda.Event(enable_timing=True) for _ in range(min(64, runs - len(found)) + 1)]
        events[0].record()
        for turn, event in enumerate(events[1:]):
            calls[(len(found) + turn) % len(calls)]()
            event.record()
        torch.cuda.synchronize()
        found += [int(a.elapsed_time(b) * 1e6) for a, b in zip(events, events[1:])]
    return found


def main():
    assert torch.cuda.is_available()
    for line in sys.stdin:
        question = json.loads(line)
        if question["row"] == "hello":
            answer = {"torch": torch.__version__, "cuda": torch.version.cuda}
        else:
            try:
                answer = {"ns": times(question)}
            except Exception as error:  # A row that the baseline cannot hold has no baseline.
                answer = {"ns": [], "error": str(error)}
            torch.cuda.empty_cache()
        print(json.dumps(answer), flush=True)


main()
