"""Computes diffusion.json with numpy in float64, by the formulas of the papers.

The beta schedules and the steps of DDPM and DDIM are those of diffusers' DDPMScheduler and DDIMScheduler
(beta_schedule "linear" and "squaredcos_cap_v2", variance_type "fixed_small", timestep_spacing "trailing",
set_alpha_to_one), written out. The model is a fixed function: sin(0.7 x) + 0.1 t/T.

    python make_diffusion.py > diffusion.json
"""

import json
import math

import numpy as np


def linear(steps, first, last):
    return np.linspace(first, last, steps, dtype=np.float64)


def cosine(steps):
    bar = lambda s: math.cos((s + 0.008) / 1.008 * math.pi / 2) ** 2
    return np.array([min(1 - bar((i + 1) / steps) / bar(i / steps), 0.999) for i in range(steps)])


def model(x, t, steps):
    return np.sin(0.7 * x) + 0.1 * t / steps


def clean_and_noise(x, out, bar, kind):
    if kind == "epsilon":
        return (x - math.sqrt(1 - bar) * out) / math.sqrt(bar), out
    return math.sqrt(bar) * x - math.sqrt(1 - bar) * out, math.sqrt(bar) * out + math.sqrt(1 - bar) * x


def ddpm_mean(x, t, betas, kind, clip):
    """The mean and the variance of q(x_{t-1} | x_t, x_0), Ho et al., equation 7."""
    bars = np.cumprod(1 - betas)
    before = bars[t - 1] if t > 0 else 1.0
    clean, _ = clean_and_noise(x, model(x, t, len(betas)), bars[t], kind)
    if clip:
        clean = np.clip(clean, -clip, clip)
    mean = math.sqrt(before) * betas[t] / (1 - bars[t]) * clean
    mean += math.sqrt(1 - betas[t]) * (1 - before) / (1 - bars[t]) * x
    return mean, betas[t] * (1 - before) / (1 - bars[t])


def ddim(x, steps, betas, kind):
    """Song et al., equation 12, with sigma = 0."""
    bars, total = np.cumprod(1 - betas), len(betas)
    times = [total * (k + 1) // steps - 1 for k in range(steps)][::-1] + [-1]
    for t, to in zip(times, times[1:]):
        before = bars[to] if to >= 0 else 1.0
        clean, noise = clean_and_noise(x, model(x, t, total), bars[t], kind)
        x = math.sqrt(before) * clean + math.sqrt(1 - before) * noise
    return x


def embedding(t, width):
    half = width // 2
    angles = np.outer(t, np.exp(-math.log(10000) * np.arange(half) / (half - 1)))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


random = np.random.default_rng(1)
x = random.standard_normal((3, 4))
# tensor.Randn(tensor.NewGenerator(1), 3, 4), so that the steps of DDPM have the same noise in both languages.
noise = np.array([[0.38040075, -0.29627788, -0.24923342, -1.0038372], [0.6269479, -0.6339838, -0.6782716, -1.0130806],
                  [-1.5671556, -0.5809552, 0.7245081, -0.3889371]])
t = np.array([0, 7, 19])
betas = linear(20, 1e-3, 0.3)
bars = np.cumprod(1 - betas)
keep, add = np.sqrt(bars[t])[:, None], np.sqrt(1 - bars[t])[:, None]
result = {
    "linear": np.cumprod(1 - linear(1000, 1e-4, 0.02)).tolist()[::111],
    "cosine": np.cumprod(1 - cosine(1000)).tolist()[::111],
    "x": x.ravel().tolist(),
    "noise": noise.ravel().tolist(),
    "t": t.tolist(),
    "noisy": (keep * x + add * noise).ravel().tolist(),
    "velocity": (keep * noise - add * x).ravel().tolist(),
    "embedding": embedding(np.array([0, 1, 500]), 8).ravel().tolist(),
    "ddim": {f"{kind} {n}": ddim(x, n, betas, kind).ravel().tolist() for kind in ("epsilon", "velocity") for n in (20, 6, 1)},
    "ddpm": {},  # with a schedule of two steps, of which the first adds noise
}
two = linear(2, 0.1, 0.3)
for kind in ("epsilon", "velocity"):
    for clip in (0, 0.5):
        mean, variance = ddpm_mean(x, 1, two, kind, clip)
        middle = mean + math.sqrt(variance) * noise
        last, _ = ddpm_mean(middle, 0, two, kind, clip)
        result["ddpm"][f"{kind} {clip}"] = last.ravel().tolist()
print(json.dumps(result))
