"""The ops of ai.onnx.ml."""
import numpy as np

from tegula_tools.drawn.case import F, I64, ML, form

TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]


def trees(c, prefix, features, targets):
    """The attributes of a few full trees of depth 0 to 3 with a comparison of its own each."""
    nodes = {key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
                                 "missing_value_tracks_true")}
    leaves = {key: [] for key in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(c.int(1, 4)):
        depth = c.int(0, 3)
        mode = c.pick("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
        for node in range(2 ** (depth + 1) - 1):
            inner = node < 2 ** depth - 1
            row = (tree, node, c.int(0, features - 1), float(c.int(-2, 2)), mode if inner else "LEAF",
                   2 * node + 1 if inner else 0, 2 * node + 2 if inner else 0, c.int(0, 1))
            for key, value in zip(nodes, row):
                nodes[key].append(value)
            # A class or target that no leaf adds to is as if it were not there to ONNX Runtime.
            reached = range(targets) if prefix == "target" else sorted({c.int(0, targets - 1), c.int(0, targets - 1)})
            for target in [] if inner else reached:
                weight = round(c.rng.standard_normal(), 3)
                weight = weight if prefix == "target" else abs(weight) + 0.001
                for key, value in zip(leaves, (tree, node, target, weight)):
                    leaves[key].append(value)
    return {**{f"nodes_{key}": value for key, value in nodes.items()},
            **{f"{prefix}_{key}": value for key, value in leaves.items()}}


@form(weight=2)
def tree_ensemble(c):
    rows, features, targets = c.int(1, 9), c.int(1, 4), c.int(1, 3)
    x = c.run(c.whole([rows, features], F, -3, 3))
    if c.chance():
        return c.node("TreeEnsembleRegressor", [x], n_targets=targets, **trees(c, "target", features, targets),
                      aggregate_function=c.some(c.pick("SUM", "AVERAGE", "MIN", "MAX")),
                      post_transform=c.some(c.pick(*TRANSFORMS)) if targets > 1 else None, domain=ML,
                      base_values=c.some([round(value, 2) for value in c.rng.standard_normal(targets).tolist()]))
    # Of two classes ONNX Runtime reads weights and scores in several ways.
    classes = c.int(3, 4)
    c.node("TreeEnsembleClassifier", [x], 2, classlabels_int64s=[int(i) for i in c.rng.permutation(9)[:classes]],
           **trees(c, "class", features, classes), post_transform=c.some(c.pick("NONE", "SOFTMAX", "LOGISTIC")),
           domain=ML)


@form(weight=2)
def linear_model(c):
    # One score is what it is to ONNX Runtime, whatever should become of it.
    rows, features, targets = c.int(1, 5), c.int(1, 5), c.int(2, 3)
    x = c.run(c.values([rows, features]))
    floats = lambda n: [float(value) for value in c.values([n])]
    if c.chance():
        return c.node("LinearRegressor", [x], coefficients=floats(targets * features),
                      intercepts=c.some(floats(targets)), targets=targets,
                      post_transform=c.some(c.pick("NONE", "SOFTMAX", "LOGISTIC")), domain=ML)
    classes = c.int(2, 4)
    c.node("LinearClassifier", [x], 2, coefficients=floats(classes * features), intercepts=floats(classes),
           classlabels_ints=[int(i) for i in c.rng.permutation(9)[:classes]],
           post_transform=c.some(c.pick("NONE", "SOFTMAX", "LOGISTIC")), domain=ML)


@form
def support_vectors(c):
    rows, features, vectors = c.int(1, 5), c.int(1, 4), c.int(1, 5)
    floats = lambda n: [float(value) for value in c.values([n])]
    c.node("SVMRegressor", [c.run(c.values([rows, features]))], support_vectors=floats(vectors * features),
           coefficients=floats(vectors), n_supports=vectors, rho=floats(1), one_class=c.some(c.int(0, 1)), domain=ML,
           kernel_type=c.pick("LINEAR", "POLY", "RBF", "SIGMOID"), kernel_params=[0.3, 0.5, float(c.int(1, 3))])


@form(weight=2)
def features(c):
    """What ai.onnx.ml does to features before a model sees them."""
    rows, width = c.int(1, 5), c.int(1, 5)
    values = c.values([rows, width])
    floats = lambda n: [float(value) for value in c.values([n])]
    op = c.pick("Scaler", "Normalizer", "Binarizer", "Imputer", "LabelEncoder", "OneHotEncoder",
                "ArrayFeatureExtractor", "FeatureVectorizer")
    if op == "Scaler":
        n = c.pick(1, width)
        return c.node(op, [c.run(values)], offset=floats(n), scale=floats(n), domain=ML)
    if op == "Normalizer":
        # The largest magnitude, or the largest number: none is below 0.
        return c.node(op, [c.run(np.abs(values))], norm=c.some(c.pick("MAX", "L1", "L2")), domain=ML)
    if op == "Binarizer":
        return c.node(op, [c.run(values)], threshold=c.some(0.3), domain=ML)
    if op == "Imputer":
        n, missing = c.pick(1, width), c.pick(float("nan"), 2.0)
        values[c.rng.random(values.shape) < 0.3] = missing
        return c.node(op, [c.run(values)], imputed_value_floats=floats(n), replaced_value_float=missing, domain=ML)
    labels = [int(label) for label in c.rng.permutation(9)[:c.int(1, 5)]]
    if op == "LabelEncoder":
        whole = c.chance()
        found = dict(values_int64s=labels, default_int64=c.some(7)) if whole else dict(
            values_floats=floats(len(labels)), default_float=c.some(0.5))
        return c.node(op, [c.run(c.whole([rows, width], I64, 0, 8))], keys_int64s=labels[::-1], **found, domain=ML)
    if op == "OneHotEncoder":
        return c.node(op, [c.run(c.whole([rows, width], I64, 0, 8))], cats_int64s=labels, zeros=1, domain=ML)
    if op == "ArrayFeatureExtractor":
        places = c.whole([c.int(1, 4)], I64, 0, width - 1)
        return c.node(op, [c.run(values), c.fixed(places)], domain=ML)
    c.node(op, [c.run(values), c.run(c.values([rows, 2]))], inputdimensions=[width, 2], domain=ML)
