"""Writes import.json: small ONNX files by other writers than this module, with onnxruntime's results.

    python make_import.py    # onnx, onnxruntime

Files have forms that this module reads but does not write: attributes and optional inputs, numbers in
other fields than raw_data, axes as attributes (opset 13), indices that count from the end.
"""

import base64
import json
import pathlib

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

RANDOM = numpy.random.default_rng(1)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(numpy.float32)


def tensor(name, array):
    """Returns an initializer whose numbers are in the typed field, not in raw_data."""
    kinds = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "int32": TensorProto.INT32, "float64": TensorProto.DOUBLE, "bool": TensorProto.BOOL}
    return helper.make_tensor(name, kinds[str(array.dtype)], array.shape, array.flatten().tolist())


def ints(*values):
    return numpy.array(values, numpy.int64)


IMAGE = floats(2, 3, 5, 6)
ROWS = [
    # op, inputs (the first is the model's, None is omitted), attributes, opset
    ("Gemm", [floats(4, 3), floats(4, 5), floats(3, 1)], {"alpha": 0.5, "beta": 2.0, "transA": 1}, 13),
    ("Gemm", [floats(3, 4), floats(5, 4)], {"transB": 1, "alpha": 1.5}, 13),
    ("Gemm", [floats(3, 4), floats(4, 5), floats(5)], {}, 17),
    ("Gather", [floats(3, 4, 5), ints(-1, 0, 3)], {"axis": 1}, 13),
    ("Gather", [floats(3, 4, 5), numpy.array(-2, numpy.int64)], {"axis": 2}, 13),
    ("Gather", [floats(3, 4, 5), ints(1, 2, 0, 0).reshape(2, 2)], {"axis": -2}, 17),
    ("GatherElements", [floats(3, 4), ints(0, 3, 1, 1, 2, 2).reshape(3, 2)], {"axis": 1}, 13),
    ("Transpose", [floats(2, 3, 4)], {}, 13),
    ("Clip", [floats(3, 4), numpy.float32(-0.5), numpy.float32(0.5)], {}, 13),
    ("Clip", [floats(3, 4), None, numpy.float32(0.1)], {}, 13),
    ("ReduceMean", [floats(2, 3, 4)], {"axes": [0, -1]}, 13),
    ("ReduceMean", [floats(2, 3, 4)], {"axes": [1], "keepdims": 0}, 17),
    ("ReduceMax", [floats(2, 3, 4)], {}, 13),
    ("ReduceMin", [floats(2, 3, 4)], {"axes": [2, 0], "keepdims": 0}, 13),
    ("ReduceSum", [floats(2, 3, 4), ints(-1)], {}, 13),
    ("GlobalAveragePool", [IMAGE], {}, 13),
    ("AveragePool", [IMAGE], {"kernel_shape": [2, 2], "strides": [1, 2], "pads": [0, 1, 1, 0], "count_include_pad": 1}, 19),
    ("AveragePool", [IMAGE], {"kernel_shape": [3, 2]}, 13),
    ("MaxPool", [IMAGE], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]}, 13),
    ("Conv", [IMAGE, floats(4, 3, 2, 3)], {"pads": [0, 1, 1, 2]}, 13),
    ("Conv", [IMAGE, floats(6, 1, 3, 3), floats(6)], {"group": 3, "strides": [2, 2], "auto_pad": "NOTSET"}, 13),
    ("LayerNormalization", [floats(2, 3, 4), floats(3, 4)], {"axis": 1, "epsilon": 0.01}, 17),
    ("BatchNormalization", [IMAGE, floats(3), floats(3), floats(3), abs(floats(3))], {"momentum": 0.5}, 15),
    ("Softmax", [floats(2, 3, 4)], {"axis": 1}, 13),
    ("Slice", [floats(4, 5), ints(-3), ints(1000), ints(-1)], {}, 13),
    ("Slice", [floats(4, 5), ints(1, 0), ints(3, -1)], {}, 13),
    ("Reshape", [floats(2, 3, 4), ints(0, -1)], {}, 13),
    ("Flatten", [floats(2, 3, 4)], {"axis": -1}, 13),
    ("Flatten", [floats(2, 3, 4)], {"axis": 0}, 13),
    ("Squeeze", [floats(1, 3, 1)], {}, 13),
    ("Squeeze", [floats(1, 3, 1), ints(-1)], {}, 13),
    ("Unsqueeze", [floats(3, 4), ints(-1, 0)], {}, 13),
    ("Expand", [floats(3, 1), ints(2, 1, 4)], {}, 13),
    ("Pad", [floats(2, 3), ints(1, 0, 0, 2)], {"mode": "constant"}, 13),
    ("Trilu", [floats(3, 4)], {"upper": 0}, 14),
    ("Trilu", [floats(3, 4), numpy.array(-1, numpy.int64)], {}, 14),
    ("CumSum", [floats(3, 4), numpy.array(-1, numpy.int32)], {}, 14),
    ("OneHot", [ints(0, 2, 1).astype(numpy.int64), ints(4), numpy.array([0.5, 2], numpy.float32)], {}, 13),
    ("ScatterND", [floats(4, 2), ints(1, 1, 3).reshape(3, 1), floats(3, 2)], {"reduction": "add"}, 16),
    ("Pow", [floats(3, 4), numpy.float32(2)], {}, 13),
    ("Max", [floats(3, 4), floats(4), numpy.float32(0.1)], {}, 13),
    ("Max", [floats(3, 4)], {}, 13),
    ("Sign", [floats(3, 4)], {}, 13),
    ("Not", [numpy.array([True, False])], {}, 13),
    ("Where", [numpy.array([True, False]), floats(3, 2), numpy.float32(0)], {}, 13),
    ("Less", [floats(3, 4), floats(4)], {}, 13),
    ("Cast", [floats(3, 4) * 3], {"to": TensorProto.INT64}, 13),
    ("Cast", [floats(3, 4)], {"to": TensorProto.DOUBLE}, 19),
    ("Shape", [floats(3, 4, 5)], {"start": 1, "end": -1}, 15),
    ("ArgMax", [floats(3, 4)], {}, 13),
    ("Dropout", [floats(3, 4), numpy.float32(0.5)], {"seed": 3}, 13),
    ("Elu", [floats(3, 4)], {}, 13),
    ("LeakyRelu", [floats(3, 4)], {}, 16),
    ("Identity", [floats(3)], {}, 13),
    ("DepthToSpace", [floats(2, 8, 3, 2)], {"blocksize": 2, "mode": "CRD"}, 13),
    ("DepthToSpace", [floats(2, 18, 2, 3)], {"blocksize": 3}, 13),
    ("Conv", [IMAGE, floats(4, 3, 3, 2)], {"auto_pad": "SAME_UPPER"}, 13),
    ("Conv", [IMAGE, floats(4, 3, 4, 3), floats(4)], {"auto_pad": "SAME_LOWER", "strides": [2, 3]}, 17),
    ("Conv", [IMAGE, floats(6, 1, 3, 2)], {"auto_pad": "SAME_UPPER", "dilations": [1, 1], "group": 3}, 17),
    ("Conv", [IMAGE, floats(4, 3, 1, 1)], {"auto_pad": "SAME_LOWER", "strides": [3, 4]}, 17),
    ("Conv", [IMAGE, floats(4, 3, 3, 2)], {"auto_pad": "VALID", "strides": [2, 1]}, 13),
    ("RNN", [floats(5, 2, 3), floats(1, 4, 3), floats(1, 4, 4), floats(1, 8)], {"hidden_size": 4, "activations": ["Tanh"]}, 17),
    ("RNN", [floats(5, 2, 3), floats(2, 4, 3), floats(2, 4, 4), floats(2, 8), None, floats(2, 2, 4)], {"hidden_size": 4, "direction": "bidirectional", "activations": ["Relu", "Relu"]}, 17),
    ("RNN", [floats(5, 2, 3), floats(1, 4, 3), floats(1, 4, 4)], {"hidden_size": 4, "direction": "reverse"}, 13),
]


def graph(op, inputs, attributes, constants):
    names = ["x"] + [f"w{i}" if array is not None else "" for i, array in enumerate(inputs[1:], 1)]
    nodes = [helper.make_node(op, names, ["y"], **attributes)]
    weights = [tensor(name, numpy.asarray(array)) for name, array in zip(names[1:], inputs[1:]) if array is not None]
    if constants:  # as nodes instead of initializers
        nodes = [helper.make_node("Constant", [], [w.name], value=w) for w in weights] + nodes
        weights = []
    kind = helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    x = helper.make_tensor_value_info("x", kind, inputs[0].shape)
    y = helper.make_empty_tensor_value_info("y")
    return helper.make_graph(nodes, "g", [x], [y], weights)


def sizes():
    """A graph with arithmetic of sizes: x [N, T] to [T/2, 2·N]."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["n"]),
        helper.make_node("Gather", ["shape", "minus"], ["t"]),
        helper.make_node("Mul", ["n", "two"], ["n2"]),
        helper.make_node("Sub", ["t", "two"], ["t2"]),
        helper.make_node("Add", ["t2", "two"], ["t3"]),
        helper.make_node("Concat", ["minus", "n2"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["z"]),
        helper.make_node("Cast", ["t3"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["z", "f"], ["y"]),
    ]
    weights = [tensor("zero", ints(0)), tensor("two", ints(2)), tensor("minus", ints(-1))]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "T"])
    return helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")], weights)


def case(name, made, x, opset):
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    file = model.SerializeToString()
    y = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    pack = lambda a: {"dtype": str(a.dtype), "shape": list(a.shape), "data": base64.b64encode(a.tobytes()).decode()}
    return {"name": name, "file": base64.b64encode(file).decode(), "x": pack(x), "y": pack(y)}


def main():
    cases = []
    for i, (op, inputs, attributes, opset) in enumerate(ROWS):
        cases.append(case(f"{op} {i}", graph(op, inputs, attributes, i % 2 == 1), inputs[0], opset))
    cases.append(case("sizes", sizes(), floats(3, 4), 17))
    lines = ",\n".join(json.dumps(c) for c in cases)
    pathlib.Path(__file__).with_name("import.json").write_text(f"[\n{lines}\n]\n")


main()
