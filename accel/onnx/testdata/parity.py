"""Runs exported models with onnxruntime and compares the results with those of this module.

    python parity.py manifest.json

prints one line of JSON for each model: its name, the largest difference relative to
the largest value, and the error if there was one.
"""

import base64
import json
import pathlib
import platform
import re
import sys

import ml_dtypes
import numpy
import onnx
import onnxruntime

TYPES = {
    "float32": numpy.float32, "float64": numpy.float64, "int32": numpy.int32, "int64": numpy.int64,
    "uint8": numpy.uint8, "bool": numpy.bool_, "float16": numpy.float16, "bfloat16": ml_dtypes.bfloat16,
}


def array(tensor):
    data = numpy.frombuffer(base64.b64decode(tensor["data"]), TYPES[tensor["dtype"]])
    return data.reshape(tensor["shape"])


def difference(got, want):
    """Returns the largest difference relative to the largest value; NaN and infinities must be at the same positions."""
    if got.shape != want.shape:
        raise ValueError(f"the shape is {got.shape}, want {want.shape}")
    if got.dtype != want.dtype:
        raise ValueError(f"the type is {got.dtype}, want {want.dtype}")
    got, want = got.astype(numpy.float64), want.astype(numpy.float64)
    finite = numpy.isfinite(want)
    numpy.testing.assert_array_equal(got[~finite], want[~finite])
    if not numpy.isfinite(got[finite]).all():
        raise ValueError("there are numbers that are not finite")
    if not finite.any():
        return 0.0
    return float(numpy.abs(got[finite] - want[finite]).max() / max(numpy.abs(want[finite]).max(), 1e-30))


def without_vnni():
    """Whether onnxruntime would add two 8-bit products in 16 bits, which can overflow.

    Without optimizations it computes the same files in float32.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    file = pathlib.Path("/proc/cpuinfo")
    return not file.exists() or not re.search(r"\bavx(512)?_vnni\b", file.read_text())


WITHOUT_VNNI = without_vnni()


def check(case):
    onnx.checker.check_model(case["file"], full_check=True)
    if not case["external"]:
        onnx.shape_inference.infer_shapes(onnx.load(case["file"]), check_type=True, strict_mode=True, data_prop=True)
    if case["unrunnable"]:
        return 0.0
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if WITHOUT_VNNI and any(node.op_type == "DequantizeLinear" for node in onnx.load(case["file"]).graph.node):
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(case["file"], options, providers=["CPUExecutionProvider"])
    worst = 0.0
    for run in case["runs"]:
        inputs = [array(t) for t in run["inputs"]]
        names = [i.name for i in session.get_inputs()]
        for got, tensor in zip(session.run(None, dict(zip(names, inputs))), run["outputs"], strict=True):
            try:
                worst = max(worst, difference(got, array(tensor)))
            except Exception as failure:
                raise ValueError(f"inputs {[i.shape for i in inputs]}: {failure}") from failure
    return worst


def main():
    with open(sys.argv[1]) as file:
        cases = json.load(file)
    for case in cases:
        result = {"name": case["name"]}
        try:
            result["difference"] = check(case)
        except Exception as failure:
            result["error"] = f"{type(failure).__name__}: {failure}"
        print(json.dumps(result), flush=True)


main()
