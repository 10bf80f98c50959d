# Writes golden.json: results of PyTorch's quantized linear and conv2d (x86 engine).
# Run with torch 2.15: python make_golden.py
import json, os
import torch

torch.backends.quantized.engine = "x86"
torch.manual_seed(1)
cases = []


def case(name, x, w, b, relu, **window):
    least = min(float(x.min()), 0.0)
    scale = (float(x.max()) - least) / 255
    zero = round(-least / scale)
    qx = torch.quantize_per_tensor(x, scale, zero, torch.quint8)
    steps = w.abs().amax(dim=tuple(range(1, w.dim()))) / 127
    qw = torch.quantize_per_channel(w, steps.double(), torch.zeros(len(steps), dtype=torch.long), 0, torch.qint8)
    y = torch.nn.functional.linear(qx.dequantize(), qw.dequantize(), b) if not window else \
        torch.nn.functional.conv2d(qx.dequantize(), qw.dequantize(), b, window["stride"], window["padding"], window["dilation"], window["groups"])
    if relu:
        y = y.relu()
    out_scale = float((y.max() - min(y.min(), 0)) / 255)
    out_zero = int(torch.round(-min(y.min(), torch.tensor(0.0)) / out_scale))
    ops = torch.ops.quantized
    if not window:
        packed = ops.linear_prepack(qw, b)
        out = (ops.linear_relu if relu else ops.linear)(qx, packed, out_scale, out_zero)
    else:
        packed = ops.conv2d_prepack(qw, b, window["stride"], window["padding"], window["dilation"], window["groups"])
        out = (ops.conv2d_relu if relu else ops.conv2d)(qx, packed, out_scale, out_zero)
    cases.append({
        "name": name, "shape": list(x.shape), "x": qx.dequantize().flatten().tolist(), "scale": scale, "zero": zero,
        "weight_shape": list(w.shape), "weight": qw.int_repr().flatten().tolist(), "steps": steps.tolist(), "bias": b.tolist(), "relu": relu,
        "window": window, "out_scale": out_scale, "out": out.dequantize().contiguous().flatten().tolist(),
    })


case("linear", torch.randn(5, 19), torch.randn(7, 19), torch.randn(7), False)
case("linear relu", torch.rand(3, 40), torch.randn(10, 40), torch.randn(10), True)
for name, shape, out, kernel, stride, padding, dilation, groups, relu in [
    ("convolution", (2, 3, 7, 6), 4, 3, 1, 1, 1, 1, True),
    ("stride, dilation", (1, 2, 9, 9), 3, 3, 2, 2, 2, 1, False),
    ("groups", (1, 4, 6, 6), 8, 3, 1, 1, 1, 2, False),
    ("depthwise", (1, 8, 6, 6), 8, 3, 1, 1, 1, 8, True),
    ("points", (2, 5, 3, 3), 6, 1, 1, 0, 1, 1, False),
]:
    case(name, torch.randn(*shape), torch.randn(out, shape[1] // groups, kernel, kernel), torch.randn(out), relu,
         stride=[stride] * 2, padding=[padding] * 2, dilation=[dilation] * 2, groups=groups)


def short(v):
    return [float(f"{x:.9g}") for x in v]


for c in cases:
    for key in ("x", "steps", "bias", "out"):
        c[key] = short(c[key])
with open(os.path.join(os.path.dirname(__file__), "golden.json"), "w") as f:
    json.dump({"torch": torch.__version__, "cases": cases}, f)
