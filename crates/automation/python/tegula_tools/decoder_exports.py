#!/usr/bin/env python3
"""Writes small decoders in the form that onnxruntime-genai's model builder gives them for CPUs (its version 0.18), with
random weights, and runs each in ONNX Runtime: a prompt, then steps of one token.

  decoder_exports.py DIR

DIR/<name>/model.onnx takes input_ids, attention_mask and past_key_values.<layer>.{key,value} and gives logits and
present.<layer>.{key,value}; DIR/<name>/io.json holds {feedback, steps: [{inputs, outputs}]} as ort_baseline.py does.
Each token after the prompt is the one that ONNX Runtime finds most likely.
`accuracy_level` 4, the builder's default for 4 bits, lets ONNX Runtime round the left side of products to 8 bits: such
a model's outputs are those of the same model without that leave, and io.json's `rounding` is how far ONNX Runtime's
own logits are from them, as a share of the largest.  A decoder in 16-bit floats, as the builder makes for GPUs, rounds
after every op: its `bar` is ten of its roundings.  Weights in 4 bits that stand `apart` are dequantised before the
product, as the builder's `use_qdq` has them.  Needs numpy, onnx and onnxruntime."""
import json
import os
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.capi._pybind_state import quantize_matmul_4bits

PROMPT, STEPS, LAYERS, ROOM = 7, 16, 2, 64
BLOCK = 32

LLAMA = dict(hidden=64, heads=4, kv_heads=2, size=16, inner=176, vocab=320, eps=1e-5, theta=10000.0, window=-1,
             norms=False, rotary=1.0, bits=0, zeros=False, tied=False, accuracy=0, batch=1, softcap=0.0, half=False,
             apart=False)
QWEN3 = dict(LLAMA, size=32, eps=1e-6, theta=1000000.0, norms=True)

DECODERS = {
    "llama_f32": dict(LLAMA, batch=2),
    "llama_int4": dict(LLAMA, bits=4),
    "llama_int4_rounded": dict(LLAMA, bits=4, accuracy=4),
    "llama_int4_apart": dict(LLAMA, inner=192, bits=4, apart=True),
    "llama_int4_half": dict(LLAMA, bits=4, half=True),
    "qwen3_f32": QWEN3,
    "qwen3_int4": dict(QWEN3, bits=4, zeros=True),
    "qwen3_int4_tied": dict(QWEN3, bits=4, tied=True),
    "windowed_f32": dict(LLAMA, size=32, window=6, rotary=0.5, softcap=5.0),
}


class Builder:
    """One model in the making; names are the builder's."""

    def __init__(self, name, config):
        self.c = config
        self.rng = np.random.Generator(np.random.PCG64(int.from_bytes(name.encode()[:8].ljust(8), "little")))
        self.nodes, self.weights, self.constants = [], {}, set()

    def node(self, op, inputs, name, outputs=None, domain="", **attributes):
        for constant in inputs:
            if constant.startswith("/model/constants/") and constant not in self.constants:
                self.constants.add(constant)
                dtype, number = constant.split("/")[-2:]
                value = numpy_helper.from_array(np.array(json.loads(number), {"INT64": np.int64}[dtype]), constant)
                self.nodes.append(helper.make_node(
                    "Constant", [], [constant], constant.replace("constants", "constant_nodes"), value=value))
        outputs = outputs or [f"{name}/output_0"]
        self.nodes.append(helper.make_node(op, inputs, outputs, name, domain=domain, **attributes))
        return outputs[0]

    def normal(self, *shape, deviation=1.0):
        return (self.rng.standard_normal(shape) * deviation).astype(np.float32)

    def matmul(self, name, x, weight, output=None):
        """`weight: [K, N]`, a product of floats or of packed numbers."""
        key = name[1:].replace("/", ".") + ".weight"
        outputs = [output or f"{name}/output_0"]
        if not self.c["bits"]:
            self.weights[key] = weight
            return self.node("MatMul", [x, key], name, outputs)
        k, n = weight.shape
        blocks = -(-k // BLOCK)
        packed = np.zeros((n, blocks, BLOCK // 2), np.uint8)
        scales = np.zeros(n * blocks, np.float32)
        zeros = np.zeros((n, (blocks + 1) // 2), np.uint8)
        quantize_matmul_4bits(packed, weight, scales, zeros.reshape(-1), BLOCK, n, k, not self.c["zeros"])
        if self.c["apart"]:
            return self.dequantised(name, x, packed.reshape(n, -1), scales.reshape(n, blocks), outputs)
        self.weights[f"{key}_Q4"] = packed
        self.weights[f"{key}_scales"] = scales.reshape(n, blocks)
        inputs = [x, f"{key}_Q4", f"{key}_scales"]
        if self.c["zeros"]:
            self.weights[f"{key}_zero_points"] = zeros
            inputs.append(f"{key}_zero_points")
        return self.node("MatMulNBits", inputs, f"{name}_Q4", outputs, "com.microsoft", K=k, N=n, bits=4,
                         block_size=BLOCK, accuracy_level=self.c["accuracy"])

    def dequantised(self, name, x, packed, scales, outputs):
        """Packed numbers are from 0 to 15 and 8 means 0; as signed ones their highest bit is turned."""
        prefix, base = f"{name[1:].replace('/', '.')}.DequantizeLinear", f"{name}/DequantizeLinear"
        n, k = packed.shape[0], packed.shape[1] * 2
        self.weights[f"{prefix}.qweight"] = helper.make_tensor(
            f"{prefix}.qweight", TensorProto.INT4, [n, k], (packed ^ 0x88).tobytes(), raw=True)
        self.weights[f"{prefix}.scales"] = scales
        w = self.node("DequantizeLinear", [f"{prefix}.qweight", f"{prefix}.scales"], base, block_size=BLOCK, axis=-1)
        w = self.node("Transpose", [w], f"{name}/Transpose", perm=[1, 0])
        return self.node("MatMul", [x, w], name, outputs)

    def product(self, name, x, inputs, outputs, gain=1.0, output=None):
        return self.matmul(name, x, self.normal(inputs, outputs, deviation=gain / inputs**0.5), output)

    def reshape(self, name, x, shape):
        return self.node("Reshape", [x, f"/model/constants/INT64/{json.dumps(shape)}"], name)

    def embedding(self):
        c, base = self.c, "/model/embed_tokens"
        if c["tied"]:
            # The table is the head's packed weights.
            table = self.node("Reshape", ["lm_head.MatMul.weight_Q4", f"/model/constants/INT64/[{c['vocab']}, {c['hidden'] // 2}]"],
                              f"{base}/Reshape")
            return self.node("GatherBlockQuantized", [table, "input_ids", "lm_head.MatMul.weight_scales"],
                             f"{base}/GatherBlockQuantized", domain="com.microsoft", bits=4, block_size=BLOCK,
                             gather_axis=0, quantize_axis=1)
        self.weights["model.embed_tokens.weight"] = self.normal(c["vocab"], c["hidden"])
        return self.node("Gather", ["model.embed_tokens.weight", "input_ids"], f"{base}/Gather")

    def norm(self, layer, place, x, skip=None, last=False):
        """The normed value, and the sum where there is a skip."""
        weight = f"model.layers.{layer}.{place}_layernorm.weight"
        self.weights[weight] = 1 + self.normal(self.c["hidden"], deviation=0.1)
        base = f"/model/layers.{layer}/{place}_layernorm"
        if skip is None:
            y = self.node("SimplifiedLayerNormalization", [x, weight], f"{base}/LayerNorm", [f"{base}/output_0"],
                          epsilon=self.c["eps"], axis=-1, stash_type=1)
            return y, x
        outputs = [f"{base}/output_0"] + ([] if last else ["", "", f"{base}/output_3"])
        self.node("SkipSimplifiedLayerNormalization", [x, skip, weight], f"{base}/SkipLayerNorm", outputs,
                  "com.microsoft", epsilon=self.c["eps"])
        return outputs[0], outputs[-1]

    def head_norm(self, layer, which, x, width):
        base = f"/model/layers.{layer}/attn/{which}_norm"
        weight = f"model.layers.{layer}.attn.{which}_norm.layernorm.weight"
        self.weights[weight] = 1 + self.normal(self.c["size"], deviation=0.1)
        x = self.reshape(f"{base}/Reshape_1", x, [0, -1, self.c["size"]])
        x = self.node("SimplifiedLayerNormalization", [x, weight], f"{base}/SimplifiedLayerNormalization",
                      epsilon=self.c["eps"], axis=-1, stash_type=1)
        return self.reshape(f"{base}/Reshape_2", x, [0, -1, width])

    def attention(self, layer, x):
        c, base = self.c, f"/model/layers.{layer}/attn"
        q_size, kv_size = c["heads"] * c["size"], c["kv_heads"] * c["size"]
        q, k, v = self.product(f"{base}/qkv_proj/MatMul", x, c["hidden"], q_size + 2 * kv_size, gain=1.5), "", ""
        if c["norms"]:
            split = f"{base}/qkv_proj/Split"
            parts = [f"{split}/output_{i}" for i in range(3)]
            self.node("Split", [q, f"/model/constants/INT64/{json.dumps([q_size, kv_size, kv_size])}"], split, parts,
                      axis=-1)
            q, k, v = self.head_norm(layer, "q", parts[0], q_size), self.head_norm(layer, "k", parts[1], kv_size), parts[2]
        past = [f"past_key_values.{layer}.{which}" for which in ("key", "value")]
        present = [f"present.{layer}.{which}" for which in ("key", "value")]
        mask = "/model/attn_mask_reformat/attn_mask_subgraph"
        y = self.node("GroupQueryAttention",
                      [q, k, v, *past, f"{mask}/Sub/Cast/output_0", f"{mask}/Gather/Cast/output_0", "cos_cache",
                       "sin_cache", "", "", ""],
                      f"{base}/GroupQueryAttention", [f"{base}/GroupQueryAttention/output_0", *present],
                      "com.microsoft", num_heads=c["heads"], kv_num_heads=c["kv_heads"], scale=c["size"]**-0.5,
                      local_window_size=c["window"], softcap=c["softcap"], do_rotary=1, rotary_interleaved=0)
        return self.product(f"{base}/o_proj/MatMul", y, q_size, c["hidden"])

    def mlp(self, layer, x):
        c, base = self.c, f"/model/layers.{layer}/mlp"
        gate = self.product(f"{base}/gate_proj/MatMul", x, c["hidden"], c["inner"])
        up = self.product(f"{base}/up_proj/MatMul", x, c["hidden"], c["inner"])
        sigmoid = self.node("Sigmoid", [gate], f"{base}/act_fn/Sigmoid")
        gate = self.node("Mul", [gate, sigmoid], f"{base}/act_fn/Mul")
        both = self.node("Mul", [gate, up], f"{base}/Mul")
        return self.product(f"{base}/down_proj/MatMul", both, c["inner"], c["hidden"])

    def mask(self):
        base = "/model/attn_mask_reformat/attn_mask_subgraph"
        lengths = self.node("ReduceSum", ["attention_mask", "/model/constants/INT64/[1]"], f"{base}/ReduceSum", keepdims=0)
        last = self.node("Sub", [lengths, "/model/constants/INT64/[1]"], f"{base}/Sub")
        self.node("Cast", [last], f"{base}/Sub/Cast", to=TensorProto.INT32)
        shape = self.node("Shape", ["attention_mask"], f"{base}/Shape")
        total = self.node("Gather", [shape, "/model/constants/INT64/1"], f"{base}/Gather", axis=0)
        self.node("Cast", [total], f"{base}/Gather/Cast", to=TensorProto.INT32)

    def angles(self):
        turned = int(self.c["size"] * self.c["rotary"])
        frequencies = 1.0 / self.c["theta"] ** (np.arange(0, turned, 2) / turned)
        angles = np.outer(np.arange(ROOM), frequencies)
        self.weights["cos_cache"] = np.cos(angles).astype(np.float32)
        self.weights["sin_cache"] = np.sin(angles).astype(np.float32)

    def model(self):
        c = self.c
        self.mask()
        self.angles()
        x = self.embedding()
        skip = None
        for layer in range(LAYERS):
            y, x = self.norm(layer, "input", x, skip)
            skip = self.attention(layer, y)
            y, x = self.norm(layer, "post_attention", x, skip)
            skip = self.mlp(layer, y)
        y, _ = self.norm(LAYERS, "final_norm", x, skip, last=True)
        self.product("/lm_head/MatMul", y, c["hidden"], c["vocab"], output="logits")
        value = helper.make_tensor_value_info
        real = TensorProto.FLOAT16 if c["half"] else TensorProto.FLOAT
        inputs = [value("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"]),
                  value("attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"])]
        outputs = [value("logits", real, ["batch_size", "sequence_length", c["vocab"]])]
        for layer in range(LAYERS):
            for which in ("key", "value"):
                for side, list_, rows in (("past_key_values", inputs, "past_sequence_length"),
                                          ("present", outputs, "total_sequence_length")):
                    shape = ["batch_size", c["kv_heads"], rows, c["size"]]
                    list_.append(value(f"{side}.{layer}.{which}", real, shape))
        weights = [self.stored(name, value) for name, value in self.weights.items()]
        graph = helper.make_graph(self.sorted(), "main_graph", inputs, outputs, weights)
        opsets = [helper.make_opsetid("", 22), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="onnxruntime-genai")

    def stored(self, name, value):
        if isinstance(value, TensorProto):
            return value
        narrow = self.c["half"] and value.dtype == np.float32
        return numpy_helper.from_array(value.astype(np.float16) if narrow else value, name)

    def sorted(self):
        """Nodes after those whose outputs they take."""
        made, rest, done = set(self.weights) | {"", "input_ids", "attention_mask"}, self.nodes, []
        made |= {f"past_key_values.{layer}.{which}" for layer in range(LAYERS) for which in ("key", "value")}
        while rest:
            ready = [node for node in rest if made.issuperset(node.input)]
            done += ready
            made |= {name for node in ready for name in node.output}
            rest = [node for node in rest if not made.issuperset(node.output)]
        return done


def session(model):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def without_leave_to_round(model):
    plain = onnx.ModelProto()
    plain.CopyFrom(model)
    for node in plain.graph.node:
        for attribute in node.attribute:
            if attribute.name == "accuracy_level":
                attribute.i = 0
    return plain


def decode(runner, config, tokens=None):
    """Inputs and outputs of each step; `tokens` are those of another run, or the most likely ones."""
    rng = np.random.Generator(np.random.PCG64(5))
    batch = config["batch"]
    ids = rng.integers(0, config["vocab"], (batch, PROMPT))
    names = [output.name for output in runner.get_outputs()]
    real = np.float16 if config["half"] else np.float32
    empty = np.zeros((batch, config["kv_heads"], 0, config["size"]), real)
    state = {name: empty for name in feedback()}
    steps, total = [], 0
    for step in range(1 + STEPS):
        if tokens is not None:
            ids = tokens[step]
        total += ids.shape[1]
        feed = {"input_ids": ids, "attention_mask": np.ones((batch, total), np.int64), **state}
        results = dict(zip(names, runner.run(names, feed)))
        state = {name: results[output] for name, output in feedback().items()}
        steps.append((feed, results))
        ids = results["logits"][:, -1:].argmax(-1)
    return steps


def feedback():
    return {f"past_key_values.{layer}.{which}": f"present.{layer}.{which}"
            for layer in range(LAYERS) for which in ("key", "value")}


def main():
    for name, config in DECODERS.items():
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder, exist_ok=True)
        model = Builder(name, config).model()
        onnx.checker.check_model(without_contrib_schema(model))
        onnx.save(model, os.path.join(folder, "model.onnx"))
        steps = decode(session(without_leave_to_round(model)), config)
        record = {"feedback": feedback(), "bar": 5e-3 if config["half"] else 1e-4, "steps": []}
        if config["accuracy"]:
            own = decode(session(model), config, [feed["input_ids"] for feed, _ in steps])
            record["rounding"] = max(
                float(np.abs(a["logits"] - b["logits"]).max() / np.abs(b["logits"]).max())
                for (_, a), (_, b) in zip(own, steps))
        for index, (feed, results) in enumerate(steps):
            row = {"inputs": {}, "outputs": {}}
            for side, tensors in (("inputs", feed), ("outputs", results)):
                for tensor, array in tensors.items():
                    row[side][tensor] = f"{index:02}_{side[:-1]}_{tensor}.npy"
                    np.save(os.path.join(folder, row[side][tensor]), np.ascontiguousarray(array))
            record["steps"].append(row)
        with open(os.path.join(folder, "io.json"), "w") as f:
            json.dump(record, f, indent=1)


def without_contrib_schema(model):
    """The model for ONNX's checker, which takes SimplifiedLayerNormalization of no domain for an error."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for node in copy.graph.node:
        if node.op_type == "SimplifiedLayerNormalization":
            node.domain = "com.microsoft"
    return copy


if __name__ == "__main__":
    main()
