#!/usr/bin/env python3
"""Writes graphs.json: random graphs of ops, and their results in PyTorch in float64.

usage: pip install torch && python3 make_graphs.py

make_ops.py tests each op separately. Here ops are combined, with unusual shapes, views
and broadcasting, so that they are fused and planned in many ways. A value is an input or
a node; both are numbered consecutively. The loss is the sum of the outputs, each times a
weight. Arrays are little-endian float64 in base64; inputs are float32 values at which the
functions are differentiable.
"""
import base64
import json
import pathlib
import random

import torch
import torch.nn.functional as F

GRAPHS, NODES = 60, 9
SHAPES = [(), (1,), (3,), (1, 1), (2, 3), (3, 1), (1, 4), (4, 4), (2, 1, 3), (2, 3, 4), (0, 3), (2, 0, 1), (17, 2), (1, 2, 1, 5)]


def text(t):
    return base64.b64encode(t.detach().double().contiguous().numpy().astype("<f8").tobytes()).decode()


class Graph:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.numbers = torch.Generator().manual_seed(seed)
        self.values, self.inputs, self.nodes = [], [], []
        self.input(self.r.choice(SHAPES))
        while len(self.nodes) < NODES:
            getattr(self, self.r.choice(["unary", "unary", "binary", "binary", "binary", "reduce", "along", "view", "view", "view", "product", "where", "norm", "pick"]))()

    def input(self, shape, values=None):
        if values is None:
            values = torch.randn(shape, generator=self.numbers)
        self.inputs.append(len(self.values))
        self.nodes.append(None)
        self.values.append(values.float().double().requires_grad_())
        return len(self.values) - 1

    def node(self, op, value, operands, ints=(), floats=()):
        self.nodes.append({"op": op, "in": list(operands), "ints": list(ints), "floats": list(floats)})
        self.values.append(value)

    def any(self):
        i = self.r.choice(range(max(0, len(self.values) - 5), len(self.values)))
        return i, self.values[i]

    def axis(self, x):
        a = self.r.randrange(x.dim())
        return self.r.choice([a, a - x.dim()])

    def unary(self):
        i, x = self.any()
        op, f = self.r.choice([
            ("Tanh", torch.tanh), ("Sigmoid", torch.sigmoid), ("Sin", torch.sin), ("Cos", torch.cos), ("GELU", F.gelu), ("SiLU", F.silu),
            ("Neg", torch.neg), ("Square", torch.square), ("ReLU", F.relu), ("Abs", torch.abs), ("Clone", torch.clone)])
        self.node(op, f(x), [i])

    def binary(self):
        i, x = self.any()
        shape = [1 if self.r.random() < 0.3 else d for d in x.shape][self.r.choice([0, 0, 1]):]
        op = self.r.choice(["Add", "Sub", "Mul", "Div", "Maximum", "Minimum"])
        j = self.input(shape, torch.rand(shape, generator=self.numbers) + 0.5 if op == "Div" else None)
        if op != "Div" and self.r.random() < 0.4:
            i, j = j, i
        self.node(op, getattr(torch, op.lower())(self.values[i], self.values[j]), [i, j])

    def reduce(self):
        i, x = self.any()
        axes = [a if self.r.random() < 0.6 else a - x.dim() for a in self.r.sample(range(x.dim()), self.r.randint(0, x.dim()))]
        op = self.r.choice(["Sum", "Mean", "Norm"])
        every = tuple(axes) or tuple(range(x.dim()))
        if x.numel() == 0 and op != "Sum":
            return
        f = {"Sum": torch.sum, "Mean": torch.mean, "Norm": lambda t, a: torch.linalg.vector_norm(t, dim=a)}[op]
        self.node(op, f(x, every) if x.dim() else x.abs() if op == "Norm" else x.clone(), [i], axes)

    def along(self):
        i, x = self.any()
        if x.dim() == 0 or x.numel() == 0:
            return
        a = self.axis(x)
        op, f = self.r.choice([("Softmax", F.softmax), ("LogSoftmax", F.log_softmax), ("CumSum", torch.cumsum), ("LogSumExp", torch.logsumexp), ("Max", torch.amax), ("Min", torch.amin)])
        self.node(op, f(x, a), [i], [a])

    def view(self):
        i, x = self.any()
        op = self.r.choice(["Reshape", "Permute", "Slice", "Pad", "Concat", "Expand"])
        if op == "Expand":
            shape = [self.r.choice([2, 3]) if d == 1 else d for d in x.shape]
            shape = shape if len(shape) > 3 or self.r.random() < 0.6 else [2] + shape
            return self.node(op, x.expand(shape), [i], shape)
        if x.dim() == 0:
            return
        a = self.axis(x)
        if op == "Reshape":
            shape = self.r.choice([[x.numel()], [1, x.numel()], [*x.shape, 1], list(x.shape[::-1])])
            self.node(op, x.reshape(shape), [i], shape)
        elif op == "Permute":
            order = self.r.sample(range(x.dim()), x.dim())
            self.node(op, x.permute(order), [i], order)
        elif op == "Slice":
            begin = self.r.randint(0, x.shape[a])
            end = self.r.randint(begin, x.shape[a])
            self.node(op, x.narrow(a, begin, end - begin), [i], [a, begin, end])
        elif op == "Pad":
            before, after = self.r.randint(0, 2), self.r.randint(0, 2)
            sizes = lambda n: [n if d == a % x.dim() else size for d, size in enumerate(x.shape)]
            self.node(op, torch.cat([x.new_zeros(sizes(before)), x, x.new_zeros(sizes(after))], a), [i], [a, before, after])
        else:
            j = self.input(x.shape)
            self.node(op, torch.cat([x, self.values[j], x], a), [i, j, i], [a])

    def product(self):
        i, x = self.any()
        if x.dim() < 2:
            return
        n = self.r.choice([1, 2, 5])
        if self.r.random() < 0.5:
            w, b = self.input((n, x.shape[-1])), self.input((n,))
            return self.node("Linear", F.linear(x, self.values[w], self.values[b]), [i, w, b])
        w = self.input((*[self.r.choice([1, d]) for d in x.shape[:-2]], x.shape[-1], n))
        self.node("MatMul", torch.matmul(x, self.values[w]), [i, w])

    def where(self):
        i, x = self.any()
        j, k = self.input(x.shape), self.input([1 if self.r.random() < 0.3 else d for d in x.shape])
        self.node("Where", torch.where(self.values[j] > 0, x, self.values[k]), [j, i, k])

    def norm(self):
        i, x = self.any()
        if x.dim() == 0 or x.numel() == 0 or x.shape[-1] < 2:
            return
        w, b = self.input(x.shape[-1:]), self.input(x.shape[-1:])
        self.node("LayerNorm", F.layer_norm(x, x.shape[-1:], self.values[w], self.values[b], 0.01), [i, w, b], [1], [0.01])

    def pick(self):
        i, x = self.any()
        if x.dim() == 0 or x.shape[0] == 0:
            return
        index = [self.r.randrange(x.shape[0]) for _ in range(self.r.choice([1, 3]))]
        self.node("IndexSelect", x[torch.tensor(index)], [i], index)

    def write(self):
        made = [i for i, n in enumerate(self.nodes) if n]
        outputs = sorted({made[-1], self.r.choice(made)})
        weights = [torch.randn(self.values[i].shape, generator=self.numbers).double() for i in outputs]
        loss = sum((self.values[i] * w).sum() for i, w in zip(outputs, weights))
        parameters = [self.values[i] for i in self.inputs]
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        return {
            "values": [n or {"shape": list(self.values[i].shape), "data": text(self.values[i])} for i, n in enumerate(self.nodes)],
            "outputs": [{"value": i, "shape": list(self.values[i].shape), "weight": text(w), "data": text(self.values[i])} for i, w in zip(outputs, weights)],
            "gradients": ["" if g is None else text(g) for g in gradients],
        }


graphs = [Graph(seed).write() for seed in range(GRAPHS)]
path = pathlib.Path(__file__).parent / "graphs.json"
path.write_text(json.dumps({"torch": torch.__version__, "graphs": graphs}, separators=(",", ":")) + "\n")
print(path, path.stat().st_size, "bytes")
