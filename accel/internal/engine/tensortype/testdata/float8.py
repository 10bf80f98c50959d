"""Writes float8.txt beside it: conversions to 8-bit floats by PyTorch.

For each type: the 256 values as float32, and the SHA-256 of the results of converting
all float32 values whose lower 12 bits are 0, 1, 0x7ff, 0x800, 0x801 or 0xfff and whose
exponent is in range, in the order of their bits, clamped first as in a saturating
conversion. NaN is 0x7f, whatever its sign.

    python3 float8.py        (PyTorch 2.15)
"""

import hashlib
import pathlib

import torch

low = torch.tensor([0, 1, 0x7FF, 0x800, 0x801, 0xFFF], dtype=torch.int64)
exponents = [0, 1, 2, *range(100, 150), 254, 255]
high = torch.tensor([s << 19 | e << 11 | f for s in (0, 1) for e in exponents for f in range(1 << 11)], dtype=torch.int64)
bits = (high[:, None] << 12 | low[None, :]).reshape(-1)
x = bits.to(torch.uint32).view(torch.float32)
lines = []
for name, dtype in (("float8_e4m3", torch.float8_e4m3fn), ("float8_e5m2", torch.float8_e5m2)):
    most = torch.finfo(dtype).max
    codes = torch.arange(256, dtype=torch.int64).to(torch.uint8).view(dtype).to(torch.float32)
    lines.append(f"{name} numbers " + " ".join(repr(v) for v in codes.tolist()))
    rounded = x.clamp(-most, most).to(dtype).view(torch.uint8)
    rounded[torch.isnan(x)] = 0x7F
    lines.append(f"{name} rounded {len(x)} {hashlib.sha256(rounded.numpy().tobytes()).hexdigest()}")
pathlib.Path(__file__).with_name("float8.txt").write_text("\n".join(lines) + "\n")
