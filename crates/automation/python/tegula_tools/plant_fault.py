#!/usr/bin/env python3
"""Puts a fault into a model: what a check must find in the results.

  plant_fault.py IN.onnx OUT.onnx FAULT

FAULT is one of
  negate         the sign of every float output is turned
  zero-scores    channels from the fifth on, the scores of a detector, are 0
  shift-channel  the last channel is 0.001 more than it should be
  floor          QuantizeLinear rounds down: half a step is taken from its operand
Channels are on the second axis.  Needs onnx."""
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

CLASSES_FROM, SHIFT = 4, 0.001


class Planter:
    """Adds nodes to a graph."""

    def __init__(self, graph):
        self.graph, self.names = graph, 0

    def name(self):
        self.names += 1
        return f"planted_{self.names}"

    def constant(self, value):
        name = self.name()
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, operands, result=None, **attributes):
        result = result or self.name()
        self.graph.node.append(helper.make_node(op, operands, [result], **attributes))
        return result

    def channels(self, x, first, end):
        bounds = [self.constant(np.array([bound], np.int64)) for bound in (first, end, 1)]
        return self.node("Slice", [x, *bounds])

    def behind(self, output):
        """The output's value under a name of its own, so that the output can be made anew from it."""
        inner = self.name()
        for node in self.graph.node:
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    if name == output:
                        names[i] = inner
        return inner


def negate(planter, inner, output):
    planter.node("Neg", [inner], output)


def zero_scores(planter, inner, output):
    scores = planter.node("Mul", [planter.channels(inner, CLASSES_FROM, 1 << 30), planter.constant(np.float32(0))])
    planter.node("Concat", [planter.channels(inner, 0, CLASSES_FROM), scores], output, axis=1)


def shift_channel(planter, inner, output):
    last = planter.node("Add", [planter.channels(inner, -1, 1 << 30), planter.constant(np.float32(SHIFT))])
    planter.node("Concat", [planter.channels(inner, 0, -1), last], output, axis=1)


OF_OUTPUTS = {"negate": negate, "zero-scores": zero_scores, "shift-channel": shift_channel}


def plant_in_outputs(graph, fault):
    for output in graph.output:
        if output.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            planter = Planter(graph)
            planter.names = len(graph.node)
            OF_OUTPUTS[fault](planter, planter.behind(output.name), output.name)


def floor(graph):
    """Nodes stay in the order of their use."""
    nodes, constants = list(graph.node), {tensor.name for tensor in graph.initializer}
    del graph.node[:]
    planter = Planter(graph)
    half = planter.constant(np.float32(0.5))
    for node in nodes:
        if node.op_type == "QuantizeLinear" and node.input[0] not in constants:
            step = planter.node("Mul", [node.input[1], half])
            node.input[0] = planter.node("Sub", [node.input[0], step])
        graph.node.append(node)


def main():
    source, target, fault = sys.argv[1:]
    model = onnx.load(source)
    if fault == "floor":
        floor(model.graph)
    else:
        plant_in_outputs(model.graph, fault)
    onnx.save(model, target)


if __name__ == "__main__":
    main()
