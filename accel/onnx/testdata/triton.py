"""Reads the configurations of a model repository with the messages of Triton's client.

    python triton.py models    # tritonclient[grpc], onnxruntime

compares the inputs and outputs of each model with those that onnxruntime finds in its
files, checks the rules of Triton's documentation, and prints the other fields as JSON.
"""

import json
import pathlib
import sys

import onnxruntime
from google.protobuf import json_format, text_format
from tritonclient.grpc import model_config_pb2

# The types of onnxruntime, as Triton's backend converts them.
TYPES = {
    "tensor(float)": "TYPE_FP32", "tensor(double)": "TYPE_FP64", "tensor(float16)": "TYPE_FP16",
    "tensor(int32)": "TYPE_INT32", "tensor(int64)": "TYPE_INT64", "tensor(uint8)": "TYPE_UINT8",
    "tensor(bool)": "TYPE_BOOL", "tensor(string)": "TYPE_STRING",
}


def check_port(port, found, batched):
    assert port.name == found.name, (port.name, found.name)
    name = model_config_pb2.DataType.Name(port.data_type)
    assert name == TYPES[found.type], (port.name, name, found.type)
    dims = list(port.reshape.shape) if port.HasField("reshape") else list(port.dims)
    want = [size if isinstance(size, int) else -1 for size in found.shape]
    if batched:
        assert want[0] == -1, (port.name, want)
        want = want[1:]
    assert dims == want, (port.name, dims, want)
    assert len(port.dims) > 0 and all(d == -1 or d > 0 for d in port.dims), port
    if port.HasField("reshape"):
        assert batched and list(port.dims) == [1], port


def check(folder):
    config = text_format.Parse((folder / "config.pbtxt").read_text(), model_config_pb2.ModelConfig())
    assert config.name == folder.name and config.backend == "onnxruntime", config
    versions = [p for p in folder.iterdir() if p.is_dir()]
    assert versions, folder
    for version in versions:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(version / "model.onnx", options, providers=["CPUExecutionProvider"])
        for ports, found in (config.input, session.get_inputs()), (config.output, session.get_outputs()):
            for port, one in zip(ports, found, strict=True):
                check_port(port, one, config.max_batch_size > 0)
    if config.HasField("dynamic_batching"):
        assert config.max_batch_size > 0
        assert all(0 < n <= config.max_batch_size for n in config.dynamic_batching.preferred_batch_size)
    return json_format.MessageToDict(config, preserving_proto_field_name=True)


print(json.dumps({folder.name: check(folder) for folder in sorted(pathlib.Path(sys.argv[1]).iterdir())}))
