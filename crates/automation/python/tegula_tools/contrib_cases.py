#!/usr/bin/env python3
"""Draws small cases of the ops of ONNX Runtime's own domain and lets ONNX Runtime say what each gives.

  contrib_cases.py DIR

One case is a model of one node, in attributes and optional operands of its own; its operands are inputs of the model but
for those named in `fixed`.  DIR/<case>/model.onnx and the .npy files of operands and results; DIR/cases.json lists
{name, rtol, atol, inputs, outputs} as onnx_node_cases.py does.  Integers must be equal.  Needs numpy, onnx and
onnxruntime."""
import json
import os
import sys
import zlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from tegula_tools import independent_ops

F = np.float32
CASES = []


class Draw:
    """Operands of one case, by a generator that its name seeds."""

    def __init__(self, name):
        self.rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))

    def f(self, *shape, deviation=1.0):
        return (self.rng.standard_normal(shape) * deviation).astype(F)

    def u8(self, *shape, low=0, high=256):
        return self.rng.integers(low, high, shape).astype(np.uint8)

    def i8(self, *shape, low=-128, high=128):
        return self.rng.integers(low, high, shape).astype(np.int8)

    def ints(self, dtype, low, high, *shape):
        return self.rng.integers(low, high, shape).astype(dtype)

    def scale(self, *shape, low=0.004, high=0.03):
        return self.rng.uniform(low, high, shape).astype(F)


def case(name, op, operands, results=1, fixed=(), domain="com.microsoft", rtol=1e-4, atol=2e-5,
         unjudged=(), half=False, independent=False, **attributes):
    """`operands(draw)` is a list of arrays, None where one is left out; `results` how many, or which, with gaps; the
    `unjudged` are no outputs of the model.  `half` makes floats those of 16 bits.  The `independent` are judged by
    independent_ops.py: on processors without VNNI ONNX Runtime adds two products of bytes in 16 bits, which saturate."""
    if half:
        name, rtol, atol = f"{name}_half", 5e-3, 5e-3
    CASES.append(dict(name=name, op=op, operands=operands, fixed=fixed, domain=domain, rtol=rtol, atol=atol,
                      results=list(range(results)) if isinstance(results, int) else results, unjudged=unjudged,
                      half=half, independent=independent, attributes=attributes))


# --- attention -------------------------------------------------------------------------------------------------------

def grouped(name, batch=1, length=1, past=4, room=None, lasts=None, heads=4, kv_heads=2, size=16, packed=False,
            rotary=0, places=False, bias=False, sink=False, results=3, **attributes):
    total = past + length
    room = past if room is None else room
    lasts = [total - 1] * batch if lasts is None else lasts

    def operands(d):
        wide = [d.f(batch, length, n * size) for n in (heads, kv_heads, kv_heads)]
        q, k, v = [np.concatenate(wide, 2), None, None] if packed else wide
        cache = [None, None]
        if room:
            cache = [d.f(batch, kv_heads, room, size) for _ in range(2)]
            for b, last in enumerate(lasts):
                for array in cache:
                    array[b, :, max(last + 1 - length, 0):] = 0
        angles = np.outer(np.arange(32), 1 / 100 ** (np.arange(rotary // 2) / max(rotary // 2, 1)))
        cos, sin = (np.cos(angles).astype(F), np.sin(angles).astype(F)) if rotary else (None, None)
        where = None
        if places:
            where = (np.array(lasts)[:, None] + 1 - length + np.arange(length)[None] + places - 1).astype(np.int64)
        return [q, k, v, *cache, np.array(lasts, np.int32), np.array([total], np.int32), cos, sin, where,
                d.f(1, heads, length, total) if bias else None, d.f(heads) if sink else None]

    case(f"GroupQueryAttention_{name}", "GroupQueryAttention", operands, results, num_heads=heads,
         kv_num_heads=kv_heads, do_rotary=int(rotary > 0), **attributes)


grouped("step")
grouped("prompt", length=5, past=0)
grouped("ragged_steps", batch=3, lasts=[4, 2, 0])
grouped("room_of_its_own", batch=2, room=9, lasts=[4, 2])
grouped("padded_prompts", batch=2, length=5, past=0, lasts=[4, 2], rotary=16, unjudged=(0,))
grouped("more_steps", length=3, past=4)
grouped("packed", batch=2, packed=True)
grouped("packed_rotary", batch=2, length=4, past=0, packed=True, rotary=16)
grouped("rotary", batch=2, lasts=[4, 2], rotary=16)
grouped("rotary_interleaved", batch=2, length=3, past=0, rotary=16, rotary_interleaved=1)
grouped("rotary_of_a_part", rotary=16, size=32)
grouped("rotary_at_places", batch=2, lasts=[4, 3], rotary=16, places=3)
grouped("rotary_from_place", length=3, past=0, rotary=16, places=6)
grouped("window", past=9, local_window_size=4)
grouped("window_of_prompt", length=7, past=0, local_window_size=3)
grouped("softcap", past=5, softcap=0.7)
grouped("smooth_softmax", batch=2, past=5, smooth_softmax=1)
grouped("sink", batch=2, length=4, past=0, sink=True)
grouped("sink_and_window", past=9, sink=True, local_window_size=4, softcap=2.0)
grouped("bias", past=5, bias=True)
grouped("bias_of_prompt", length=5, past=0, bias=True)
grouped("scale", batch=2, past=3, scale=0.7)
grouped("one_key_head", batch=2, past=3, kv_heads=1)
grouped("equal_heads", past=3, kv_heads=4)
grouped("both_ways", length=4, past=0, causal=0)
grouped("prompt", length=4, past=0, rotary=16, half=True)
grouped("steps", batch=2, lasts=[4, 2], rotary=16, softcap=2.0, half=True)


def multi_head(name, batch=2, length=3, keys=5, heads=2, size=8, v_size=None, form="apart", bias=False, mask=None,
               added=None, past=0, results=1, **attributes):
    v_size = v_size or size

    def operands(d):
        hidden = heads * size
        q, k, v = d.f(batch, length, hidden), d.f(batch, keys, hidden), d.f(batch, keys, heads * v_size)
        if form == "by_heads":
            k, v = d.f(batch, heads, keys, size), d.f(batch, heads, keys, v_size)
        total = past + keys
        masks = {
            None: None,
            "lengths": np.array([total - 1, total - 2][:batch], np.int32),
            "keys": (d.rng.random((batch, total)) < 0.6).astype(np.int32) | (np.arange(total) == 1),
            "rows": ((d.rng.random((batch, length, total)) < 0.6) | (np.arange(total) == 1)).astype(np.int32),
        }
        return [q, k, v, d.f(2 * hidden + heads * v_size) if bias else None,
                None if mask is None else masks[mask].astype(np.int32),
                None if added is None else d.f(*added, length, total),
                d.f(batch, heads, past, size) if past else None, d.f(batch, heads, past, v_size) if past else None]

    case(f"MultiHeadAttention_{name}", "MultiHeadAttention", operands, results, num_heads=heads, **attributes)


multi_head("plain")
multi_head("biased", bias=True)
multi_head("other_values", v_size=4)
multi_head("other_values_biased", v_size=4, bias=True)
multi_head("keys_by_heads", form="by_heads")
multi_head("keys_by_heads_biased", form="by_heads", bias=True)
multi_head("mask_of_lengths", mask="lengths")
multi_head("mask_of_keys", mask="keys")
multi_head("mask_of_rows", mask="rows")
multi_head("mask_value", mask="keys", mask_filter_value=-2.0)
multi_head("added", added=(2, 2))
multi_head("added_to_all", added=(1, 1), mask="keys")
multi_head("one_way", keys=3, unidirectional=1)
multi_head("one_way_masked", keys=3, unidirectional=1, mask="keys")
multi_head("past", past=4, keys=3, results=3)
multi_head("past_one_way", past=4, keys=3, results=3, unidirectional=1, bias=True)
multi_head("past_step", past=4, length=1, keys=1, results=3, mask="keys", added=(1, 2))
multi_head("scale", scale=0.2)
multi_head("present", results=3, keys=3)


def joint(name, batch=2, length=4, inner=12, heads=2, size=8, sizes=None, mask=None, past=0, added=None,
          results=1, op="Attention", quantized=None, **attributes):
    sizes = sizes or [heads * size] * 3

    def operands(d):
        total = past + length
        lengths = np.array([total, total - 1][:batch], np.int32)
        masks = {
            None: None,
            "lengths": lengths,
            "ends": np.concatenate([lengths, np.array([0, 1][:batch])]).astype(np.int32),
            "keys": ((d.rng.random((batch, total)) < 0.6) | (np.arange(total) == 1)).astype(np.int32),
            "rows": ((d.rng.random((batch, length, total)) < 0.6) | (np.arange(total) == 1)).astype(np.int32),
        }
        state = d.f(2, batch, heads, past, size) if past else None
        found = None if mask is None else masks[mask].astype(np.int32)
        if op == "QAttention":
            per_column, zeros, signed = quantized
            x = d.u8(batch, length, inner)
            # Of 7 bits, with which ONNX Runtime's products of bytes do not saturate.
            w = d.i8(inner, sum(sizes), low=-64, high=64) if signed else d.u8(inner, sum(sizes))
            n = (sum(sizes),) if per_column else (1,)
            w_zero = (d.i8(*n, low=-9, high=9) if signed else d.u8(*n, low=100, high=140)) if zeros else None
            return [x, w, d.f(sum(sizes)), np.array(0.011, F), d.scale(*n), found,
                    np.array(121, np.uint8) if zeros else None, w_zero, state]
        return [d.f(batch, length, inner), d.f(inner, sum(sizes), deviation=0.4), d.f(sum(sizes)),
                found, state, None if added is None else d.f(*added, length, total)]

    if sizes != [heads * size] * 3:
        attributes["qkv_hidden_sizes"] = sizes
    fixed = (1, 3, 4, 6, 7) if op == "QAttention" else ()
    case(f"{op}_{name}", op, operands, results, fixed=fixed, num_heads=heads, **attributes)


joint("plain")
joint("mask_of_lengths", mask="lengths")
joint("mask_of_ends", mask="ends")
joint("mask_of_keys", mask="keys")
joint("mask_of_rows", mask="rows")
joint("mask_value", mask="keys", mask_filter_value=-3.0)
joint("one_way", unidirectional=1)
joint("one_way_masked", unidirectional=1, mask="keys")
joint("past", past=3, results=2)
joint("past_one_way", past=3, results=2, unidirectional=1, mask="keys")
joint("present", results=2)
joint("added", added=(1, 2))
joint("scale", scale=0.3)
joint("other_values", sizes=[16, 16, 8])
joint("plain", op="QAttention", quantized=(False, False, False))
joint("zeros", op="QAttention", quantized=(False, True, False))
joint("signed_columns", op="QAttention", quantized=(True, True, True))
joint("masked", op="QAttention", quantized=(False, True, True), mask="keys")
joint("past", op="QAttention", quantized=(True, False, True), past=3, results=2, unidirectional=1)

# --- weights in few bits ---------------------------------------------------------------------------------------------


def n_bits(name, bits, k=64, n=6, block=16, zeros=None, bias=False, rows=(3,), fixed=(1, 2, 3), half=False):
    def operands(d):
        blocks = -(-k // block)
        zero = {None: None, "packed": d.u8(n, -(-blocks * bits // 8)),
                "floats": d.f(n, blocks, deviation=2.0) + F(2 ** (bits - 1))}[zeros]
        return [d.f(*rows, k), d.u8(n, blocks, block * bits // 8), d.scale(n, blocks), zero, None,
                d.f(n) if bias else None]

    case(f"MatMulNBits_{name}", "MatMulNBits", operands, fixed=fixed, half=half, K=k, N=n, bits=bits,
         block_size=block)


for bits in (2, 4, 8):
    n_bits(f"{bits}", bits)
    n_bits(f"{bits}_zeros", bits, zeros="packed", block=32, k=96)
n_bits("2_tail", 2, k=70, zeros="packed")
n_bits("4_tail", 4, k=70, zeros="packed")
n_bits("4_float_zeros", 4, zeros="floats")
n_bits("4_bias", 4, bias=True, rows=(2, 3))
n_bits("4_vector_of_rows", 4, rows=(1,), block=32)
n_bits("4_weights_given", 4, fixed=())
n_bits("4", 4, half=True)
n_bits("8_zeros", 8, zeros="packed", half=True)


def picked(name, bits, table=(6, 64), ids=(2, 3), block=16, gather=0, quantize=-1, zeros=False, dtype=np.uint8,
           low=None, **attributes):
    def operands(d):
        packed = dtype is np.uint8 and bits < 8
        shape, blocks = list(table), list(table)
        axis = quantize % len(table)
        blocks[axis] = -(-table[axis] // block)
        if packed:
            shape[-1] = shape[-1] * bits // 8
        first = -table[gather] if low is None else low
        where = d.ints(np.int64, first, table[gather], *ids)
        packed_blocks = blocks[:-1] + [-(-blocks[-1] * bits // 8)]
        if dtype is np.uint8:
            return [d.u8(*shape), where, d.scale(*blocks), d.u8(*(packed_blocks if packed else blocks)) if zeros else None]
        kinds = {"i4": (TensorProto.INT4, -8, 8), "u4": (TensorProto.UINT4, 0, 16)}
        kind, least, most = kinds[dtype]
        small = lambda *shape: (kind, d.ints(np.int8, least, most, *shape))
        return [small(*shape), where, d.scale(*blocks), small(*blocks) if zeros else None]

    case(f"GatherBlockQuantized_{name}", "GatherBlockQuantized", operands, fixed=(0, 2, 3), gather_axis=gather,
         quantize_axis=quantize, block_size=block, bits=bits, **attributes)


picked("4", 4)
picked("4_zeros", 4, zeros=True)
picked("4_tail", 4, table=(6, 40))
picked("8", 8, zeros=True)
picked("4_zeros", 4, zeros=True, half=True)
picked("2", 2, zeros=True)
picked("i4", 4, dtype="i4")
picked("u4_zeros", 4, dtype="u4", zeros=True)
picked("i4_other_axis", 4, dtype="i4", table=(32, 6), gather=1, quantize=0)
picked("i4_of_rank_3", 4, dtype="i4", table=(3, 5, 32), gather=1, quantize=2, ids=(4,))

# --- norms -----------------------------------------------------------------------------------------------------------

for domain in ("", "com.microsoft"):
    if not domain:
        case("SimplifiedLayerNormalization_default", "SimplifiedLayerNormalization", lambda d: [d.f(2, 3, 16), d.f(16)],
             domain=domain, axis=-1, epsilon=1e-3, stash_type=1)
case("SkipSimplifiedLayerNormalization_plain", "SkipSimplifiedLayerNormalization",
     lambda d: [d.f(2, 3, 16), d.f(2, 3, 16), d.f(16)], epsilon=1e-3)
case("SkipSimplifiedLayerNormalization_sum", "SkipSimplifiedLayerNormalization",
     lambda d: [d.f(2, 3, 16), d.f(2, 3, 16), d.f(16), d.f(16)], [0, 3])
case("SkipSimplifiedLayerNormalization_rows", "SkipSimplifiedLayerNormalization",
     lambda d: [d.f(5, 16), d.f(5, 16), d.f(16)], [0, 3])
case("SkipLayerNormalization_plain", "SkipLayerNormalization", lambda d: [d.f(2, 3, 16), d.f(2, 3, 16), d.f(16)])
case("SkipLayerNormalization_beta", "SkipLayerNormalization",
     lambda d: [d.f(2, 3, 16), d.f(2, 3, 16), d.f(16), d.f(16)], epsilon=1e-2)
case("SkipLayerNormalization_sum", "SkipLayerNormalization",
     lambda d: [d.f(2, 3, 16), d.f(2, 3, 16), d.f(16), d.f(16), d.f(16)], [0, 3])
case("SkipLayerNormalization_one_skip", "SkipLayerNormalization",
     lambda d: [d.f(2, 3, 16), d.f(1, 3, 16), d.f(16), d.f(16)], [0, 3])
case("SkipLayerNormalization_flat_skip", "SkipLayerNormalization",
     lambda d: [d.f(2, 3, 16), d.f(3, 16), d.f(16), None, d.f(16)])

case("SkipSimplifiedLayerNormalization_sum", "SkipSimplifiedLayerNormalization",
     lambda d: [d.f(2, 3, 16), d.f(2, 3, 16), d.f(16), d.f(16)], [0, 3], half=True)
case("SkipLayerNormalization_sum", "SkipLayerNormalization",
     lambda d: [d.f(2, 3, 16), d.f(2, 3, 16), d.f(16), d.f(16), d.f(16)], [0, 3], half=True)
case("SimplifiedLayerNormalization_default", "SimplifiedLayerNormalization", lambda d: [d.f(2, 3, 16), d.f(16)],
     domain="", axis=-1, stash_type=1, half=True)


def embedded(name, segments=True, mask=False, places=None, results=2, **attributes):
    def operands(d):
        ids = lambda n: d.ints(np.int32, 0, n, 2, 4)
        where = {None: None, "each": d.ints(np.int32, 0, 8, 2, 4), "shared": d.ints(np.int32, 0, 8, 1, 4)}[places]
        seen = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32)
        return [ids(10), ids(2) if segments else None, d.f(10, 16), d.f(8, 16), d.f(2, 16) if segments else None,
                d.f(16), d.f(16), seen if mask else None, where]

    case(f"EmbedLayerNormalization_{name}", "EmbedLayerNormalization", operands, results, **attributes)


embedded("plain")
embedded("no_segments", segments=False)
embedded("masked", mask=True)
embedded("sum", mask=True, results=3, epsilon=1e-3)
embedded("places", places="each")
embedded("shared_places", places="shared")


def turned(name, shape, where, size, heads=0, **attributes):
    def operands(d):
        angles = np.outer(np.arange(16), 1 / 10 ** (np.arange(size // 2) / (size // 2)))
        return [d.f(*shape), np.array(where, np.int64), np.cos(angles).astype(F), np.sin(angles).astype(F)]

    if heads:
        attributes.update(num_heads=heads, rotary_embedding_dim=size)
    case(f"RotaryEmbedding_{name}", "RotaryEmbedding", operands, **attributes)


turned("flat", (2, 3, 32), [[0, 1, 2], [4, 5, 6]], 16)
turned("by_heads", (2, 2, 3, 16), [[0, 1, 2], [4, 5, 6]], 16)
turned("interleaved", (2, 3, 32), [[0, 1, 2], [4, 5, 9]], 16, interleaved=1)
turned("of_a_part", (2, 3, 64), [[0, 1, 2], [4, 5, 6]], 16, heads=2)
turned("from_a_place", (2, 3, 32), [5], 16)
turned("flat", (2, 3, 32), [[0, 1, 2], [4, 5, 6]], 16, half=True)
turned("by_heads_from_a_place", (2, 2, 3, 16), [5], 16, interleaved=1)

# --- products and activations ----------------------------------------------------------------------------------------

case("FusedMatMul_plain", "FusedMatMul", lambda d: [d.f(2, 3, 4), d.f(2, 4, 5)], alpha=0.5)
case("FusedMatMul_transposed", "FusedMatMul", lambda d: [d.f(2, 4, 3), d.f(5, 4)], transA=1, transB=1)
case("FusedMatMul_batch_a", "FusedMatMul", lambda d: [d.f(3, 2, 4), d.f(2, 4, 5)], transBatchA=1)
case("FusedMatMul_batch_a_transposed", "FusedMatMul", lambda d: [d.f(4, 2, 3), d.f(2, 4, 5)], transBatchA=1, transA=1)
case("FusedMatMul_batch_b", "FusedMatMul", lambda d: [d.f(2, 6, 3, 4), d.f(4, 2, 6, 5)],
     transBatchB=1)
case("FusedMatMul_batch_both", "FusedMatMul", lambda d: [d.f(4, 2, 6, 3), d.f(5, 2, 6, 4)], transBatchA=1, transA=1,
     transBatchB=1, transB=1, alpha=2.0)
for activation, params in (("Relu", None), ("Tanh", None), ("Sigmoid", None), ("LeakyRelu", [0.2]),
                           ("Clip", [-0.5, 1.5]), ("HardSigmoid", [0.3, 0.4])):
    more = {"activation_params": params} if params else {}
    case(f"FusedConv_{activation}", "FusedConv", lambda d: [d.f(1, 2, 6, 6), d.f(4, 2, 3, 3), d.f(4)], fixed=(1, 2),
         activation=activation, pads=[1, 1, 1, 1], **more)
case("FusedConv_sum", "FusedConv", lambda d: [d.f(1, 2, 6, 6), d.f(4, 2, 3, 3), d.f(4), d.f(1, 4, 4, 4)], fixed=(1, 2),
     activation="Relu")
case("FusedConv_groups", "FusedConv", lambda d: [d.f(1, 4, 6, 6), d.f(4, 2, 3, 3)], fixed=(1,), activation="Relu",
     group=2, strides=[2, 2], dilations=[1, 1], auto_pad="SAME_UPPER")
for activation, more in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.3}), ("Sigmoid", {}), ("Tanh", {}),
                         ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.6})):
    case(f"FusedGemm_{activation}", "FusedGemm", lambda d: [d.f(3, 4), d.f(5, 4), d.f(5)], transB=1, alpha=0.7, beta=1.5,
         activation=activation, **more)
case("Gelu", "Gelu", lambda d: [d.f(3, 40, deviation=2)])
case("FastGelu", "FastGelu", lambda d: [d.f(3, 40, deviation=2)])
case("FastGelu_bias", "FastGelu", lambda d: [d.f(3, 40, deviation=2), d.f(40)])
case("QuickGelu", "QuickGelu", lambda d: [d.f(3, 40)], half=True)
case("FastGelu", "FastGelu", lambda d: [d.f(3, 40)], half=True)
case("Gelu", "Gelu", lambda d: [d.f(3, 40)], half=True)
case("BiasGelu", "BiasGelu", lambda d: [d.f(3, 40), d.f(40)], half=True)
multi_head("plain", half=True)
joint("masked", mask="keys", half=True)
case("FusedMatMul", "FusedMatMul", lambda d: [d.f(2, 3, 4), d.f(2, 4, 5)], alpha=0.5, half=True)
case("FusedConv", "FusedConv", lambda d: [d.f(1, 2, 6, 6), d.f(4, 2, 3, 3), d.f(4)], fixed=(1, 2), activation="Relu",
     half=True)
case("QuantizeLinear", "QuantizeLinear", lambda d: [d.f(3, 8), d.scale(), np.array(3, np.uint8)], half=True)
case("DequantizeLinear", "DequantizeLinear", lambda d: [d.u8(3, 8), d.scale(), np.array(3, np.uint8)], half=True)
case("QuickGelu", "QuickGelu", lambda d: [d.f(3, 40, deviation=2)])
case("QuickGelu_alpha", "QuickGelu", lambda d: [d.f(3, 40, deviation=2)], alpha=1.0)
case("BiasGelu", "BiasGelu", lambda d: [d.f(2, 3, 40, deviation=2), d.f(40)])

# --- eight bits ------------------------------------------------------------------------------------------------------


def dynamic(name, signed=False, columns=False, zeros=False, bias=False):
    def operands(d):
        n = (5,) if columns else (1,)
        b = d.i8(8, 5) if signed else d.u8(8, 5)
        zero = (d.i8(*n, low=-9, high=9) if signed else d.u8(*n, low=110, high=140)) if zeros else None
        return [d.f(2, 3, 8), b, d.scale(*n), zero, d.f(5) if bias else None]

    case(f"DynamicQuantizeMatMul_{name}", "DynamicQuantizeMatMul", operands, fixed=(1, 2, 3), independent=True)


dynamic("plain")
dynamic("signed", signed=True)
dynamic("columns", signed=True, columns=True, zeros=True, bias=True)
dynamic("zeros", zeros=True)


def to_float(name, a_signed=False, signed=False, columns=False, zeros=False, bias=False):
    def operands(d):
        n = (5,) if columns else (1,)
        whole = lambda s, low, high, *shape: d.ints(np.int8 if s else np.uint8, low, high, *shape)
        a_zero = whole(a_signed, *((-9, 9) if a_signed else (100, 140)), 1) if zeros else None
        zero = whole(signed, *((-9, 9) if signed else (100, 140)), *n) if zeros else None
        return [eight(d, a_signed, 2, 3, 8), d.i8(8, 5) if signed else d.u8(8, 5), d.scale(1), d.scale(*n), a_zero, zero,
                d.f(5) if bias else None]

    case(f"MatMulIntegerToFloat_{name}", "MatMulIntegerToFloat", operands, independent=True)


to_float("plain")
to_float("signed", signed=True, zeros=True)
to_float("both_signed", a_signed=True, signed=True, zeros=True)
to_float("columns", signed=True, columns=True, zeros=True, bias=True)


def eight(d, signed, *shape):
    return d.i8(*shape, low=-128, high=128) if signed else d.u8(*shape)


def point(signed, n):
    return np.array(n - 128 if signed else n, np.int8 if signed else np.uint8)


def real(x):
    return np.array(x, F)


for signed in (False, True):
    mark = "i8" if signed else "u8"
    for op in ("QLinearAdd", "QLinearMul"):
        for kind, a, b in (("same", (3, 400), (3, 400)), ("row", (3, 40), (40,)), ("scalar", (3, 40), (1,))):
            case(f"{op}_{mark}_{kind}", op,
                 lambda d, a=a, b=b, s=signed: [eight(d, s, *a), real(0.017), point(s, 120), eight(d, s, *b), real(0.023),
                                                point(s, 131), real(0.041), point(s, 117)])
        case(f"{op}_{mark}_one_left", op,
             lambda d, s=signed: [eight(d, s, 1), real(0.017), point(s, 120), eight(d, s, 3, 40), real(0.023),
                                  point(s, 131), real(0.041), point(s, 117)])
        # Sums that lie between two integers.
        case(f"{op}_{mark}_ties", op,
             lambda d, s=signed: [eight(d, s, 30, 40), real(0.5), point(s, 121), eight(d, s, 30, 40), real(0.25),
                                  point(s, 133), real(1.0), point(s, 117)])
    case(f"QLinearSigmoid_{mark}", "QLinearSigmoid",
         lambda d, s=signed: [np.arange(256).astype(np.uint8).view(np.int8 if s else np.uint8), real(0.03), point(s, 128),
                              real(0.00390625), point(s, 0)], fixed=(1, 2, 3, 4))
    case(f"QLinearLeakyRelu_{mark}", "QLinearLeakyRelu",
         lambda d, s=signed: [np.arange(256).astype(np.uint8).view(np.int8 if s else np.uint8), real(0.03), point(s, 100),
                              real(0.021), point(s, 90)], fixed=(1, 2, 3, 4), alpha=0.1)
    case(f"QLinearGlobalAveragePool_{mark}", "QLinearGlobalAveragePool",
         lambda d, s=signed: [eight(d, s, 2, 5, 7, 7), real(0.03), point(s, 120), real(0.011), point(s, 110)],
         channels_last=0)
    case(f"QLinearGlobalAveragePool_{mark}_last", "QLinearGlobalAveragePool",
         lambda d, s=signed: [eight(d, s, 2, 7, 7, 5), real(0.03), point(s, 120), real(0.011), point(s, 110)],
         channels_last=1)
    case(f"QLinearAveragePool_{mark}", "QLinearAveragePool",
         lambda d, s=signed: [eight(d, s, 2, 3, 8, 8), real(0.03), point(s, 120), real(0.021), point(s, 110)],
         kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    case(f"QLinearAveragePool_{mark}_with_pad", "QLinearAveragePool",
         lambda d, s=signed: [eight(d, s, 2, 3, 8, 8), real(0.03), point(s, 120), real(0.021), point(s, 110)],
         kernel_shape=[2, 3], strides=[2, 1], pads=[0, 1, 1, 1], count_include_pad=1, ceil_mode=0)
    case(f"QLinearAveragePool_{mark}_last", "QLinearAveragePool",
         lambda d, s=signed: [eight(d, s, 2, 8, 8, 3), real(0.03), point(s, 120), real(0.021), point(s, 110)],
         kernel_shape=[3, 3], channels_last=1)
    case(f"QLinearConcat_{mark}", "QLinearConcat",
         lambda d, s=signed: [real(0.02), point(s, 120), eight(d, s, 2, 50), real(0.03), point(s, 100),
                              eight(d, s, 2, 70), real(0.01), point(s, 140)], fixed=(0, 1, 3, 4, 6, 7), axis=1)
    case(f"QLinearSoftmax_{mark}", "QLinearSoftmax",
         lambda d, s=signed: [eight(d, s, 4, 20), real(0.05), point(s, 120), real(0.00390625), point(s, 0)],
         fixed=(1, 2, 3, 4), opset=13, axis=-1)
    case(f"QLinearSoftmax_{mark}_flat", "QLinearSoftmax",
         lambda d, s=signed: [eight(d, s, 4, 5, 4), real(0.05), point(s, 120), real(0.00390625), point(s, 0)],
         fixed=(1, 2, 3, 4), opset=12, axis=1)
    case(f"QLinearSoftmax_{mark}_middle", "QLinearSoftmax",
         lambda d, s=signed: [eight(d, s, 4, 5, 4), real(0.05), point(s, 120), real(0.00390625), point(s, 0)],
         fixed=(1, 2, 3, 4), opset=13, axis=1)
    case(f"QLinearWhere_{mark}", "QLinearWhere",
         lambda d, s=signed: [d.rng.random((3, 40)) < 0.5, eight(d, s, 3, 40), real(0.02), point(s, 120),
                              eight(d, s, 40), real(0.031), point(s, 130), real(0.025), point(s, 125)],
         fixed=(2, 3, 5, 6, 7, 8))
    case(f"QGemm_{mark}", "QGemm",
         lambda d, s=signed: [eight(d, s, 3, 8), real(0.02), point(s, 120), d.i8(8, 5), d.scale(5), np.zeros(5, np.int8),
                              d.ints(np.int32, -900, 900, 5), real(0.5), point(s, 125)], fixed=(3, 4, 5), independent=True,
         transB=0)
case("QGemm_floats", "QGemm",
     lambda d: [d.u8(3, 8), real(0.02), point(False, 120), d.i8(5, 8), real(0.02), np.array(0, np.int8)], fixed=(3, 4, 5),
     independent=True, transB=1, alpha=0.5)
case("QLinearConv", "QLinearConv",
     lambda d: [d.u8(1, 3, 8, 8), real(0.02), point(False, 120), d.i8(4, 3, 3, 3), d.scale(4), np.zeros(4, np.int8),
                real(0.1), point(False, 125), d.ints(np.int32, -900, 900, 4)], fixed=(3, 4, 5, 8), independent=True,
     pads=[1, 1, 1, 1])
case("QLinearConv_last", "QLinearConv",
     lambda d: [d.u8(1, 8, 8, 3), real(0.02), point(False, 120), d.i8(4, 3, 3, 3), d.scale(4), np.zeros(4, np.int8),
                real(0.1), point(False, 125)], fixed=(3, 4, 5, 8), independent=True, pads=[1, 1, 1, 1], channels_last=1)

# --- to and from integers --------------------------------------------------------------------------------------------

for dtype, low, high in ((np.uint8, 0, 256), (np.int8, -128, 128), (np.uint16, 0, 65536), (np.int16, -32768, 32768)):
    mark = np.dtype(dtype).name
    case(f"QuantizeLinear_{mark}", "QuantizeLinear",
         lambda d, t=dtype: [d.f(4, 60, deviation=3), real(0.0125), np.array(7, t)])
    case(f"DequantizeLinear_{mark}", "DequantizeLinear",
         lambda d, t=dtype, l=low, h=high: [d.ints(t, l, h, 4, 60), real(0.0125), np.array(7, t)])
for kind, least, most in (("INT4", -8, 8), ("UINT4", 0, 16)):
    case(f"DequantizeLinear_{kind}", "DequantizeLinear",
         lambda d, k=kind, l=least, m=most: [(getattr(TensorProto, k), d.ints(np.int8, l, m, 4, 6)), real(0.4),
                                             (getattr(TensorProto, k), np.array(2, np.int8))], fixed=(0, 2))
case("QuantizeLinear_axis", "QuantizeLinear",
     lambda d: [d.f(4, 6, 3, deviation=3), d.scale(6, low=0.01, high=0.1), d.u8(6)], axis=1)
case("DequantizeLinear_axis", "DequantizeLinear", lambda d: [d.u8(4, 6, 3), d.scale(6), d.u8(6)], axis=-2)
case("DequantizeLinear_int32", "DequantizeLinear", lambda d: [d.ints(np.int32, -9000, 9000, 4, 6), real(0.02)])


# Tegula takes the weights' values and leaves activations floats; ONNX Runtime rounds each state to 8 bits.
def lstm(name, directions=1, zeros=False, columns=False):
    def operands(d):
        n = 4 * 6
        per = (directions, n) if columns else (directions,)
        zero = lambda: (d.u8(*per, low=100, high=150) if zeros else np.zeros(per, np.int8))
        whole = d.u8 if zeros else d.i8
        return [d.f(2, 2, 4), whole(directions, 4, n), whole(directions, 6, n), d.f(directions, 2 * n), None,
                d.f(directions, 2, 6), d.f(directions, 2, 6), None, d.scale(*per, high=0.01), zero(),
                d.scale(*per, high=0.01), zero()]

    case(f"DynamicQuantizeLSTM_{name}", "DynamicQuantizeLSTM", operands, 3, fixed=(1, 2, 8, 9, 10, 11), hidden_size=6,
         direction="bidirectional" if directions == 2 else "forward", rtol=1e-3, atol=2e-2, independent=True)


lstm("forward")
lstm("both_ways", directions=2, zeros=True)

# --- writing ---------------------------------------------------------------------------------------------------------

NAMES = {TensorProto.INT4: "int4", TensorProto.UINT4: "uint4"}


def tensor(value, name):
    if isinstance(value, tuple):
        return helper.make_tensor(name, value[0], value[1].shape, value[1].reshape(-1).tolist())
    return numpy_helper.from_array(np.ascontiguousarray(value), name)


def write(folder, row):
    """The case as `cases.json` lists it."""
    draw = Draw(row["name"])
    operands = row["operands"](draw)
    if row["half"]:
        narrow = lambda value: value.astype(np.float16) if getattr(value, "dtype", None) == F else value
        operands = [narrow(value) for value in operands]
    while operands and operands[-1] is None:
        operands.pop()
    names = ["" if value is None else f"x{i}" for i, value in enumerate(operands)]
    given = {name: value for i, (name, value) in enumerate(zip(names, operands))
             if value is not None and i not in row["fixed"]}
    fixed = [tensor(value, name) for i, (name, value) in enumerate(zip(names, operands))
             if value is not None and i in row["fixed"]]
    results = [f"y{i}" if i in row["results"] else "" for i in range(max(row["results"]) + 1)]
    node = helper.make_node(row["op"], names, results, domain=row["domain"], **row["attributes"])
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
              for name, value in given.items()]
    outputs = [f"y{i}" for i in row["results"] if i not in row["unjudged"]]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]

    def model(outputs):
        graph = helper.make_graph([node], row["name"], inputs, outputs, fixed)
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    bare = model([helper.make_empty_tensor_value_info(name) for name in outputs])
    session = ort.InferenceSession(bare.SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = session.run(outputs, given)
    if row["independent"]:
        values = independent_ops.evaluator(bare).run(outputs, given)
    folder = os.path.join(folder, row["name"])
    os.makedirs(folder, exist_ok=True)
    typed = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype), value.shape)
             for name, value in zip(outputs, values)]
    onnx.save(model(typed), os.path.join(folder, "model.onnx"))

    def slots(pairs):
        listed = []
        for name, value in pairs:
            np.save(os.path.join(folder, f"{name}.npy"), np.asarray(value).copy(order="C"))
            listed.append(dict(name=name, kind="tensor", dtype=np.asarray(value).dtype.name, file=f"{name}.npy"))
        return listed

    whole = all(not np.issubdtype(np.asarray(value).dtype, np.floating) for value in values)
    return dict(name=row["name"], rtol=0.0 if whole else row["rtol"], atol=0.0 if whole else row["atol"],
                inputs=slots(given.items()), outputs=slots(zip(outputs, values)))


def main():
    listed = []
    for row in CASES:
        try:
            listed.append(write(sys.argv[1], row))
        except Exception as error:
            raise SystemExit(f"{row['name']}: {error}") from error
    with open(os.path.join(sys.argv[1], "cases.json"), "w") as f:
        json.dump({"cases": listed}, f, indent=1)


if __name__ == "__main__":
    main()
