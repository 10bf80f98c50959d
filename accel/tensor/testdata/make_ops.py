#!/usr/bin/env python3
"""Writes ops.json: results and gradients of PyTorch's functions, in float64.

usage: pip install torch && python3 make_ops.py

Most cases are expressions in the rows of the Go tests, in the field torch; the
script asks the tests for them. The tests read ops.json and need no Python.
Inputs are float32 values, so that Go and Python start from the same values.
Each case has the inputs, a weight by which the result is multiplied before it
is summed, the result, and the gradient of each input. The file contains the
version of PyTorch that wrote it.
"""
import json
import math
import pathlib
import subprocess
import tempfile

import torch
import torch.nn.functional as F

torch.manual_seed(1)
cases = []


def tensor(*shape, low=None, high=None):
    t = torch.randn(*shape) if low is None else low + (high - low) * torch.rand(*shape)
    return t.float().double().requires_grad_()


def number(x):
    return float(f"{x:.12g}") if math.isfinite(x) else str(x)


def array(t):
    return {"shape": list(t.shape), "data": [number(x) for x in t.detach().reshape(-1).tolist()]}


def case(name, f, *inputs, torch_code=""):
    y = f(*inputs).double()
    weight = torch.randn(y.shape).float().double()
    # A function without a gradient, such as a comparison, has none in the file.
    grads = torch.autograd.grad((y * weight).sum(), inputs) if y.requires_grad else []
    cases.append({"name": name, **({"torch": torch_code} if torch_code else {}), "inputs": [array(x) for x in inputs], "weight": array(weight),
                  "result": array(y), "gradients": [array(g) for g in grads]})


x, w, b = tensor(2, 4, 5, 6), tensor(6, 4, 3, 3), tensor(6)
case("conv", lambda x, w, b: F.conv2d(x, w, b, padding=1), x, w, b)
case("conv strided", lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=(1, 2)), x, w, b)
case("conv dilated", lambda x, w: F.conv2d(x, w, padding=2, dilation=(2, 1)), x, w)
case("conv grouped", lambda x, w: F.conv2d(x, w, padding=1, groups=2), x, tensor(6, 2, 3, 3))
case("conv depthwise", lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=4), x, tensor(4, 1, 3, 3))
case("max pool", lambda x: F.max_pool2d(x, 2), x)
case("max pool overlapping", lambda x: F.max_pool2d(x, 3, stride=2, padding=1), x)
case("avg pool", lambda x: F.avg_pool2d(x, (2, 3)), x)
case("avg pool padded", lambda x: F.avg_pool2d(x, 3, stride=2, padding=1), x)
case("layer norm", lambda x, w, b: F.layer_norm(x, (6,), w, b), tensor(3, 4, 6), tensor(6), tensor(6))
case("layer norm of two", lambda x, w, b: F.layer_norm(x, (4, 6), w, b), tensor(3, 4, 6), tensor(4, 6), tensor(4, 6))
case("rms norm", lambda x, w: F.rms_norm(x, (6,), w, 1e-6), tensor(3, 4, 6), tensor(6))
case("batch norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, True), x, tensor(4), tensor(4))
mean, variance = torch.tensor([-1, -0.25, 0.25, 1]).double(), torch.tensor([0.5, 1, 1.5, 2]).double()
case("batch norm fixed", lambda x, w, b: F.batch_norm(x, mean, variance, w, b, False), x, tensor(4), tensor(4))
q, k, v = tensor(1, 2, 5, 4), tensor(1, 2, 5, 4), tensor(1, 2, 5, 4)
case("attention", F.scaled_dot_product_attention, q, k, v)
case("attention causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), q, k, v)
case("cross entropy", lambda x: F.cross_entropy(x, torch.tensor([0, 3, 1])), tensor(3, 4))
case("linear", F.linear, tensor(2, 3, 4), tensor(5, 4), tensor(5))
case("matmul", torch.matmul, tensor(2, 1, 3, 4), tensor(3, 4, 2))
for name in ("gelu", "silu", "elu", "leaky_relu"):
    case(name, getattr(F, name), tensor(9))
case("std", lambda x: torch.std(x, 1), tensor(3, 4))
case("pow", torch.pow, tensor(7, low=0.3, high=2), tensor(7))
case("clamp", lambda x: torch.clamp(x, -0.5, 0.7), tensor(9))

mask = torch.tensor([[True, False, True, True, False]]).expand(5, 5).clone()
mask[2] = True
bias = ((torch.arange(25) - 12) / 8).double().reshape(5, 5)
case("attention masked", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask), q, k, v)
case("attention biased", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=bias), q, k, v)
for name in ("neg", "abs", "exp", "square", "sin", "cos", "tanh", "sigmoid", "relu", "floor"):
    case(name, getattr(torch, name), tensor(9))
for name in ("log", "sqrt"):
    case(name, getattr(torch, name), tensor(9, low=0.2, high=3))
case("add scalar", lambda x: x + 1.25, tensor(9))
case("mul scalar", lambda x: x * -0.75, tensor(9))
case("pow scalar", lambda x: x**2.5, tensor(9, low=0.2, high=2))
for name in ("add", "sub", "mul", "div", "maximum", "minimum"):
    case(name, getattr(torch, name), tensor(3, 1), tensor(4, low=0.5, high=2))
case("equal numbers share", torch.maximum, torch.ones(3).double().requires_grad_(), torch.ones(3).double().requires_grad_())
for name in ("gt", "lt", "eq"):
    case(name, getattr(torch, name), tensor(3, 4), tensor(4))
yes, no = torch.tensor([1.0, 0.0, 2.0, 0.0]), torch.tensor([0.0, 0.0, 3.0, 4.0])
for name in ("logical_and", "logical_or"):
    case(name, getattr(torch, name), yes.double().requires_grad_(), no.double().requires_grad_())
case("logical_not", torch.logical_not, no.double().requires_grad_())
case("where", lambda a, b: torch.where(a > b, a, b * 2), tensor(3, 4), tensor(4))
case("mse", F.mse_loss, tensor(3, 4), tensor(3, 4))
case("round trip", lambda x: x.float().double(), tensor(5))

# Rounding to 16 bits, and sums and products of 16-bit floats.
short = {}
values = torch.cat([torch.randn(40), torch.tensor([65519.0, 65520.0, 1e-8, 6e-8, 1.00390625, 1.01171875, 3e38])]).float()
for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
    a, b = values[:40].to(dtype), values[:40].flip(0).to(dtype)
    text = lambda t: [str(v) for v in t.double().tolist()]
    short[name] = {"cast": text(values.to(dtype)), "add": text(a + b), "mul": text(a * b), "div": text(a / b), "exp": text(torch.exp(a))}

# New cases come last, so that those above keep their random numbers.
case("sign", torch.sign, tensor(9))
case("topk", lambda x: (lambda t: t.values + t.indices)(torch.topk(x, 3, 1, largest=False)), tensor(2, 5))
case("conv_transpose", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=(2, 3), padding=(1, 0), dilation=(2, 1), groups=2, output_padding=(1, 2)), tensor(2, 4, 3, 4), tensor(4, 3, 3, 2), tensor(6))
case("einsum", lambda a, b, c: torch.einsum("...ij,kj,k->...ki", a, b, c), tensor(2, 1, 3, 4), tensor(5, 4), tensor(5))
case("einsum diagonal", lambda a, b: torch.einsum("iji,...j", a, b), tensor(3, 2, 3), tensor(4, 2))
case("ceil", torch.ceil, tensor(9))
case("hardswish", F.hardswish, tensor(9, low=-5, high=5))

# The cases of the Go tests.
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "cases.json"
    package = pathlib.Path(__file__).resolve().parent.parent
    subprocess.run(["go", "test", "-count=1", "-run", "TestTorchCases", ".", "-cases", path], check=True, cwd=package)
    rows = json.loads(path.read_text())
for n, row in enumerate(rows):
    torch.manual_seed(n)
    inputs = [torch.tensor([float(v) for v in x["data"]]).double().reshape(x["shape"]).requires_grad_() for x in row["inputs"]]
    code = compile(row["torch"], row["name"], "eval")
    case(row["name"], lambda *x: eval(code, {"torch": torch, "F": F, **dict(zip("abcdef", x))}), *inputs, torch_code=row["torch"])

out = {"torch": torch.__version__, "cases": cases, "values": [str(v) for v in values.double().tolist()], "short": short}
(pathlib.Path(__file__).parent / "ops.json").write_text(json.dumps(out) + "\n")
