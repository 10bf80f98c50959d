"""Measures how low the searches of Optuna come, as main.go does for package tune: the same functions, trials and seeds.

    pip install optuna scipy torch
    python accel/tune/testdata/compare/optuna_peer.py --seeds 30 --trials 50

The samplers have their defaults. "TPE, univariate" was the default before Optuna 5. GPSampler needs scipy and torch.
"""

import argparse
import math
import warnings

import numpy as np
import optuna

optuna.logging.set_verbosity(optuna.logging.WARNING)
warnings.filterwarnings("ignore")


def branin(t):
    x, y = t.suggest_float("x", -5, 10), t.suggest_float("y", 0, 15)
    b, c, s = 5.1 / (4 * math.pi**2), 5 / math.pi, 1 / (8 * math.pi)
    return (y - b * x * x + c * x - 6) ** 2 + 10 * (1 - s) * math.cos(x) + 10


def rates(t):
    return sum((math.log10(t.suggest_float("abcd"[i], 1e-5, 1, log=True)) - at) ** 2 for i, at in enumerate([-3, -2, -4, -1.5]))


def mixed(t):
    x, n = t.suggest_float("x", 0, 1), t.suggest_int("n", 1, 32)
    at, middle, low = {"a": (0.2, 8, 0.04), "b": (0.5, 20, 0), "c": (0.8, 28, 0.02)}[t.suggest_categorical("kind", ["a", "b", "c"])]
    return 10 * (x - at) ** 2 + ((n - middle) / 8) ** 2 + low


def hartmann(t):
    height = np.array([1, 1.2, 3, 3.2])
    width = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])
    middle = np.array(
        [
            [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
            [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
            [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
            [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
        ]
    )
    x = np.array([t.suggest_float(f"x{j}", 0, 1) for j in range(6)])
    return -float(height @ np.exp(-(width * (x - middle) ** 2).sum(1)))


functions = [("Branin", branin, 0), ("rates", rates, 0), ("mixed", mixed, 0), ("Hartmann-6", hartmann, 0), ("noisy rates", rates, 0.5)]

samplers = {
    "TPE": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "TPE, univariate": lambda seed: optuna.samplers.TPESampler(seed=seed, multivariate=False),
    "GP": lambda seed: optuna.samplers.GPSampler(seed=seed),
}


def best(value, noise, sampler, trials, seed):
    """Returns the value without noise of the best trial with noise."""
    random, exact = np.random.default_rng(seed), []

    def objective(t):
        exact.append(value(t))
        return exact[-1] + noise * random.normal()

    study = optuna.create_study(sampler=sampler(seed))
    study.optimize(objective, n_trials=trials)
    return exact[study.best_trial.number]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--trials", type=int, default=50)
    p.add_argument("--seeds", type=int, default=30)
    p.add_argument("--only", default="", help="functions whose names contain this")
    p.add_argument("--samplers", default="", help="samplers whose names contain this")
    a = p.parse_args()
    print(f"optuna {optuna.__version__}")
    chosen = {name: s for name, s in samplers.items() if a.samplers in name}
    print(f"{'':12}" + "".join(f"{name:>24}" for name in chosen))
    for name, value, noise in functions:
        if a.only not in name:
            continue
        row = f"{name:12}"
        for sampler in chosen.values():
            low, middle, high = np.quantile([best(value, noise, sampler, a.trials, s) for s in range(1, a.seeds + 1)], [0.25, 0.5, 0.75])
            cell = f"{middle:.3f} ({low:.3f}–{high:.3f})"
            row += f"{cell:>24}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
