#!/usr/bin/env python3
"""Makes ops.json: results and gradients of PyTorch's functions, in float64.

usage: pip install torch && python3 make_ops.py

The test reads the file and needs no Python. Inputs are float32 numbers, so that
Go and Python start from the same values. Each case has the inputs, a weight by
which the result is multiplied before it is summed, the result, and the gradient
of each input. The file names the version of PyTorch that made it.
"""
import json
import pathlib

import torch
import torch.nn.functional as F

torch.manual_seed(1)
cases = []


def tensor(*shape, low=None, high=None):
    t = torch.randn(*shape) if low is None else low + (high - low) * torch.rand(*shape)
    return t.float().double().requires_grad_()


def number(x):
    return float(f"{x:.12g}")


def array(t):
    return {"shape": list(t.shape), "data": [number(x) for x in t.detach().reshape(-1).tolist()]}


def case(name, f, *inputs):
    y = f(*inputs)
    weight = torch.randn(y.shape).float().double()
    grads = torch.autograd.grad((y * weight).sum(), inputs)
    cases.append({"name": name, "inputs": [array(x) for x in inputs], "weight": array(weight),
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
mean, variance = torch.linspace(-1, 1, 4).double(), torch.linspace(0.5, 2, 4).double()
case("batch norm fixed", lambda x, w, b: F.batch_norm(x, mean, variance, w, b, False), x, tensor(4), tensor(4))
q, k, v = tensor(1, 2, 5, 4), tensor(1, 2, 5, 4), tensor(1, 2, 5, 4)
case("attention", F.scaled_dot_product_attention, q, k, v)
case("attention causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), q, k, v)
case("embedding", lambda w: F.embedding(torch.tensor([[2, 0, 2], [1, 2, 0]]), w), tensor(4, 3))
case("cross entropy", lambda x: F.cross_entropy(x, torch.tensor([0, 3, 1])), tensor(3, 4))
case("linear", F.linear, tensor(2, 3, 4), tensor(5, 4), tensor(5))
case("matmul", torch.matmul, tensor(2, 1, 3, 4), tensor(3, 4, 2))
for name in ("gelu", "silu", "elu", "leaky_relu"):
    case(name, getattr(F, name), tensor(9))
case("softmax", lambda x: F.softmax(x, 1), tensor(3, 4, 2))
case("log softmax", lambda x: F.log_softmax(x, -1), tensor(3, 4))
case("logsumexp", lambda x: torch.logsumexp(x, 1), tensor(3, 4))
case("std", lambda x: torch.std(x, 1), tensor(3, 4))
case("var", lambda x: torch.var(x, (0, 2), correction=0), tensor(3, 4, 2))
case("norm", lambda x: torch.linalg.vector_norm(x, dim=0), tensor(3, 4))
case("cumsum", lambda x: torch.cumsum(x, 1), tensor(3, 4))
case("pow", torch.pow, tensor(7, low=0.3, high=2), tensor(7))
case("clamp", lambda x: torch.clamp(x, -0.5, 0.7), tensor(9))

# Rounding to 16 bits, and sums and products of numbers of 16 bits.
short = {}
values = torch.cat([torch.randn(40), torch.tensor([65519.0, 65520.0, 1e-8, 6e-8, 1.00390625, 1.01171875, 3e38])]).float()
for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
    a, b = values[:40].to(dtype), values[:40].flip(0).to(dtype)
    text = lambda t: [str(v) for v in t.double().tolist()]
    short[name] = {"cast": text(values.to(dtype)), "add": text(a + b), "mul": text(a * b), "div": text(a / b), "exp": text(torch.exp(a))}
out = {"torch": torch.__version__, "cases": cases, "values": [str(v) for v in values.double().tolist()], "short": short}
(pathlib.Path(__file__).parent / "ops.json").write_text(json.dumps(out) + "\n")
