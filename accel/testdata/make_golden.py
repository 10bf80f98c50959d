#!/usr/bin/env python3
"""Writes the golden files of accel/optim and accel/nn with PyTorch, in float64.

usage: pip install torch==2.15.0 safetensors && python3 make_golden.py [part…]

A part is the name of a function below. Without a part, all files are written.

The tests read the JSON files and need no Python. Inputs are float32 values, so
that Go and Python start from the same values. Every reference is computed in float64,
and the tests have the tolerances for float32. The files contain the version of PyTorch
that wrote them.
"""
import json
import pathlib
import sys

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent


def inputs(*shape, scale=1.0):
    """Random float32 values, held as float64."""
    return (torch.randn(*shape) * scale).float().double()


def flat(t):
    return t.detach().reshape(-1).tolist()


def short_inputs(*shape, scale=1.0):
    """Random multiples of 1/32, which are short in JSON and exact in float32."""
    return (torch.randn(*shape) * scale * 32).round().double() / 32


def short(t):
    """The elements with 8 digits, more than float32 has."""
    return [float(f"{x:.8g}") for x in flat(t)]


def write(name, content, indent=1):
    content = {"torch": torch.__version__, **content}
    (HERE / name).write_text(json.dumps(content, indent=indent) + "\n")


class LAMB(torch.optim.Optimizer):
    """Algorithm 2 of You et al., 2020, with Adam's bias corrections; PyTorch has none."""

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                s = self.state[p]
                s["t"] = t = s.get("t", 0) + 1
                s["m"] = b1 * s.get("m", torch.zeros_like(p)) + (1 - b1) * p.grad
                s["v"] = b2 * s.get("v", torch.zeros_like(p)) + (1 - b2) * p.grad**2
                u = (s["m"] / (1 - b1**t)) / ((s["v"] / (1 - b2**t)).sqrt() + group["eps"]) + group["weight_decay"] * p.data
                ours, its = p.data.norm(), u.norm()
                trust = ours / its if ours > 0 and its > 0 else 1.0
                p.data -= group["lr"] * trust * u


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al., 2023; PyTorch has none."""

    def __init__(self, params, lr, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].get("m", torch.zeros_like(p))
                p.data -= group["lr"] * (torch.sign(b1 * m + (1 - b1) * p.grad) + group["weight_decay"] * p.data)
                self.state[p]["m"] = b2 * m + (1 - b2) * p.grad


class Muon64(torch.optim.Muon):
    """PyTorch's Muon with its iterations in float64 where it has bfloat16."""

    def step(self):
        half, torch.bfloat16 = torch.bfloat16, torch.float64
        super().step()
        torch.bfloat16 = half


def optimizers():
    """Parameters after each of six steps with given gradients."""
    makers = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
        "sgd weight decay": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.05),
        "sgd momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        "sgd nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        "sgd nesterov weight decay": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.8, nesterov=True, weight_decay=0.05),
        "adam": lambda p: torch.optim.Adam(p, lr=0.01),
        "adam weight decay": lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.01),
        "adamw no decay": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.0),
        "adamw betas": lambda p: torch.optim.AdamW(p, lr=0.05, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
        "adamw schedule": lambda p: torch.optim.AdamW(p, lr=0.05, weight_decay=0.1),
        "lamb": lambda p: LAMB(p, lr=0.05),
        "lamb no decay": lambda p: LAMB(p, lr=0.05, betas=(0.8, 0.99), weight_decay=0.0),
        "muon": lambda p: Muon64(p, lr=0.02, adjust_lr_fn="match_rms_adamw"),
        "muon momentum": lambda p: Muon64(p, lr=0.02, momentum=0.8, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"),
        "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
        "rmsprop momentum": lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.9, eps=1e-6, momentum=0.8, weight_decay=0.1),
        "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.05),
        "adagrad weight decay": lambda p: torch.optim.Adagrad(p, lr=0.05, eps=1e-6, weight_decay=0.1),
        "nadam": lambda p: torch.optim.NAdam(p, lr=0.01),
        "nadam weight decay": lambda p: torch.optim.NAdam(p, lr=0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
        "lion": lambda p: Lion(p, lr=0.01),
        "lion weight decay": lambda p: Lion(p, lr=0.02, betas=(0.8, 0.95), weight_decay=0.1),
    }
    cases = []
    for shape in ([2, 3], [4, 2]):
        start = inputs(*shape)
        gradients = [inputs(*shape, scale=2.0) for _ in range(6)]
        runs = {}
        for name, make in makers.items():
            parameter = torch.nn.Parameter(start.clone())
            optimizer = make([parameter])
            rates, after = [], []
            for step, gradient in enumerate(gradients):
                if name == "adamw schedule":
                    optimizer.param_groups[0]["lr"] = 0.05 / (1 + step)
                parameter.grad = gradient.clone()
                optimizer.step()
                rates.append(optimizer.param_groups[0]["lr"])
                after.append(flat(parameter))
            runs[name] = {"rates": rates, "after": after}
        cases.append({"shape": shape, "start": flat(start), "gradients": [flat(g) for g in gradients], "runs": runs})

    clips = []
    for limit in (0.5, 100.0):
        a, b = torch.nn.Parameter(inputs(3)), torch.nn.Parameter(inputs(2, 2))
        a.grad, b.grad = inputs(3), inputs(2, 2)
        case = {"limit": limit, "a": flat(a.grad), "b": flat(b.grad)}
        case["norm"] = torch.nn.utils.clip_grad_norm_([a, b], limit).item()
        case["clipped_a"], case["clipped_b"] = flat(a.grad), flat(b.grad)
        a.grad, b.grad = torch.tensor(case["a"], dtype=torch.float64), torch.tensor(case["b"], dtype=torch.float64).reshape(2, 2)
        torch.nn.utils.clip_grad_value_([a, b], limit)
        case["limited_a"], case["limited_b"] = flat(a.grad), flat(b.grad)
        clips.append(case)
    write("optimizers.json", {"cases": cases, "clips": clips})


def tiny():
    """AdamW with gradients down to float32 denormals, in float64 and in float32."""
    sizes = [1.0, 1e-3, 1e-6, 1e-8, 1e-9, 1e-12, 1e-16, 1e-19, 1e-20, 1e-23, 1e-30, 1e-38, 1e-42, 0.0]
    signs = [1.0, -0.5, 2.0, 1.0, 0.25, -1.0, 0.0, 0.0, 1.0, -3.0]
    cases = []
    for eps in (1e-8, 1e-15):
        runs = {}
        for name, dtype in (("float64", torch.float64), ("float32", torch.float32)):
            p = torch.nn.Parameter(torch.zeros(len(sizes), dtype=dtype))
            optimizer, after = torch.optim.AdamW([p], lr=0.01, weight_decay=0.0, eps=eps), []
            for sign in signs:
                p.grad = torch.tensor([s * sign for s in sizes], dtype=torch.float32).to(dtype)
                optimizer.step()
                after.append(flat(p.double()))
            runs[name] = after
        cases.append({"epsilon": eps, **runs})
    write("tiny.json", {"sizes": sizes, "signs": signs, "cases": cases})


def schedules():
    """Learning rates by step."""
    def rates(make, steps, lr):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr, momentum=0.9)
        schedule = make(optimizer)
        out = []
        for _ in range(steps):
            out.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            schedule.step()
        return out

    one = torch.optim.lr_scheduler
    losses = [1.0, 0.9, 0.95, 0.91, 0.92, 0.89999, 0.5, 0.6, 0.7, 0.55, 0.56, 0.54, 0.53, float("inf"), 0.52, 0.51]
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.2)
    plateau, watched = one.ReduceLROnPlateau(optimizer, factor=0.5, patience=2), []
    for loss in losses:
        plateau.step(loss)
        watched.append({"loss": 1e300 if loss == float("inf") else loss, "rate": optimizer.param_groups[0]["lr"]})
    write("schedules.json", {
        "rate": 0.2, "plateau": watched,
        "cosine": rates(lambda o: one.CosineAnnealingLR(o, T_max=20), 20, 0.2),
        "step 5 0.5": rates(lambda o: one.StepLR(o, step_size=5, gamma=0.5), 20, 0.2),
        "one cycle": rates(lambda o: one.OneCycleLR(o, max_lr=0.2, total_steps=20), 20, 0.2),
        "cosine annealing": rates(lambda o: one.CosineAnnealingLR(o, T_max=7, eta_min=0.05), 40, 0.2),
        "exponential": rates(lambda o: one.ExponentialLR(o, gamma=0.9), 20, 0.2),
        "multi step": rates(lambda o: one.MultiStepLR(o, milestones=[2, 5, 5, 11], gamma=0.5), 20, 0.2),
        "linear": rates(lambda o: one.LinearLR(o, start_factor=0.25, end_factor=0.75, total_iters=8), 20, 0.2),
    })


def lbfgs():
    """Losses of steps of LBFGS, and the parameters after them."""
    features, targets = short_inputs(12, 3), short_inputs(12)

    def rosenbrock(x):
        return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()

    def logistic(x):
        return F.binary_cross_entropy_with_logits(features @ x, (targets > 0).double()) + 0.05 * (x**2).sum()

    def quadratic(x):
        return (torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64) * (x - 1) ** 2).sum()

    cases = []
    for name, loss, options in (
        ("quadratic", quadratic, dict(lr=1.0)),
        ("quadratic", quadratic, dict(lr=1.0, line_search_fn="strong_wolfe")),
        ("quadratic", quadratic, dict(lr=0.5, history_size=2, max_iter=4)),
        ("logistic", logistic, dict(lr=1.0)),
        ("logistic", logistic, dict(lr=1.0, line_search_fn="strong_wolfe", history_size=3)),
        ("rosenbrock", rosenbrock, dict(lr=1.0, line_search_fn="strong_wolfe")),
        ("rosenbrock", rosenbrock, dict(lr=0.1, line_search_fn="strong_wolfe", max_iter=5)),
        ("rosenbrock", rosenbrock, dict(lr=0.01, max_iter=3)),
        ("rosenbrock", rosenbrock, dict(lr=1.0, line_search_fn="strong_wolfe", tolerance_grad=0.5, tolerance_change=0.01)),
    ):
        x = torch.nn.Parameter(torch.tensor([-1.5, 2.0, 0.5], dtype=torch.float64))
        optimizer, losses, after = torch.optim.LBFGS([x], **options), [], []
        calls = 0

        def closure():
            nonlocal calls
            calls += 1
            optimizer.zero_grad()
            y = loss(x)
            y.backward()
            return y

        for _ in range(4):
            losses.append(optimizer.step(closure).item())
            after.append(flat(x))
        cases.append({
            "loss": name, "rate": options["lr"], "wolfe": "line_search_fn" in options, "history": options.get("history_size", 100),
            "iterations": options.get("max_iter", 20), "gradient": options.get("tolerance_grad", 1e-7), "change": options.get("tolerance_change", 1e-9),
            "losses": losses, "after": after, "calls": calls,
        })
    write("lbfgs.json", {"features": flat(features), "targets": flat(targets), "cases": cases}, indent=None)


def scaler():
    """GradScaler's scale, and a parameter that SGD changes, as gradients overflow."""
    grad_scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter], lr=1 / 1024)
    steps, scale, changes, parameters = 4100, grad_scaler.get_scale(), [], []
    overflows = {0: "inf", 1: "inf", 5: "nan", 1999: "inf", 4010: "nan"}
    for step in range(steps):
        optimizer.zero_grad()
        grad_scaler.scale(parameter.sum() * float(overflows.get(step, 0.5))).backward()
        grad_scaler.step(optimizer)
        grad_scaler.update()
        if grad_scaler.get_scale() != scale:
            scale = grad_scaler.get_scale()
            changes.append({"after": step, "scale": scale})
        if step % 100 == 0:
            parameters.append(parameter.item())
    write("scaler.json", {"steps": steps, "overflows": overflows, "changes": changes, "every100": parameters})


def layers():
    """Outputs and gradients of single layers for a loss of sum(output * weight)."""
    out = {}
    x0 = inputs(4, 6, scale=2.0)
    weight = inputs(4, 6)
    gamma, beta = inputs(6), inputs(6)
    functions = {
        "relu": F.relu,
        "gelu": F.gelu,
        "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "layer norm": lambda x: F.layer_norm(x, (6,), gamma, beta, 1e-5),
        "softmax": lambda x: F.softmax(x, -1),
    }
    for name, function in functions.items():
        x = x0.clone().requires_grad_()
        y = function(x)
        (y * weight).sum().backward()
        out[name] = {"y": flat(y), "dx": flat(x.grad)}
    labels = torch.tensor([3, 0, 5, 1])
    target = inputs(4, 6)
    for name, loss in {
        "cross entropy": lambda x: F.cross_entropy(x, labels),
        "mse": lambda x: F.mse_loss(x, target),
    }.items():
        x = x0.clone().requires_grad_()
        y = loss(x)
        y.backward()
        out[name] = {"y": [y.item()], "dx": flat(x.grad)}
    write("layers.json", {
        "shape": [4, 6], "x": flat(x0), "weight": flat(weight), "gamma": flat(gamma), "beta": flat(beta),
        "labels": labels.tolist(), "target": flat(target), "layers": out,
    })


def model():
    """A whole model: its output, named gradients, and the losses of ten steps."""
    sizes = [(7, 5), (5, 3)]
    w = [inputs(b, a, scale=0.5) for a, b in sizes]  # [out, in], as nn.Linear has them
    b = [inputs(b, scale=0.1) for _, b in sizes]
    x, labels = inputs(8, 7), torch.randint(0, 3, (8,))
    parameters = [torch.nn.Parameter(t.clone()) for pair in zip(w, b) for t in pair]
    names = ["0.weight", "0.bias", "2.weight", "2.bias"]

    def forward():
        h = F.relu(F.linear(x, parameters[0], parameters[1]))
        return F.linear(h, parameters[2], parameters[3])

    content = {"x": flat(x), "x_shape": [8, 7], "labels": labels.tolist(),
               "parameters": {n: {"shape": list(p.shape), "start": flat(p)} for n, p in zip(names, parameters)}}
    content["output"] = flat(forward())
    F.cross_entropy(forward(), labels).backward()
    for name, parameter in zip(names, parameters):
        content["parameters"][name]["gradient"] = flat(parameter.grad)
    optimizer = torch.optim.AdamW(parameters, lr=0.05, weight_decay=0.01)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    content["losses"] = losses
    for name, parameter in zip(names, parameters):
        content["parameters"][name]["after"] = flat(parameter)
    write("model.json", content)


def modules():
    """Layers with parameters: outputs and gradients for a loss of sum(output * weight)."""
    nn = torch.nn
    image = (2, 4, 6, 5)

    def attention(causal):
        layer = nn.MultiheadAttention(6, 2, batch_first=True)

        def forward(x):
            t = x.shape[1]
            mask = torch.triu(torch.ones(t, t, dtype=torch.bool), 1) if causal else None
            return layer(x, x, x, attn_mask=mask, need_weights=False)[0]

        return layer, forward

    class Position(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(5, 6))

        def forward(self, x):
            return x + self.weight[: x.shape[1]]

    cases = {
        "conv": (nn.Conv2d(4, 6, 3), image),
        "conv same": (nn.Conv2d(4, 3, 3, padding="same"), image),
        "conv stride": (nn.Conv2d(4, 2, 3, stride=2, padding=1, bias=False), image),
        "conv groups": (nn.Conv2d(4, 6, 2, groups=2, dilation=2), image),
        "conv depthwise": (nn.Conv2d(4, 4, 3, groups=4, padding=1), image),
        "max pool": (nn.MaxPool2d(2), image),
        "max pool stride": (nn.MaxPool2d(3, stride=2, padding=1), image),
        "avg pool": (nn.AvgPool2d(2, padding=1), image),
        "batch norm": (nn.BatchNorm2d(4), image),
        "batch norm rows": (nn.BatchNorm1d(4), (8, 4)),
        "layer norm": (nn.LayerNorm(6), (3, 4, 6)),
        "rms norm": (nn.RMSNorm(6, eps=1e-5), (3, 4, 6)),
        "attention": (*attention(False), (2, 4, 6)),
        "causal attention": (*attention(True), (2, 4, 6)),
        "positions": (Position(), (2, 4, 6)),
        "embedding": (nn.Embedding(7, 3), None),
    }
    write("modules.json", {"modules": compute_modules(cases)}, indent=None)


def more_modules():
    """The same for layers that were added later."""
    nn = torch.nn
    image = (2, 4, 6, 5)
    modules = compute_modules({
        "group norm": (nn.GroupNorm(2, 4), image),
        "group norm rows": (nn.GroupNorm(2, 6), (3, 6)),
        "instance norm": (nn.InstanceNorm2d(4), image),
        "silu": (nn.SiLU(), image),
        "leaky relu": (nn.LeakyReLU(0.1), image),
        "elu": (nn.ELU(1.5), image),
        "gelu tanh": (nn.GELU(approximate="tanh"), image),
        "layer norm epsilon": (nn.LayerNorm(6, eps=0.1), (3, 6)),
    })
    modules |= compute_modules({
        "identity": (nn.Identity(), (3, 6)),
        "softplus": (nn.Softplus(), image),
        "softmax": (nn.Softmax(-1), (3, 6)),
        "softmax of channels": (nn.Softmax(1), image),
        "log softmax": (nn.LogSoftmax(-1), (3, 6)),
        "prelu": (nn.PReLU(), image),
        "prelu of channels": (nn.PReLU(4), image),
        "adaptive pool": (nn.AdaptiveAvgPool2d((3, 5)), image),
        "adaptive pool, uneven": (nn.AdaptiveAvgPool2d((4, 3)), image),
        "adaptive pool, larger": (nn.AdaptiveAvgPool2d((7, 11)), image),
        "adaptive pool of one": (nn.AdaptiveAvgPool2d((1, 1)), image),
        "pixel shuffle": (nn.PixelShuffle(2), (2, 12, 3, 2)),
        "pixel shuffle of 1": (nn.PixelShuffle(1), image),
        "bag": (nn.EmbeddingBag(7, 3), None),
        "bag, sum": (nn.EmbeddingBag(7, 3, mode="sum"), None),
        "bag, max": (nn.EmbeddingBag(7, 3, mode="max"), None),
        "bag, padding": (nn.EmbeddingBag(7, 3, padding_idx=1), None),
        "bag, sum, padding": (nn.EmbeddingBag(7, 3, mode="sum", padding_idx=1), None),
        "bag, max, padding": (nn.EmbeddingBag(7, 3, mode="max", padding_idx=1), None),
    })
    write("more_modules.json", {"modules": modules}, indent=None)


def convolutions():
    """Convolutions over one and three dimensions, transposed ones, and upsampling."""
    nn = torch.nn
    sequence, image, volume = (2, 4, 7), (2, 4, 4, 3), (2, 4, 4, 3, 3)
    write("convolutions.json", {"modules": compute_modules({
        "conv1d": (nn.Conv1d(4, 6, 3, stride=2, padding=1), sequence),
        "conv1d groups": (nn.Conv1d(4, 6, 3, groups=2, dilation=2, padding="same", bias=False), sequence),
        "conv3d": (nn.Conv3d(4, 3, 2), volume),
        "conv3d all": (nn.Conv3d(4, 6, 3, stride=2, padding=1, groups=2), volume),
        "conv3d dilation": (nn.Conv3d(4, 2, 2, dilation=2, padding=1, bias=False), volume),
        "transpose1d": (nn.ConvTranspose1d(4, 3, 4, stride=2, padding=1), sequence),
        "transpose2d": (nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), image),
        "nearest": (nn.Upsample(scale_factor=2), image),
        "nearest sequence": (nn.Upsample(scale_factor=3), sequence),
        "bilinear": (nn.Upsample(scale_factor=2, mode="bilinear"), image),
        "bilinear 3": (nn.Upsample(scale_factor=3, mode="bilinear"), image),
    }, short_inputs, short)}, indent=None)


def transformers():
    """Layers of transformers with masks: outputs and gradients for a loss of sum(output * weight)."""
    nn = torch.nn
    width, heads = 8, 2
    x0, memory0 = short_inputs(2, 4, width), short_inputs(2, 5, width)
    lengths, memory_lengths = [4, 2], [3, 5]

    def padding(lengths, t):
        return torch.arange(t)[None, :] >= torch.tensor(lengths)[:, None]

    causal = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
    options = {"dim_feedforward": 6, "batch_first": True, "dropout": 0.0}
    cases = {
        "cross attention": (nn.MultiheadAttention(width, heads, batch_first=True), lambda l, x, m: l(x, m, m, key_padding_mask=padding(memory_lengths, 5), average_attn_weights=False)),
        "masked attention": (nn.MultiheadAttention(width, heads, batch_first=True), lambda l, x, m: l(x, x, x, attn_mask=causal, key_padding_mask=padding(lengths, 4), average_attn_weights=False)),
        "encoder": (nn.TransformerEncoderLayer(width, heads, **options), lambda l, x, m: l(x)),
        "encoder padding": (nn.TransformerEncoderLayer(width, heads, activation="gelu", norm_first=True, **options), lambda l, x, m: l(x, src_key_padding_mask=padding(lengths, 4))),
        "decoder": (nn.TransformerDecoderLayer(width, heads, **options), lambda l, x, m: l(x, m, tgt_mask=causal)),
        "decoder padding": (nn.TransformerDecoderLayer(width, heads, activation="gelu", norm_first=True, **options), lambda l, x, m: l(x, m, tgt_mask=causal, memory_key_padding_mask=padding(memory_lengths, 5))),
    }
    out = {}
    for name, (layer, forward) in cases.items():
        layer = layer.double()
        parameters = dict(layer.named_parameters())
        for p in parameters.values():
            p.data = short_inputs(*p.shape, scale=0.5)
        x, memory = x0.clone().requires_grad_(), memory0.clone().requires_grad_()
        y, weights = forward(layer, x, memory), None
        if isinstance(y, tuple):
            y, weights = y
        weight = short_inputs(*y.shape)
        (y * weight).sum().backward()
        out[name] = {
            "parameters": {n: {"shape": list(p.shape), "data": flat(p), "gradient": short(p.grad)} for n, p in parameters.items()},
            "y": short(y), "weight": flat(weight), "dx": short(x.grad), "dmemory": short(memory.grad) if memory.grad is not None else None,
            "attention": short(weights) if weights is not None else None,
        }
    write("transformers.json", {"x": flat(x0), "memory": flat(memory0), "lengths": lengths, "memory_lengths": memory_lengths, "cases": out}, indent=None)


def initial():
    """Statistics of the initial values of each parameter of each layer, which tests compare with ours."""
    nn = torch.nn
    width, out = 64, 1024
    cases = {
        "linear": nn.Linear(width, out),
        "conv1d": nn.Conv1d(16, out, 5),
        "conv2d": nn.Conv2d(16, out, 3),
        "conv2d groups": nn.Conv2d(16, out, 3, groups=4),
        "conv3d": nn.Conv3d(4, out, 3),
        "transpose1d": nn.ConvTranspose1d(16, out, 4),
        "transpose2d": nn.ConvTranspose2d(16, out, 3),
        "embedding": nn.Embedding(out, width),
        "layer norm": nn.LayerNorm(width),
        "rms norm": nn.RMSNorm(width),
        "group norm": nn.GroupNorm(4, width),
        "batch norm": nn.BatchNorm2d(width),
        "instance norm": nn.InstanceNorm2d(width),
        "rnn": nn.RNN(width, 256, num_layers=2, batch_first=True),
        "lstm": nn.LSTM(width, 256, bidirectional=True, batch_first=True),
        "gru": nn.GRU(width, 256, batch_first=True),
        "attention": nn.MultiheadAttention(256, 4, batch_first=True),
        "encoder": nn.TransformerEncoderLayer(256, 4, dim_feedforward=out, batch_first=True),
        "decoder": nn.TransformerDecoderLayer(256, 4, dim_feedforward=out, batch_first=True),
        "prelu": nn.PReLU(),
        "prelu of channels": nn.PReLU(width),
        "bag": nn.EmbeddingBag(1024, width),
    }
    out = {}
    for name, layer in cases.items():
        out[name] = {n: {"shape": list(p.shape), "mean": p.mean().item(), "deviation": p.std().item() if p.numel() > 1 else 0.0, "largest": p.abs().max().item()} for n, p in layer.named_parameters()}
    write("initial.json", {"layers": out})


def compute_modules(cases, inputs=inputs, flat=flat):
    """Outputs and gradients of layers, by name; the shape of the input comes last."""
    out = {}
    for name, (layer, *forward, shape) in cases.items():
        layer = layer.double()
        forward = forward[0] if forward else layer
        parameters = dict(layer.named_parameters())
        for p in parameters.values():
            p.data = inputs(*p.shape, scale=0.5)
        case = {"parameters": {n: {"shape": list(p.shape), "data": flat(p)} for n, p in parameters.items()}}
        if shape is None:
            x = torch.tensor([[1, 6, 1], [0, 3, 1]])
            y = forward(x)
        else:
            x = inputs(*shape).requires_grad_()
            y = forward(x)
        weight = inputs(*y.shape)
        (y * weight).sum().backward()
        case |= {"shape": list(x.shape), "x": flat(x), "weight": flat(weight), "out": list(y.shape), "y": flat(y)}
        if shape is not None:
            case["dx"] = flat(x.grad)
        for n, p in parameters.items():
            case["parameters"][n]["gradient"] = flat(p.grad)
        running = {n: flat(b) for n, b in layer.named_buffers() if b.dtype.is_floating_point}
        if running:
            layer.eval()
            case |= {"running": running, "evaluated": flat(layer(x))}
        out[name] = case
    return out


def training():
    """The losses of ten steps of a small CNN and of a GPT, and of an MLP with each optimizer and schedule."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, *layers):
            super().__init__()
            for i, layer in enumerate(layers):
                self.add_module(str(i), layer)

        def forward(self, x):
            y = x
            for layer in self.children():
                if isinstance(layer, nn.MultiheadAttention):
                    t = y.shape[1]
                    y = layer(y, y, y, attn_mask=torch.triu(torch.ones(t, t, dtype=torch.bool), 1), need_weights=False)[0]
                else:
                    y = layer(y)
            return x + y

    class Position(nn.Module):
        def __init__(self, length, width):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(length, width))

        def forward(self, x):
            return x + self.weight[: x.shape[1]]

    def cnn():
        return nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(24, 3))

    def gpt():
        return nn.Sequential(
            nn.Embedding(9, 8), Position(6, 8),
            Block(nn.LayerNorm(8), nn.MultiheadAttention(8, 2, batch_first=True)),
            Block(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)),
            nn.LayerNorm(8), nn.Linear(8, 9))

    def mlp():
        return nn.Sequential(nn.Linear(7, 6), nn.GELU(), nn.Linear(6, 3))

    o, s = torch.optim, torch.optim.lr_scheduler
    makers = {
        "cnn adamw": (cnn, lambda p: o.AdamW(p, lr=0.01), None),
        "gpt adamw": (gpt, lambda p: o.AdamW(p, lr=0.01), None),
        "mlp sgd": (mlp, lambda p: o.SGD(p, lr=0.1), None),
        "mlp momentum": (mlp, lambda p: o.SGD(p, lr=0.1, momentum=0.9), None),
        "mlp nesterov": (mlp, lambda p: o.SGD(p, lr=0.1, momentum=0.9, nesterov=True), None),
        "mlp adam": (mlp, lambda p: o.Adam(p, lr=0.02), None),
        "mlp lamb": (mlp, lambda p: LAMB(p, lr=0.02), None),
        "mlp cosine": (mlp, lambda p: o.SGD(p, lr=0.2), lambda opt: s.CosineAnnealingLR(opt, T_max=10)),
        "mlp one cycle": (mlp, lambda p: o.SGD(p, lr=0.2, momentum=0.9), lambda opt: s.OneCycleLR(opt, max_lr=0.2, total_steps=10, cycle_momentum=False)),
        "mlp step": (mlp, lambda p: o.SGD(p, lr=0.2), lambda opt: s.StepLR(opt, step_size=3, gamma=0.5)),
    }
    out = {}
    for name, (make, optimizer, schedule) in makers.items():
        net = make().double()
        parameters = dict(net.named_parameters())
        for p in parameters.values():
            p.data = inputs(*p.shape, scale=0.4)
        start = {n: {"shape": list(p.shape), "data": flat(p)} for n, p in parameters.items()}
        if make is gpt:
            x, labels = torch.randint(0, 9, (4, 6)), torch.randint(0, 9, (4, 6))
        else:
            x = inputs(5, 1, 8, 8) if make is cnn else inputs(5, 7)
            labels = torch.randint(0, 3, (5,))
        opt = optimizer(net.parameters())
        plan = schedule(opt) if schedule else None
        losses = []
        for _ in range(10):
            opt.zero_grad()
            y = net(x)
            loss = F.cross_entropy(y.reshape(-1, y.shape[-1]), labels.reshape(-1))
            loss.backward()
            opt.step()
            if plan:
                plan.step()
            losses.append(loss.item())
        out[name] = {"shape": list(x.shape), "x": flat(x), "labels": flat(labels), "parameters": start, "losses": losses}
    write("training.json", {"models": out}, indent=None)


def weights():
    """A file of weights in the four float types, and what its model computes."""
    import safetensors.torch

    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    state = net.state_dict()
    for name, dtype in zip(state, (torch.float32, torch.float16, torch.bfloat16, torch.float64)):
        state[name] = state[name].to(dtype)
    net.load_state_dict({n: t.float() for n, t in state.items()})
    x = inputs(5, 4)
    safetensors.torch.save_file(state, HERE / "weights.safetensors")
    write("weights.json", {"x": flat(x), "y": flat(net(x.float()))})


def losses():
    """Losses and their gradients, also for extreme logits."""
    x = inputs(4, 5, scale=3.0)
    extreme = torch.tensor([[1e4, -1e4, 0, 1, 2], [-1e4, -1e4, -1e4, -1e4, 1e4], [0, 0, 0, 0, 0], [50, -50, 88, -88, 3]], dtype=torch.float64)
    sequence = inputs(2, 3, 5, scale=2.0)
    labels, tokens = torch.tensor([3, 0, 4, 1]), torch.tensor([[1, 4, 2], [0, 2, 3]])
    ignored = torch.tensor([3, 2, 4, 2])
    class_weights = torch.tensor([0.5, 2.0, 1.0, 0.25, 3.0], dtype=torch.float64)
    target = inputs(4, 5)
    hard = (inputs(4, 5) > 0).double()
    soft = torch.rand(4, 5).float().double()
    distribution = F.softmax(inputs(4, 5), -1).float().double()
    certain = F.one_hot(labels, 5).double()  # probabilities of 0
    positive, negative = inputs(4, 5, scale=2.0), inputs(4, 5, scale=2.0)
    sides = torch.tensor([1.0, -1.0, -1.0, 1.0], dtype=torch.float64)

    def focal(x, y, gamma, alpha):
        """torchvision.ops.sigmoid_focal_loss with reduction="mean"."""
        p, ce = torch.sigmoid(x), F.binary_cross_entropy_with_logits(x, y, reduction="none")
        loss = ce * (1 - (p * y + (1 - p) * (1 - y))) ** gamma
        if alpha >= 0:
            loss = loss * (alpha * y + (1 - alpha) * (1 - y))
        return loss.mean()

    cases = {
        "bce": (x, lambda x: F.binary_cross_entropy_with_logits(x, hard)),
        "bce soft": (x, lambda x: F.binary_cross_entropy_with_logits(x, soft)),
        "bce extreme": (extreme, lambda x: F.binary_cross_entropy_with_logits(x, hard)),
        "bce positive": (x, lambda x: F.binary_cross_entropy_with_logits(x, hard, pos_weight=class_weights)),
        "bce positive extreme": (extreme, lambda x: F.binary_cross_entropy_with_logits(x, soft, pos_weight=class_weights)),
        "cross entropy": (x, lambda x: F.cross_entropy(x, labels)),
        "cross entropy extreme": (extreme, lambda x: F.cross_entropy(x, labels)),
        "cross entropy sequence": (sequence, lambda x: F.cross_entropy(x.transpose(1, 2), tokens)),
        "smoothing": (x, lambda x: F.cross_entropy(x, labels, label_smoothing=0.1)),
        "smoothing extreme": (extreme, lambda x: F.cross_entropy(x, labels, label_smoothing=0.2)),
        "weights": (x, lambda x: F.cross_entropy(x, labels, weight=class_weights)),
        "ignore": (x, lambda x: F.cross_entropy(x, ignored, ignore_index=2)),
        "all options": (x, lambda x: F.cross_entropy(x, ignored, weight=class_weights, ignore_index=2, label_smoothing=0.3)),
        "all options sequence": (sequence, lambda x: F.cross_entropy(x.transpose(1, 2), tokens, weight=class_weights, ignore_index=4, label_smoothing=0.3)),
        "nll": (F.log_softmax(x, -1).float().double(), lambda x: F.nll_loss(x, labels)),
        "nll weights": (F.log_softmax(x, -1).float().double(), lambda x: F.nll_loss(x, ignored, weight=class_weights, ignore_index=2)),
        "l1": (x, lambda x: F.l1_loss(x, target)),
        "l1 equal": (target, lambda x: F.l1_loss(x, target)),
        "huber": (x, lambda x: F.huber_loss(x, target, delta=1.5)),
        "huber extreme": (extreme, lambda x: F.huber_loss(x, target, delta=0.5)),
        "smooth l1": (x, lambda x: F.smooth_l1_loss(x, target, beta=2.0)),
        "kl": (F.log_softmax(x, -1).float().double(), lambda x: F.kl_div(x, distribution, reduction="batchmean")),
        "kl certain": (F.log_softmax(extreme, -1), lambda x: F.kl_div(x, certain, reduction="batchmean")),
        "focal": (x, lambda x: focal(x, hard, 2.0, 0.25)),
        "focal without alpha": (x, lambda x: focal(x, hard, 1.5, -1)),
        "triplet": (x, lambda x: F.triplet_margin_loss(x, positive, negative, margin=1.0)),
        "cosine": (x, lambda x: F.cosine_embedding_loss(x, target, sides, margin=0.1)),
    }
    out = {}
    for name, (at, loss) in cases.items():
        v = at.clone().requires_grad_()
        y = loss(v)
        y.backward()
        out[name] = {"shape": list(at.shape), "x": flat(at), "y": y.item(), "dx": flat(v.grad)}
    write("losses.json", {
        "labels": labels.tolist(), "tokens": flat(tokens), "ignored": ignored.tolist(), "class_weights": flat(class_weights),
        "target": flat(target), "hard": flat(hard), "soft": flat(soft), "distribution": flat(distribution),
        "certain": flat(certain), "positive": flat(positive), "negative": flat(negative), "sides": flat(sides), "cases": out,
    }, indent=None)


def more_losses():
    """Losses of several inputs: values, and gradients of those that are not integers."""
    images, classes = short_inputs(2, 3, 4, 5, scale=2.0), torch.randint(0, 3, (2, 4, 5))
    volumes, inside = short_inputs(2, 3, 2, 3, 2, scale=2.0), torch.randint(0, 3, (2, 2, 3, 2))
    weight = torch.tensor([0.5, 2.0, 1.0], dtype=torch.float64)
    probabilities = F.softmax(short_inputs(2, 3, 4, 5), 1).float().double()
    mean, target = short_inputs(4, 3, scale=2.0), short_inputs(4, 3)
    variance = torch.tensor([[0.5, 2, 1e-9], [0, 1, 8], [0.125, 1e-3, 4], [2, 1e-6, 3]], dtype=torch.float32).double()
    counts = torch.randint(0, 9, (4, 3)).double()
    order = torch.tensor([[1, -1, 1], [1, 1, -1], [-1, -1, -1], [1, -1, 1]], dtype=torch.float64)
    tied = mean.clone()
    tied[0] = target[0]
    quantiles = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)

    def pinball(q):
        return lambda x, y: (q * (y - x).relu() + (1 - q) * (x - y).relu()).mean()

    def ctc(blank=0, zero_infinity=False):
        def loss(x, labels, steps, lengths):
            return F.ctc_loss(x.log_softmax(-1).transpose(0, 1), labels, steps, lengths, blank=blank, zero_infinity=zero_infinity)
        return loss

    sequences = short_inputs(3, 7, 4, scale=2.0)
    labels = torch.tensor([[1, 2, 3], [2, 2, 1], [3, 3, 3]])
    full, some = torch.tensor([7, 7, 7]), torch.tensor([7, 4, 5])
    three, fewer = torch.tensor([3, 3, 3]), torch.tensor([3, 2, 1])
    long = short_inputs(2, 40, 6, scale=4.0)
    long_labels = torch.randint(1, 6, (2, 12))
    embeddings, people = short_inputs(9, 4), torch.tensor([0, 1, 0, 2, 1, 0, 2, 2, 1])
    lonely = torch.tensor([0, 1, 0, 2, 3, 4, 5, 6, 7])
    student, teacher = short_inputs(4, 5, scale=3.0), short_inputs(4, 5, scale=3.0)

    def batch_hard(margin):
        """Hermans et al., 2017, example by example."""
        def loss(x, classes):
            each = []
            for i in range(len(x)):
                far = [(x[i] - x[j]).norm() for j in range(len(x)) if j != i and classes[j] == classes[i]]
                near = [(x[i] - x[j]).norm() for j in range(len(x)) if classes[j] != classes[i]]
                if far and near:
                    each.append((max(far) - min(near) + margin).relu())
            return torch.stack(each).mean() if each else x.sum() * 0
        return loss

    def distillation(t):
        def loss(s, teacher):
            kl = F.kl_div(F.log_softmax(s / t, -1), F.softmax(teacher.detach() / t, -1), reduction="batchmean")
            return t * t * kl + 0 * teacher.sum()
        return loss

    cases = {
        "batch hard": (batch_hard(0.5), embeddings, people),
        "batch hard, lonely": (batch_hard(0.5), embeddings, lonely),
        "batch hard, one class": (batch_hard(0.5), embeddings, torch.zeros(9, dtype=torch.int64)),
        "distillation": (distillation(1.0), student, teacher),
        "distillation, warm": (distillation(4.0), student, teacher),
        "images": (lambda x, c: F.cross_entropy(x, c), images, classes),
        "images, all options": (lambda x, c: F.cross_entropy(x, c, weight=weight, ignore_index=2, label_smoothing=0.3), images, classes),
        "images, nll": (lambda x, c: F.nll_loss(x, c, weight=weight), images, classes),
        "volumes": (lambda x, c: F.cross_entropy(x, c, label_smoothing=0.1), volumes, inside),
        "images, probabilities": (lambda x, y: F.cross_entropy(x, y, weight=weight, label_smoothing=0.3), images, probabilities),
        "gaussian": (lambda m, y, v: F.gaussian_nll_loss(m, y, v), mean, target, variance),
        "gaussian, one variance": (lambda m, y, v: F.gaussian_nll_loss(m, y, v), mean, target, variance[:, :1].contiguous()),
        "poisson": (lambda x, y: F.poisson_nll_loss(x, y), mean, counts),
        "ranking": (lambda a, b, y: F.margin_ranking_loss(a, b, y), tied, target, order),
        "ranking, margin": (lambda a, b, y: F.margin_ranking_loss(a, b, y, margin=0.5), tied, target, order),
        "quantile": (pinball(0.9), tied, target),
        "quantiles": (pinball(quantiles), mean, target[:, :1].contiguous()),
        "ctc": (ctc(), sequences, labels, full, three),
        "ctc, lengths": (ctc(), sequences, labels, some, fewer),
        "ctc, last blank": (ctc(blank=3), sequences, labels % 3, some, fewer),
        "ctc, no labels": (ctc(), sequences, labels, some, torch.tensor([0, 2, 0])),
        "ctc, zero infinity": (ctc(zero_infinity=True), sequences, labels, torch.tensor([2, 4, 5]), three),
        "ctc, one position": (ctc(), sequences[:, :1].contiguous(), labels[:, :1].contiguous(), torch.ones(3, dtype=torch.long), torch.tensor([1, 1, 0])),
        "ctc, long": (ctc(), long, long_labels, torch.tensor([40, 31]), torch.tensor([12, 9])),
    }
    out = {}
    for name, (loss, *given) in cases.items():
        given = [t.clone().requires_grad_() if t.is_floating_point() else t for t in given]
        y = loss(*given)
        y.backward()
        out[name] = {"y": y.item(), "inputs": [
            {"shape": list(t.shape), "data": flat(t), **({"gradient": flat(t.grad)} if t.is_floating_point() else {"integers": True})} for t in given
        ]}
    write("more_losses.json", {"cases": out}, indent=None)


def recurrent():
    """RNN, LSTM and GRU: outputs, final states and gradients for a loss of sum(output * weight) over all of them."""
    nn = torch.nn
    n, steps, width, hidden = 3, 5, 4, 6
    two = {"num_layers": 2, "bidirectional": True}
    makers = {
        "rnn": (nn.RNN, {}, False, False),
        "rnn relu": (nn.RNN, {"nonlinearity": "relu"}, True, False),
        "rnn all": (nn.RNN, two, True, True),
        "lstm": (nn.LSTM, {}, False, False),
        "lstm no bias": (nn.LSTM, {"bias": False}, True, False),
        "lstm reverse": (nn.LSTM, {"bidirectional": True}, True, False),
        "lstm lengths": (nn.LSTM, {}, False, True),
        "lstm all": (nn.LSTM, two, True, True),
        "gru": (nn.GRU, {}, False, False),
        "gru no bias": (nn.GRU, {"bias": False}, True, False),
        "gru reverse": (nn.GRU, {"bidirectional": True}, True, False),
        "gru lengths": (nn.GRU, {}, False, True),
        "gru all": (nn.GRU, two, True, True),
    }
    out = {}
    for name, (make, options, start, padded) in makers.items():
        layer = make(width, hidden, batch_first=True, **options).double()
        parameters = dict(layer.named_parameters())
        for p in parameters.values():
            p.data = inputs(*p.shape, scale=0.5)
        x = inputs(n, steps, width).requires_grad_()
        lengths = [3, 5, 1] if padded else None
        count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
        states = [inputs(count, n, hidden).requires_grad_() for _ in range(2 if make is nn.LSTM else 1)] if start else []
        before = tuple(states) if len(states) == 2 else states[0] if states else None
        if padded:
            packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
            y, final = layer(packed, before)
            y, _ = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=steps)
        else:
            y, final = layer(x, before)
        results = [y, *(final if make is nn.LSTM else (final,))]
        weights = [inputs(*r.shape) for r in results]
        sum((r * w).sum() for r, w in zip(results, weights)).backward()

        def tensor(t):
            return {"shape": list(t.shape), "data": flat(t)} | ({"gradient": flat(t.grad)} if t.grad is not None else {})

        out[name] = {
            "x": tensor(x), "lengths": lengths, "start": [tensor(s) for s in states],
            "parameters": {k: tensor(p) for k, p in parameters.items()},
            "results": [{"shape": list(r.shape), "data": flat(r)} for r in results], "weights": [tensor(w) for w in weights],
        }
    write("recurrent.json", {"cases": out}, indent=None)


PARTS = (optimizers, tiny, schedules, lbfgs, scaler, layers, model, modules, more_modules, convolutions, transformers, initial, training, weights, losses, more_losses, recurrent)
for part in PARTS:
    if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
        torch.manual_seed(20261120)
        part()
