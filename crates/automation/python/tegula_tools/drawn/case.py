"""A case in the making: what its form draws, and the model that this becomes.

A form is a function that draws one case.  It depends on nothing but the case's generator, so that forms may come and go
without a change to the cases of others."""
import numpy as np
from onnx import helper, numpy_helper

F, H, D = np.float32, np.float16, np.float64
U8, I8, I32, I64 = np.uint8, np.int8, np.int32, np.int64
ML = "ai.onnx.ml"
FORMS = []


class Case:
    """A model in the making: its opset and nodes, its inputs with their values, its constants."""

    def __init__(self, rng):
        self.rng = rng
        self.opset = self.pick(*range(13, 24))
        self.inputs, self.constants, self.nodes, self.results, self.names = {}, {}, [], [], 0
        self.rtol, self.atol = 1e-4, 2e-5
        # Results of 8 bits: the distance of neighbours. They are judged by `independent_ops`, with bytes of the full range.
        self.step = None
        # Whether a case whose results are not all finite is drawn again.
        self.finite = False
        self.symbols, self.sized = self.pick("none", "first"), set()

    # What is drawn.

    def pick(self, *options):
        return options[self.rng.integers(len(options))]

    def chance(self, share=0.5):
        return self.rng.random() < share

    def int(self, low, high):
        """Both ends are among what is drawn."""
        return int(self.rng.integers(low, high + 1))

    def ints(self, n, low, high):
        return [self.int(low, high) for _ in range(n)]

    def size(self, most=6):
        """An extent: small ones mostly, now and then 1, a vector and an odd rest, or none at all."""
        return self.pick(*range(1, most + 1), *range(2, most + 1), *range(2, most + 1), 1, 9, 17, self.pick(0, 2, 3))

    def shape(self, low, high, most=6):
        return [self.size(most) for _ in range(self.int(low, high))]

    def full(self, low, high, most=6):
        """A shape without a 0."""
        return [max(size, 1) for size in self.shape(low, high, most)]

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def axes(self, rank, least=0):
        """Distinct axes in any order, some from behind."""
        some = self.rng.permutation(rank)[:self.int(min(least, rank), rank)]
        return [int(axis) - (rank if self.chance(0.3) else 0) for axis in some]

    def float(self):
        return self.pick(F, F, F, F, H, D)

    def number(self):
        return self.pick(F, F, F, H, D, I32, I64, I8, U8)

    def values(self, shape, dtype=F, low=-9, high=9):
        """Normal floats; integers and bools of all values in a range."""
        if dtype == bool:
            return self.rng.random(shape) < 0.5
        if np.issubdtype(dtype, np.floating):
            self.judge_as(dtype)
            return np.asarray(self.rng.standard_normal(shape)).astype(dtype)
        info = np.iinfo(dtype)
        return self.whole(shape, dtype, max(low, info.min), min(high, info.max))

    def rare(self, values):
        """Now and then some of the elements are floats that are no plain numbers."""
        if np.issubdtype(values.dtype, np.floating) and self.chance(0.3):
            rare = self.rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e4, -1e4]), values.shape)
            return np.where(self.rng.random(values.shape) < 0.3, rare.astype(values.dtype), values)
        return values

    def whole(self, shape, dtype, low, high):
        return np.asarray(self.rng.integers(low, high, shape, endpoint=True)).astype(dtype)

    def distinct(self, shape, dtype=F):
        """No two elements are equal: of equal ones an op may take any."""
        n = int(np.prod(shape))
        return (self.rng.permutation(n) - n // 2).reshape(shape).astype(dtype)

    def broadcast(self, shape):
        """What broadcasts to a shape: a tail of it, some sizes 1."""
        return [self.pick(size, size, 1) for size in shape[self.pick(0, 0, self.int(0, len(shape))):]]

    # What is built.

    def judge_as(self, dtype):
        if dtype == H:
            self.rtol, self.atol = max(self.rtol, 5e-3), max(self.atol, 5e-3)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def run(self, value):
        """An input of the model."""
        name = self.name()
        self.inputs[name] = np.asarray(value)
        return name

    def fixed(self, value, dtype=None):
        name = self.name()
        self.constants[name] = np.asarray(value, dtype)
        return name

    def any(self, value, dtype=None, share=0.5):
        """A constant or an input of the model whose sizes are known."""
        if self.chance(share):
            return self.fixed(value, dtype)
        name = self.run(np.asarray(value, dtype))
        self.sized.add(name)
        return name

    def mostly_fixed(self, value, dtype=I64):
        return self.any(value, dtype, 0.7)

    def any_symbols(self):
        """More of the sizes may be symbols than a batch: in ops that ask nothing of them."""
        self.symbols = self.pick("none", "first", "each", "alike")

    def maybe(self, value, share=0.5):
        """An optional operand."""
        return self.any(value) if self.chance(share) else ""

    def node(self, op, operands, results=1, **attributes):
        """Attributes that are None are left out, as are operands at the end. Returns the results' names."""
        while operands and operands[-1] == "":
            operands = operands[:-1]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        names = [self.name() for _ in range(results)]
        self.nodes.append(helper.make_node(op, operands, names, **attributes))
        self.results = names
        return names if results > 1 else names[0]

    def some(self, value, share=0.5):
        """An optional attribute."""
        return value if self.chance(share) else None

    # What is written.

    def info(self, name, value):
        """An input's type. Where there are more than one, equal sizes have equal symbols: a size that turns out to be 1
        does not broadcast."""
        dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
        others = [other for other in self.inputs if other not in self.sized]
        kind = "none" if name in self.sized else self.symbols
        kind = "alike" if kind == "each" and len(others) > 1 else kind
        batch = self.inputs[others[0]].shape[:1] if others else ()
        symbol = {"none": lambda axis, size: size,
                  "first": lambda axis, size: "batch" if axis == 0 and (size,) == batch and size != 1 else size,
                  "each": lambda axis, size: f"n{axis}" if size > 1 else size,
                  "alike": lambda axis, size: f"n{size}" if size > 1 else size}[kind]
        return helper.make_tensor_value_info(name, dtype, [symbol(*pair) for pair in enumerate(value.shape)])

    def model(self, outputs):
        inputs = [self.info(name, value) for name, value in self.inputs.items()]
        constants = [numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(self.nodes, "drawn", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(ML, 3)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def form(function=None, weight=1):
    """A way to draw a case, `weight` times as often as others."""
    if function is None:
        return lambda function: form(function, weight)
    FORMS.extend([function] * weight)
    return function
