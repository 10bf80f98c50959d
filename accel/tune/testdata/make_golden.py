"""Writes golden.json: densities of a Parzen estimator, a Gaussian process and expected improvements.

    pip install mpmath numpy scipy scikit-learn
    python make_golden.py
"""

import json
import os

import mpmath
import numpy as np
from scipy.stats import norm, truncnorm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel


def spreads(seen, low, high):
    """The distance to the farther neighbor, limited below; the ends are neighbors of a single observation."""
    order, result = np.argsort(seen, kind="stable"), np.empty(len(seen))
    for rank, i in enumerate(order):
        near = [seen[order[r]] for r in (rank - 1, rank + 1) if 0 <= r < len(seen)] or [low, high]
        result[i] = np.clip(max(abs(seen[i] - v) for v in near), (high - low) / min(100, 2 + len(seen)), high - low)
    return result


def densities():
    """Joint densities of a float, an int and a choice at some points, for equal weights of 1, 2 and 4 observations and the prior."""
    x, n, word = [0.1, 0.35, 0.5, 0.62], [3.0, 20.0, 7.0, 30.0], [0, 1, 1, 2]
    points = [[0.2, 4, 0], [0.5, 15, 1], [0.9, 31, 2]]
    rows = []
    for count in (1, 2, 4):
        each = 1 / (count + 1)
        mx, sx = x[:count] + [0.5], [*spreads(x[:count], 0, 1), 1]
        mn, sn = n[:count] + [16.5], [*spreads(n[:count], 0.5, 32.5), 32]
        log = []
        for px, pn, pw in points:
            total = 0
            for i in range(count + 1):
                fx = truncnorm.pdf(px, -mx[i] / sx[i], (1 - mx[i]) / sx[i], mx[i], sx[i])
                inside = norm.cdf(32.5, mn[i], sn[i]) - norm.cdf(0.5, mn[i], sn[i])
                fn = (norm.cdf(pn + 0.5, mn[i], sn[i]) - norm.cdf(pn - 0.5, mn[i], sn[i])) / inside
                fw = 1 / 3 if i == count else ((word[i] == pw) + each) / (1 + 3 * each)
                total += fx * fn * fw / (count + 1)
            log.append(float(np.log(total)))
        rows.append({"x": x[:count], "n": n[:count], "word": word[:count], "points": points, "log": log})
    return rows


def process():
    """The posterior of two numbers and a choice of three, which is one-hot, divided by the square root of 2."""
    r = np.random.default_rng(1)
    x = np.column_stack([r.uniform(size=(12, 2)), r.integers(3, size=12)])
    y = np.sin(5 * x[:, 0]) + x[:, 1] ** 2 + 0.3 * x[:, 2]
    points = np.column_stack([r.uniform(size=(5, 2)), r.integers(3, size=5)])
    points = np.vstack([points, x[:1]])
    length, noise = [0.3, 0.8, 1.7], 1e-3

    def one_hot(a):
        return np.column_stack([a[:, :2], np.eye(3)[a[:, 2].astype(int)] / np.sqrt(2)])

    k = Matern(length_scale=[0.3, 0.8, 1.7, 1.7, 1.7], nu=2.5)(one_hot(x)) + noise * np.eye(12)
    solve, one = np.linalg.solve(k, np.column_stack([y, np.ones(12)])), np.ones(12)
    mean = one @ solve[:, 0] / (one @ solve[:, 1])
    variance = (y - mean) @ (solve[:, 0] - mean * solve[:, 1]) / 12
    kernel = ConstantKernel(variance) * Matern(length_scale=[0.3, 0.8, 1.7, 1.7, 1.7], nu=2.5)
    gp = GaussianProcessRegressor(kernel + WhiteKernel(variance * noise), optimizer=None, alpha=0).fit(one_hot(x), y - mean)
    # The deviation of f is that of the observation without the noise.
    means, deviations = gp.predict(one_hot(points), return_std=True)
    deviations = np.sqrt(deviations**2 - variance * noise)
    return {
        "x": x.tolist(), "y": y.tolist(), "points": points.tolist(), "length": length, "noise": noise,
        "mean": float(mean), "variance": float(variance), "likelihood": float(gp.log_marginal_likelihood_value_),
        "means": (means + mean).tolist(), "deviations": deviations.tolist(),
    }


def improvements():
    """log(φ(z) + zΦ(z))"""
    mpmath.mp.dps = 2000
    return [
        [z, float(mpmath.log(mpmath.npdf(z) + z * mpmath.ncdf(z)))]
        for z in [40.0, 8, 1, 0.25, 0, -0.5, -0.999, -1, -1.001, -3, -10, -29.9, -30, -30.1, -50]
    ] + [[z, float(-mpmath.mpf(z) ** 2 / 2 - mpmath.log(2 * mpmath.pi) / 2 - 2 * mpmath.log(-z))] for z in [-1e4, -1e8]]


if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.json"), "w") as f:
        json.dump({"densities": densities(), "process": process(), "improvements": improvements()}, f, indent=1)
        f.write("\n")
