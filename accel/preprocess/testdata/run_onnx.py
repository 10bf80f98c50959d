"""Runs an exported file with onnxruntime on the rows of a table.

    python run_onnx.py < cases.json

A case has the path of the file, and the values of each column: strings, or numbers with null for NaN. It prints one line of
JSON for each: the output of all rows, or the error.
"""

import json
import sys

import numpy
import onnx
import onnxruntime

KINDS = {"tensor(string)": object, "tensor(double)": numpy.float64}


def run(case):
    onnx.checker.check_model(case["file"], full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(case["file"], options, providers=["CPUExecutionProvider"])
    feed = {i.name: numpy.array(case["columns"][i.name], KINDS[i.type]).reshape(-1, 1) for i in session.get_inputs()}
    return session.run(None, feed)[0].tolist()


for case in json.load(sys.stdin):
    try:
        result = {"output": run(case)}
    except Exception as failure:
        result = {"error": str(failure)}
    print(json.dumps(result))
