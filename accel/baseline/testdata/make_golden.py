"""Writes golden.json: predictions of scikit-learn's simple models, for the tests of this package.

    python3 -m venv v && v/bin/pip install scikit-learn==1.6.1
    v/bin/python make_golden.py
"""

import json
import pathlib

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

random = np.random.RandomState(3)


def examples(n, classes):
    """Overlapping classes, features of very different sizes, and one that is constant."""
    y = random.randint(classes, size=n)
    y[:classes] = range(classes)
    x = random.normal(size=(n, 4)) + np.stack([y, -y, 0 * y, y % 2], 1)
    x = x * [1, 100, 0.01, 10] + [0, 1000, 0, 3]
    x[:, 2] = 7
    return np.float32(x), y


def round_all(values):
    return [[float(f"{v:.7g}") for v in row] for row in values]


def scaled(model):
    return make_pipeline(StandardScaler(), model)


cases = []
for classes in (2, 3):
    (x, y), (test, _) = examples(60, classes), examples(20, classes)
    cases.append({
        "train": x.tolist(), "labels": y.tolist(), "test": test.tolist(),
        "linear": round_all(scaled(LogisticRegression(tol=1e-8)).fit(x, y).predict_proba(test)),
        "votes": round_all(scaled(KNeighborsClassifier(5)).fit(x, y).predict_proba(test)),
        "class": scaled(KNeighborsClassifier(4)).fit(x, y).predict(test).tolist(),
        "majority": int(DummyClassifier().fit(x, y).predict(test)[0]),
    })
x, y = examples(60, 3)
test, _ = examples(20, 3)
targets = np.float32(np.stack([x[:, 0] * 3 + x[:, 3] + y, x[:, 1] - y * y], 1))
cases.append({
    "train": x.tolist(), "targets": targets.tolist(), "test": test.tolist(),
    "linear": round_all(scaled(Ridge()).fit(x, targets).predict(test)),
    "votes": round_all(scaled(KNeighborsRegressor(5)).fit(x, targets).predict(test)),
})
pathlib.Path(__file__).with_name("golden.json").write_text(json.dumps(cases) + "\n")
