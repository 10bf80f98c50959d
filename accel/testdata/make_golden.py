#!/usr/bin/env python3
"""Makes the golden files of accel/optim and accel/nn with PyTorch, in float64.

usage: pip install torch safetensors && python3 make_golden.py [part…]

Without a part all files are made; a part is the name of a function below.

The tests read the JSON files and need no Python. Inputs are float32 numbers, so
that Go and Python start from the same values; every reference is computed in
float64 and the tests say how far float32 may be from it. The files name the
version of PyTorch that made them.
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


def write(name, content):
    content = {"torch": torch.__version__, **content}
    (HERE / name).write_text(json.dumps(content, indent=1) + "\n")


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
        clips.append(case)
    write("optimizers.json", {"cases": cases, "clips": clips})


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
    })


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


PARTS = (optimizers, schedules, scaler, layers, model, weights)
for part in PARTS:
    if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
        torch.manual_seed(20261120)
        part()
