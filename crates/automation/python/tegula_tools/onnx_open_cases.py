#!/usr/bin/env python3
"""Dumps the node test cases of the onnx package with every size of every input open, one folder each.

  onnx_open_cases.py OUT_DIR

As onnx_node_cases.py; each extent that a case declares for an input is a symbol of its own instead, and those that it
declares for results are left out. Cases without such extents, and those of sequences and optional values, are left
out. Needs onnx."""
import sys
import warnings

from tegula_tools.onnx_node_cases import dump_case, write_index


def open_sizes(case):
    """Opens the sizes of the case's inputs in place. False: it has none, or is not of tensors alone."""
    graph = case.model.graph
    values = [*graph.input, *graph.output]
    if any(value.type.WhichOneof("value") != "tensor_type" for value in values):
        return False
    extents = [dim for value in graph.input for dim in value.type.tensor_type.shape.dim]
    for i, dim in enumerate(extents):
        dim.dim_param = f"d{i}"
    for dim in [dim for value in graph.output for dim in value.type.tensor_type.shape.dim]:
        dim.Clear()
    return bool(extents)


def main():
    (out_dir,) = sys.argv[1:]
    warnings.simplefilter("ignore", RuntimeWarning)
    from onnx.backend.test.case.node import collect_testcases

    write_index([dump_case(case, out_dir) for case in collect_testcases(None) if open_sizes(case)], out_dir)


if __name__ == "__main__":
    main()
