"""The benchmarks of gpu/check in PyTorch: eager, compiled, and as a CUDA graph.

Reads the benchmarks as JSON from standard input; the last line of the output is
the result as JSON.
"""
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.layers(x)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, c // self.heads).transpose(1, 2) for z in self.qkv(x).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class GPT(nn.Module):
    def __init__(self, b):
        super().__init__()
        w = b["width"]
        self.tokens = nn.Embedding(b["tokens"], w)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.positions = nn.Embedding(b["length"], w)
        self.blocks = nn.Sequential(*[nn.Sequential(
            Residual(nn.LayerNorm(w), Attention(w, b["heads"])),
            Residual(nn.LayerNorm(w), nn.Linear(w, 4 * w), nn.GELU(approximate="tanh"), nn.Linear(4 * w, w)),
        ) for _ in range(b["layers"])])
        self.norm = nn.LayerNorm(w)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        return (self.norm(self.blocks(x)) @ self.tokens.weight.T).view(-1, self.tokens.num_embeddings)


def mlp(b):
    layers = []
    for i, (n, m) in enumerate(zip(b["widths"], b["widths"][1:])):
        layers += ([nn.ReLU()] if i else []) + [nn.Linear(n, m)]
    return nn.Sequential(*layers)


def resnet(b):
    def layer(n, m):
        return [nn.Conv2d(n, m, 3, padding=1, bias=False), nn.BatchNorm2d(m), nn.ReLU()]
    c = b["widths"]
    return nn.Sequential(
        *layer(3, c[0]), *layer(c[0], c[1]), nn.MaxPool2d(2), Residual(*layer(c[1], c[1]), *layer(c[1], c[1])),
        *layer(c[1], c[2]), nn.MaxPool2d(2),
        *layer(c[2], c[3]), nn.MaxPool2d(2), Residual(*layer(c[3], c[3]), *layer(c[3], c[3])),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(c[3], 10))


def batch(b, device):
    if b["name"] == "gpt2":
        shape = (b["batch"], b["length"])
        return torch.randint(b["tokens"], shape, device=device), torch.randint(b["tokens"], (shape[0] * shape[1],), device=device)
    y = torch.randint(10, (b["batch"],), device=device)
    if b["name"] == "mlp":
        return torch.randn(b["batch"], b["widths"][0], device=device), y
    x = torch.randn(b["batch"], 3, b["image"], b["image"], device=device)
    return x.to(memory_format=torch.channels_last), y


def measure(step, given, cuda):
    wait = torch.cuda.synchronize if cuda else (lambda: None)
    for _ in range(3):
        step()
    wait()
    began = time.perf_counter()
    step()
    wait()
    n = 1 if given["quick"] else max(1, int(given["seconds"] / max(time.perf_counter() - began, 1e-6)))
    times = []
    for _ in range(1 if given["quick"] else given["rounds"]):
        began = time.perf_counter()
        for _ in range(n):
            step()
        wait()
        times.append((time.perf_counter() - began) / n)
    return sorted(times)[len(times) // 2]


def training(b, device, compiled=False):
    model = {"mlp": mlp, "resnet9": resnet, "gpt2": GPT}[b["name"]](b).to(device)
    if b["name"] == "resnet9":
        model = model.to(memory_format=torch.channels_last)
    x, y = batch(b, device)
    cuda = device == "cuda"
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=cuda, capturable=cuda)
    forward = torch.compile(model) if compiled else model

    def step():
        with torch.autocast(device, dtype=torch.bfloat16, enabled=b["half"]):
            loss = F.cross_entropy(forward(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return step


def graphed(step):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def main():
    given = json.load(sys.stdin)
    cuda = torch.cuda.is_available()
    if not cuda and not given["simulated"]:
        raise SystemExit("PyTorch finds no CUDA device")
    device = "cuda" if cuda else "cpu"
    seconds, problems = {}, []

    versions = {"torch": torch.__version__, "cuda": str(torch.version.cuda), "device": torch.cuda.get_device_name() if cuda else "cpu"}

    def variant(bench, name, make):
        try:
            torch.manual_seed(1)
            seconds.setdefault(bench, {})[name] = measure(make(), given, cuda)
        except Exception as e:  # keep the results of the other variants
            problems.append(f"PyTorch {name}, {bench}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}")
        if cuda:
            torch.cuda.empty_cache()
        # The last line counts: if this process is killed, its results so far are kept.
        print(json.dumps({"versions": versions, "seconds": seconds, "problems": problems}), flush=True)

    for b in given["benches"]:
        variant(b["name"], "eager", lambda: training(b, device))
        if cuda:
            variant(b["name"], "graph", lambda: graphed(training(b, device)))
    for n in given["matmuls"]:
        for name, dtype in (("gemm", torch.bfloat16), ("gemm32-", torch.float32)):
            def matmul():
                x, y = (torch.randn(n, n, device=device).to(dtype) for _ in range(2))
                return lambda: x @ y
            variant(f"{name}{n}", "eager", matmul)
    for b in given["benches"] if cuda else []:  # last, because compilation takes minutes
        variant(b["name"], "compiled", lambda: training(b, device, compiled=True))


main()
