"""Writes torch.json: small models as torch.onnx.export writes them, with a batch of any size, and the
outputs of PyTorch for a batch of another size than that of the export.

    python make_torch.py    # torch, onnx, onnxscript, onnxruntime

Each model is exported twice: by torch.export (dynamo), and by tracing.
"""

import base64
import json
import os
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(1)


def encoder(**options):
    """A Transformer encoder of one layer."""
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, **options), 1, enable_nested_tensor=False)


class Last(nn.Module):
    """The last output of a recurrent layer, and a linear layer."""

    def __init__(self, layer, width):
        super().__init__()
        self.layer, self.out = layer, nn.Linear(width, 2)

    def forward(self, x):
        return self.out(self.layer(x)[0][:, -1])


class Text(nn.Module):
    """A classifier of tokens."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(9, 4), nn.Embedding(6, 4)
        self.layer = encoder(activation="gelu")
        self.out = nn.Linear(4, 3)

    def forward(self, x):
        h = self.tokens(x) + self.positions(torch.arange(x.shape[1]))
        return self.out(self.layer(h).mean(1))


class Two(nn.Module):
    """A model with two inputs and two outputs."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.number, self.share = nn.Linear(4, 3), nn.Linear(2, 3), nn.Linear(6, 1), nn.Linear(6, 5)

    def forward(self, x, y):
        h = torch.cat([self.a(x), self.b(y)], 1).relu()
        return self.number(h), self.share(h).softmax(-1)


class Images(nn.Module):
    """A small U-Net."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.Hardswish())
        self.middle = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.PReLU(4))
        self.up, self.larger = nn.ConvTranspose2d(4, 2, 2, 2), nn.Upsample(scale_factor=2, mode="bilinear")
        self.nearest = nn.Upsample(scale_factor=2)

    def forward(self, x):
        a = self.down(x)
        b = self.middle(a)
        return torch.cat([a, self.up(b), self.larger(b), self.nearest(b)], 1)


class Attention(nn.Module):
    """Causal attention of several heads, whose queries, keys and values are one projection."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 12)

    def forward(self, x):
        heads = [t.view(t.shape[0], t.shape[1], 2, 2).transpose(1, 2) for t in self.project(x).chunk(3, -1)]
        return nn.functional.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)


class Others(nn.Module):
    """Ops that layers of this module do not use."""

    def forward(self, x):
        a, b, c = x.chunk(3, 1)
        values, indices = x.topk(2, 1)
        return torch.cat([nn.functional.gelu(a, approximate="tanh"), nn.functional.softplus(9 * b), nn.functional.hardsigmoid(3 * c), values, indices.float()], 1)


def random(*shape):
    return lambda n: torch.randn(n, *shape)


def tokens(n):
    return torch.randint(0, 9, (n, 5))


MODELS = {
    "MLP": (nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.5), nn.Linear(5, 2)), [random(4)]),
    "CNN": (nn.Sequential(nn.Conv2d(2, 4, 3, stride=2), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)), [random(2, 9, 9)]),
    "LSTM": (Last(nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True), 8), [random(5, 3)]),
    "GRU": (Last(nn.GRU(3, 4, batch_first=True), 4), [random(5, 3)]),
    "encoder": (encoder(norm_first=True), [random(5, 4)]),
    "text": (Text(), [tokens]),
    "two inputs": (Two(), [random(4), random(2)]),
    "images": (Images(), [random(1, 6, 6)]),
    "attention": (Attention(), [random(5, 4)]),
    "others": (Others(), [random(6)]),
}


def tensor(t):
    a = np.ascontiguousarray(t.detach().numpy())
    return {"DType": str(a.dtype), "Shape": list(a.shape), "Data": base64.b64encode(a.tobytes()).decode()}


cases = []
for name, (model, inputs) in MODELS.items():
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.modules.batchnorm._BatchNorm):
            m.running_mean.normal_()
            m.running_var.uniform_(0.5, 2)
    example, other = tuple(f(2) for f in inputs), tuple(f(3) for f in inputs)
    want = model(*other)
    want = want if isinstance(want, tuple) else (want,)
    names = [f"in{i}" for i in range(len(inputs))]
    outs = [f"out{i}" for i in range(len(want))]
    for dynamo in True, False:
        path = os.path.join(tempfile.mkdtemp(), "m.onnx")
        if dynamo:
            torch.onnx.export(model, example, path, dynamo=True, verbose=False, input_names=names, external_data=False, dynamic_shapes=tuple({0: torch.export.Dim("batch")} for _ in inputs))
        else:
            torch.onnx.export(model, example, path, dynamo=False, input_names=names, output_names=outs, dynamic_axes={n: {0: "batch"} for n in names + outs})
        got = onnxruntime.InferenceSession(path).run(None, dict(zip(names, (x.numpy() for x in other))))
        for g, w in zip(got, want):
            np.testing.assert_allclose(g, w.detach().numpy(), atol=1e-5)
        proto = onnx.load(path)
        del proto.metadata_props[:], proto.graph.metadata_props[:], proto.graph.value_info[:]
        for part in [*proto.graph.node, *proto.graph.initializer, *proto.graph.input, *proto.graph.output]:
            del part.metadata_props[:]  # lines of the sources
            part.doc_string = ""
        file = base64.b64encode(proto.SerializeToString()).decode()
        cases.append({"Name": name + (" of torch.export" if dynamo else " of a trace"), "File": file, "In": [tensor(x) for x in other], "Out": [tensor(y) for y in want]})

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch.json"), "w") as f:
    json.dump(cases, f, indent=0)
    f.write("\n")
