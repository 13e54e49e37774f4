#!/usr/bin/env python3
"""Derives models from weights that registry packages ship (data/models.json, `derived`).

  derive_models.py minilm SRC.safetensors OUT.onnx
      fp32 opset-17 MiniLM-L6 encoder with dynamic batch and sequence length
  derive_models.py quant IN.onnx OUT_PREFIX [--image]
      OUT_PREFIX_int8_{qdq,qop,dyn}.onnx by ONNX Runtime's quantisers, calibration from fixed seeds

Needs numpy and onnx; `quant` also needs onnxruntime and sympy.
Node order, names and initializer order of `minilm` are fixed: the file's hash is checked."""
import argparse
import json
import struct

import numpy as np

LAYERS, HEADS, WIDTH = 6, 12, 384
HEAD_WIDTH = WIDTH // HEADS


def read_safetensors(path):
    """Tensors of a safetensors file by name: u64 header length, JSON header, raw little-endian data."""
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack("<Q", data[:8])[0]
    header, base = json.loads(data[8 : 8 + length]), 8 + length
    dtypes = {"F32": np.float32, "I64": np.int64, "F16": np.float16}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[base + begin : base + end], dtypes[entry["dtype"]]).reshape(entry["shape"])
    return tensors


class GraphWriter:
    """Collects nodes and initializers; names are the op type and a running number."""

    def __init__(self, weights):
        self.weights, self.nodes, self.initializers = weights, [], []

    def op(self, op_type, inputs, **attributes):
        from onnx import helper

        name = f"{op_type}_{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name, array):
        from onnx import numpy_helper

        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def weight(self, name):
        return self.constant(name, self.weights[name])

    def linear(self, x, prefix):
        """x @ weight^T + bias; the weight is stored transposed so that the graph has a plain MatMul."""
        transposed = self.constant(prefix + ".weight_T", self.weights[prefix + ".weight"].T)
        product = self.op("MatMul", [x, transposed])
        return self.op("Add", [product, self.weight(prefix + ".bias")])

    def layer_norm(self, x, prefix):
        return self.op(
            "LayerNormalization",
            [x, self.weight(prefix + ".weight"), self.weight(prefix + ".bias")],
            axis=-1,
            epsilon=1e-12,
        )


def embed(g):
    words = g.op("Gather", [g.weight("embeddings.word_embeddings.weight"), "input_ids"])
    types = g.op("Gather", [g.weight("embeddings.token_type_embeddings.weight"), "token_type_ids"])
    length = g.op("Shape", ["input_ids"], start=1, end=2)
    zero = g.constant("zero", np.array([0], np.int64))
    positions = g.op("Slice", [g.weight("embeddings.position_embeddings.weight"), zero, length, zero])
    total = g.op("Add", [g.op("Add", [words, types]), positions])
    return g.layer_norm(total, "embeddings.LayerNorm")


def additive_mask(g):
    """(1 - mask) * -10000, broadcast over heads and queries."""
    from onnx import TensorProto

    mask = g.op("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    mask = g.op("Unsqueeze", [mask, g.constant("ax12", np.array([1, 2], np.int64))])
    one = g.constant("one", np.array(1, np.float32))
    hidden = g.op("Sub", [one, mask])
    return g.op("Mul", [hidden, g.constant("neg", np.array(-10000, np.float32))])


def encoder_layer(g, x, mask, prefix):
    attention = prefix + "attention."

    def heads(part, perm):
        return g.op("Transpose", [g.op("Reshape", [g.linear(x, attention + part), "s4"])], perm=perm)

    query = heads("self.query", [0, 2, 1, 3])
    key = heads("self.key", [0, 2, 3, 1])
    value = heads("self.value", [0, 2, 1, 3])
    scores = g.op("Mul", [g.op("MatMul", [query, key]), "scale"])
    weights = g.op("Softmax", [g.op("Add", [scores, mask])], axis=-1)
    mixed = g.op("Transpose", [g.op("MatMul", [weights, value])], perm=[0, 2, 1, 3])
    mixed = g.op("Reshape", [mixed, "s3"])
    x = g.layer_norm(g.op("Add", [g.linear(mixed, attention + "output.dense"), x]), attention + "output.LayerNorm")

    hidden = g.linear(x, prefix + "intermediate.dense")
    half = g.op("Mul", [hidden, "half"])
    erf = g.op("Erf", [g.op("Div", [hidden, "rs2"])])
    gelu = g.op("Mul", [half, g.op("Add", [erf, "one"])])
    return g.layer_norm(g.op("Add", [g.linear(gelu, prefix + "output.dense"), x]), prefix + "output.LayerNorm")


def minilm(args):
    import onnx
    from onnx import TensorProto, helper

    g = GraphWriter(read_safetensors(args.src))
    x = embed(g)
    mask = additive_mask(g)
    g.constant("s4", np.array([0, 0, HEADS, HEAD_WIDTH], np.int64))
    g.constant("s3", np.array([0, 0, WIDTH], np.int64))
    g.constant("scale", np.array(1 / np.sqrt(HEAD_WIDTH), np.float32))
    g.constant("half", np.array(0.5, np.float32))
    g.constant("rs2", np.array(np.sqrt(2), np.float32))
    for layer in range(LAYERS):
        x = encoder_layer(g, x, mask, f"encoder.layer.{layer}.")
    g.nodes[-1].output[0] = "last_hidden_state"

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "seq", WIDTH])]
    graph = helper.make_graph(g.nodes, "minilm", inputs, outputs, g.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="from-safetensors")
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, args.dst)


def calibration_sample(inputs, seed, image):
    """One feed for the quantiser: ids, masks or uniform values by the input's dtype and name."""
    import onnx

    rng, feed = np.random.RandomState(seed), {}
    for value in inputs:
        tensor = value.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        shape = [dim.dim_value or (1 if axis == 0 else 64) for axis, dim in enumerate(tensor.shape.dim)]
        if dtype == np.int64:
            if "mask" in value.name:
                feed[value.name] = np.ones(shape, dtype)
            elif "type" in value.name:
                feed[value.name] = np.zeros(shape, dtype)
            else:
                feed[value.name] = rng.randint(1000, 20000, shape).astype(dtype)
        else:
            x = rng.rand(*shape)
            feed[value.name] = (x * 255 - 115 if image else x).astype(dtype)
    return feed


def quant(args):
    import onnx
    from onnxruntime.quantization import (
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_dynamic,
        quantize_static,
    )
    from onnxruntime.quantization.shape_inference import quant_pre_process

    graph = onnx.load(args.src).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in constants]

    class Samples(CalibrationDataReader):
        def __init__(self):
            self.samples = iter([calibration_sample(inputs, seed, args.image) for seed in range(8)])

        def get_next(self):
            return next(self.samples, None)

    prepared = args.dst + "_pre.onnx"
    quant_pre_process(args.src, prepared, skip_symbolic_shape=True)
    for quant_format, suffix in ((QuantFormat.QDQ, "qdq"), (QuantFormat.QOperator, "qop")):
        quantize_static(
            prepared,
            f"{args.dst}_int8_{suffix}.onnx",
            Samples(),
            quant_format=quant_format,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            per_channel=True,
        )
    quantize_dynamic(args.src, f"{args.dst}_int8_dyn.onnx", weight_type=QuantType.QInt8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    recipes = parser.add_subparsers(required=True)
    recipe = recipes.add_parser("minilm")
    recipe.add_argument("src")
    recipe.add_argument("dst")
    recipe.set_defaults(run=minilm)
    recipe = recipes.add_parser("quant")
    recipe.add_argument("src")
    recipe.add_argument("dst")
    recipe.add_argument("--image", action="store_true", help="inputs are images, 0..255 less the mean")
    recipe.set_defaults(run=quant)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
