#!/usr/bin/env python3
"""Makes the golden files of accel/optim and accel/nn with PyTorch, in float64.

usage: pip install torch safetensors && python3 make_golden.py

The tests read the JSON files and need no Python. Inputs are float32 numbers, so
that Go and Python start from the same values; every reference is computed in
float64 and the tests say how far float32 may be from it. The files name the
version of PyTorch that made them.
"""
import json
import pathlib

import safetensors.torch
import torch
import torch.nn.functional as F

torch.manual_seed(20261120)
HERE = pathlib.Path(__file__).parent


def inputs(*shape, scale=1.0):
    """Random float32 values, held as float64."""
    return (torch.randn(*shape) * scale).float().double()


def flat(t):
    return t.detach().reshape(-1).tolist()


def write(name, content):
    content = {"torch": torch.__version__, **content}
    (HERE / name).write_text(json.dumps(content, indent=1) + "\n")


def optimizers():
    """Parameters of shape [2, 3] after each of six steps with given gradients."""
    start = inputs(2, 3)
    gradients = [inputs(2, 3, scale=2.0) for _ in range(6)]
    makers = {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
        "sgd weight decay": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.05),
        "sgd momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
        "sgd nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        "sgd nesterov weight decay": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.8, nesterov=True, weight_decay=0.05),
        "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.01),
        "adamw no decay": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.0),
        "adamw betas": lambda p: torch.optim.AdamW(p, lr=0.05, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
        "adamw schedule": lambda p: torch.optim.AdamW(p, lr=0.05, weight_decay=0.1),
    }
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

    clips = []
    for limit in (0.5, 100.0):
        a, b = torch.nn.Parameter(inputs(3)), torch.nn.Parameter(inputs(2, 2))
        a.grad, b.grad = inputs(3), inputs(2, 2)
        case = {"limit": limit, "a": flat(a.grad), "b": flat(b.grad)}
        case["norm"] = torch.nn.utils.clip_grad_norm_([a, b], limit).item()
        case["clipped_a"], case["clipped_b"] = flat(a.grad), flat(b.grad)
        clips.append(case)
    write("optimizers.json", {
        "shape": [2, 3], "start": flat(start), "gradients": [flat(g) for g in gradients],
        "runs": runs, "clips": clips,
    })


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
    write("schedules.json", {
        "rate": 0.2,
        "cosine": rates(lambda o: one.CosineAnnealingLR(o, T_max=20), 20, 0.2),
        "step 5 0.5": rates(lambda o: one.StepLR(o, step_size=5, gamma=0.5), 20, 0.2),
        "one cycle": rates(lambda o: one.OneCycleLR(o, max_lr=0.2, total_steps=20), 20, 0.2),
    })


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
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    state = net.state_dict()
    for name, dtype in zip(state, (torch.float32, torch.float16, torch.bfloat16, torch.float64)):
        state[name] = state[name].to(dtype)
    net.load_state_dict({n: t.float() for n, t in state.items()})
    x = inputs(5, 4)
    safetensors.torch.save_file(state, HERE / "weights.safetensors")
    write("weights.json", {"x": flat(x), "y": flat(net(x.float()))})


optimizers()
schedules()
layers()
model()
weights()
