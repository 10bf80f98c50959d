#!/usr/bin/env python3
"""Makes autocast.json: the lists of ops that PyTorch's autocast casts on a GPU, and ten losses of a training with autocast.

usage: pip install torch && python3 make_autocast.py

The lists are read from the header ATen/autocast_mode.h that comes with PyTorch.
The training casts explicitly, because autocast on the CPU has different lists: each
matrix multiplication gets bfloat16, and each op of the float32 list gets float32, as
autocast on a GPU would do.
"""
import json
import pathlib
import re

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).parent
header = pathlib.Path(torch.__file__).parent / "include/ATen/autocast_mode.h"


def lists():
    text = header.read_text()
    out = {}
    for key, macros in {
        "lower": ["AT_FORALL_LOWER_PRECISION_FP"],
        "float32": ["AT_FORALL_FP32", "AT_FORALL_FP32_SET_OPT_DTYPE", "AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE"],
        "promote": ["AT_FORALL_PROMOTE"],
    }.items():
        names = set()
        for macro in macros:
            body = re.search(r"#define %s\(_\)(.*?)(?<!\\)\n" % macro, text, re.S).group(1)
            names |= set(re.findall(r"_\((?:ADD_NS\()?(\w+)", body))
        out[key] = sorted(names)
    # autocast_mode.cpp has separate kernels for these two, which promote.
    out["promote"] = sorted(out["promote"] + ["cat", "stack"])
    return out


def training():
    """A GPT block with a causal attention, an embedding, and SGD."""
    torch.manual_seed(5)
    n, t, width, vocab, heads = 3, 5, 8, 7, 2
    shapes = {
        "0.weight": (vocab, width),
        "1.layers.0.weight": (width,), "1.layers.0.bias": (width,),
        "1.layers.1.in_proj_weight": (3 * width, width), "1.layers.1.in_proj_bias": (3 * width,),
        "1.layers.1.out_proj.weight": (width, width), "1.layers.1.out_proj.bias": (width,),
        "2.layers.0.weight": (width,), "2.layers.0.bias": (width,),
        "2.layers.1.weight": (4 * width, width), "2.layers.1.bias": (4 * width,),
        "2.layers.3.weight": (width, 4 * width), "2.layers.3.bias": (width,),
        "3.weight": (vocab, width), "3.bias": (vocab,),
    }
    p = {}
    for name, shape in shapes.items():
        scale = 1 / shape[-1] ** 0.5 if len(shape) == 2 else 0.3
        p[name] = (torch.randn(shape) * scale + (1 if name.endswith("0.weight") and len(shape) == 1 else 0)).requires_grad_()
    start = {k: {"Shape": list(v.shape), "Data": v.detach().double().reshape(-1).tolist()} for k, v in p.items()}
    x, y = torch.randint(vocab, (n, t)), torch.randint(vocab, (n * t,))
    short = torch.bfloat16

    def linear(v, name, weight="weight", bias="bias"):
        return F.linear(v.to(short), p[f"{name}{weight}"].to(short), p[f"{name}{bias}"].to(short))

    def norm(v, name):
        return F.layer_norm(v.float(), (width,), p[name + "weight"], p[name + "bias"])

    losses = []
    for _ in range(10):
        h = p["0.weight"][x]
        q, k, v = (z.reshape(n, t, heads, -1).transpose(1, 2) for z in linear(norm(h, "1.layers.0."), "1.layers.1.", "in_proj_weight", "in_proj_bias").chunk(3, -1))
        # Fused kernels keep scores and probabilities in float32; those of the CPU do not.
        a = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True).to(short)
        h = h + linear(a.transpose(1, 2).reshape(n, t, width), "1.layers.1.out_proj.")
        h = h + linear(F.gelu(linear(norm(h, "2.layers.0."), "2.layers.1.")), "2.layers.3.")
        loss = F.cross_entropy(linear(h, "3.").float().reshape(-1, vocab), y)
        grads = torch.autograd.grad(loss, list(p.values()))
        with torch.no_grad():
            for v, g in zip(p.values(), grads):
                v -= 0.1 * g
        losses.append(loss.item())
    return {"X": x.reshape(-1).tolist(), "Y": y.tolist(), "Shape": [n, t], "Parameters": start, "Losses": losses}


if __name__ == "__main__":
    content = {"torch": torch.__version__, "lists": lists(), "training": training()}
    (HERE / "autocast.json").write_text(json.dumps(content, indent=1) + "\n")
