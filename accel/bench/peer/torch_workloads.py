"""The benchmarks in PyTorch, with its own modules, on the CPU.

Settings: "eager"; "compile", where the model and its loss go through torch.compile; "channels-last", eager with images in
the layout that oneDNN prefers. All optimizers are the fused ones, the fastest that PyTorch has for the CPU.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


def start(threads):
    torch.set_num_threads(threads)


def versions():
    return {"torch": torch.__version__, "mkldnn": str(torch.backends.mkldnn.is_available()), "capability": torch.backends.cpu.get_cpu_capability()}


class Work:
    def __init__(self, step):
        self.step = step

    def wait(self, last):
        pass

    def value(self, last):
        return float(last)


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.all = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads = heads

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = self.all(x).view(n, t, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(n, t, width))


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1568, 10))


def conv(i, o):
    return [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU()]


def resnet9():
    return nn.Sequential(
        *conv(1, 64),
        *conv(64, 128), nn.MaxPool2d(2), Residual(*conv(128, 128), *conv(128, 128)),
        *conv(128, 256), nn.MaxPool2d(2),
        *conv(256, 512), nn.MaxPool2d(2), Residual(*conv(512, 512), *conv(512, 512)),
        nn.MaxPool2d(3), nn.Flatten(), nn.Linear(512, 10))


def gpt_block():
    return nn.Sequential(
        Residual(nn.LayerNorm(128), SelfAttention(128, 4)),
        Residual(nn.LayerNorm(128), nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)))


def cross_entropy(y, labels):
    return F.cross_entropy(y, labels)


MODELS = {"mlp": (mlp, cross_entropy), "cnn": (cnn, cross_entropy), "resnet9": (resnet9, cross_entropy), "gpt-block": (gpt_block, F.mse_loss)}


def train(bench, setting, groups):
    make, loss = MODELS[bench]
    model = make()
    given = [torch.from_numpy(a) for a in groups["parameters"]]
    parameters = list(model.parameters())
    assert [p.shape for p in parameters] == [a.shape for a in given], "the parameters differ in number or shape"
    with torch.no_grad():
        for p, a in zip(parameters, given):
            p.copy_(a)
    xs = [torch.from_numpy(a) for a in groups["x"]]
    ys = [torch.from_numpy(a) for a in groups["y"]]
    if loss is cross_entropy:
        ys = [y.long() for y in ys]
    if setting == "channels-last":
        model = model.to(memory_format=torch.channels_last)
        xs = [x.to(memory_format=torch.channels_last) for x in xs]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def objective(x, y):
        return loss(model(x), y)

    if setting == "compile":
        objective = torch.compile(objective)
    at = 0

    def step():
        nonlocal at
        i = at % len(xs)
        at += 1
        optimizer.zero_grad(set_to_none=True)
        value = objective(xs[i], ys[i])
        value.backward()
        optimizer.step()
        return value.detach()

    return Work(step)


def gemm(groups):
    a, b = (torch.from_numpy(x) for x in groups["x"])
    out = torch.empty(a.shape[0], b.shape[1])

    def step():
        torch.mm(a, b, out=out)
        return out

    w = Work(step)
    w.value = lambda y: float(y[0, 0])
    return w


def attention(setting, groups):
    q, k, v = (torch.from_numpy(x).requires_grad_() for x in groups["x"])
    target = torch.from_numpy(groups["y"][0])

    def objective(q, k, v):
        return (F.scaled_dot_product_attention(q, k, v, is_causal=True) * target).sum()

    if setting == "compile":
        objective = torch.compile(objective)

    def step():
        q.grad = k.grad = v.grad = None
        value = objective(q, k, v)
        value.backward()
        return value.detach() + q.grad[0, 0, -1, 0] + k.grad[0, 0, 0, 0] + v.grad[0, 0, 0, 0]

    return Work(step)


def loader(groups):
    """Batches of 256 byte images in a shuffled order, as floats in [0, 1]."""
    images = torch.from_numpy(groups["x"][0]).to(torch.uint8)
    order = torch.from_numpy(groups["x"][1]).long()

    def step():
        for at in range(0, len(order), 256):
            x = images[order[at:at + 256]].float().div_(255)
        return x

    w = Work(step)
    w.value = lambda x: 1.0
    return w


def bandwidth(groups):
    a = torch.ones(64 << 20)
    b = torch.zeros(64 << 20)

    def step():
        b.copy_(a)
        return b

    w = Work(step)
    w.value = lambda y: 1.0
    return w


def prepare(bench, setting, groups):
    torch.manual_seed(0)
    if bench in MODELS:
        return train(bench, setting, groups)
    if bench == "attention":
        return attention(setting, groups)
    return {"loader": loader, "bandwidth": bandwidth}.get(bench, gemm)(groups)
