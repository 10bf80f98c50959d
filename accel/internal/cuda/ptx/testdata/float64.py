"""Writes float64.txt beside it: float64 arguments of functions and the results that mpmath
computes with 400 bits, rounded once. Each line is a function, its arguments and the result, as
hexadecimal floats.

    python3 float64.py        (mpmath 1.3)
"""

import math
import pathlib
import random
import struct

import mpmath as mp

mp.mp.prec = 400
random.seed(1)
sqrt2, one, half = mp.sqrt(2), mp.mpf(1), mp.mpf("0.5")


def normal(x):
    return mp.erfc(-x / sqrt2) / 2


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


functions = {
    "Exp": (mp.exp, lambda: random.uniform(-746, 710)),
    "Log": (mp.log, lambda: random.choice([random.uniform(0.5, 2), math.ldexp(random.random() + 0.1, random.randint(-1070, 1020))])),
    "Tanh": (mp.tanh, lambda: random.choice([random.gauss(0, 1), random.uniform(-22, 22), random.gauss(0, 1e-5)])),
    "Sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), lambda: random.choice([random.gauss(0, 2), random.uniform(-740, 740)])),
    "SiLU": (lambda x: x / (1 + mp.exp(-x)), lambda: random.choice([random.gauss(0, 2), random.uniform(-700, 700)])),
    "ELU": (mp.expm1, lambda: -abs(random.choice([random.gauss(0, 1), random.uniform(0, 40), random.gauss(0, 1e-8)]))),
    "GELU": (lambda x: x * normal(x), lambda: random.choice([random.gauss(0, 1), random.uniform(-37, 9)])),
    "GELUSlope": (lambda x: normal(x) + x * density(x), lambda: random.choice([random.uniform(-0.5, 9), random.uniform(-37, -1.2)])),
    "Sin": (mp.sin, lambda: random.choice([random.gauss(0, 1), random.uniform(-1e5, 1e5), math.ldexp(random.random() + 0.5, random.randint(-30, 1020))])),
    "Cos": (mp.cos, lambda: random.choice([random.gauss(0, 1), random.uniform(-1e5, 1e5), math.ldexp(random.random() + 0.5, random.randint(-30, 1020))])),
}
# The float64 closest to a multiple of π/2, and others that are near one.
hard = [6381956970095103.0 * 2.0**797, 5.319372648326541e255, 1.5707963267948966, 3.141592653589793, 355.0, 103993.0, 1e22, 1.7976931348623157e308]


def power():
    kind = random.randint(0, 3)
    if kind == 0:
        return random.uniform(0, 10), random.uniform(-50, 50)
    if kind == 1:
        x = 1 + random.gauss(0, 1e-3)
        return x, random.uniform(-700, 700) / math.log(x)
    if kind == 2:
        return math.ldexp(random.random() + 0.5, random.randint(-1000, 1000)), random.uniform(-1, 1)
    return -random.uniform(0, 20), float(random.randint(-80, 80))


def rounded(v):
    """Returns the float64 nearest to v, also for denormal results."""
    if v == 0:
        return 0.0
    m, e = mp.frexp(v)
    bits = min(53, 53 - (-1021 - int(e))) if e < -1021 else 53
    if bits < 1:
        return 0.0 if bits < 0 else math.copysign(5e-324, v)
    with mp.workprec(bits):
        return float(+v)


lines = []


def write(functions):
    for name, (f, draw) in functions.items():
        for i in range(300):
            x = hard[i] if name in ("Sin", "Cos") and i < len(hard) else draw()
            y = f(mp.mpf(x))
            if abs(y) < mp.mpf(2) ** -1070 or abs(y) > mp.mpf(2) ** 1023.9:
                continue
            lines.append(f"{name} {x.hex()} {rounded(y).hex()}")


write(functions)
for _ in range(600):
    x, p = power()
    y = mp.power(mp.mpf(x), int(p) if p == int(p) else mp.mpf(p))
    if abs(y) < mp.mpf(2) ** -1070 or abs(y) > mp.mpf(2) ** 1023.9:
        continue
    lines.append(f"Pow {x.hex()} {p.hex()} {rounded(y).hex()}")
# New functions come last, so that those above keep their random numbers.
write({
    "Erf": (mp.erf, lambda: random.choice([random.gauss(0, 1), random.uniform(-7, 7), random.gauss(0, 1e-8)])),
    "Expm1": (mp.expm1, lambda: random.choice([random.gauss(0, 1), random.uniform(-40, 709), random.gauss(0, 1e-8)])),
    "Log1p": (mp.log1p, lambda: random.choice([random.uniform(-1, 2), random.gauss(0, 1e-3), random.gauss(0, 1e-8), 10 ** random.uniform(0, 300)])),
    "Softplus": (lambda x: mp.log1p(mp.exp(x)), lambda: random.choice([random.gauss(0, 1), random.uniform(-700, 700)])),
})
pathlib.Path(__file__).with_name("float64.txt").write_text("\n".join(lines) + "\n")
