"""Writes golden.json: the metrics of scikit-learn and torchmetrics, for the tests of this package.

    python3 -m venv v && v/bin/pip install scikit-learn==1.6.1 torchmetrics==1.9.0 torch==2.15.0
    v/bin/python make_golden.py

A value is written if both libraries agree on it, or if only one has it; the script fails where they
disagree, unless the reason is given. The output is the same in every run.
"""

import json
import math
import pathlib
import warnings

import numpy as np
import sklearn
import sklearn.metrics as S
import torch
import torchmetrics
import torchmetrics.functional as T
from scipy.special import expit, log_softmax, softmax

warnings.filterwarnings("ignore")
random = np.random.RandomState(18)
cases = []


class Case:
    """Predictions, targets and the values of metrics, by their Go code without the package name."""

    def __init__(self, name, prediction, target):
        self.prediction = np.array(prediction, np.float32)
        self.target = np.array(target)
        self.values = {}
        cases.append((name, self))

    def add(self, code, *values, tolerance=1e-6):
        """Adds a value on which all libraries agree."""
        arrays = [np.asarray(v, np.float64).reshape(-1) for v in values]
        for other in arrays[1:]:
            assert np.allclose(arrays[0], other, rtol=tolerance, atol=tolerance), (code, arrays)
        assert np.isfinite(arrays[0]).all(), (code, arrays)
        assert code not in self.values, code
        self.values[code] = arrays[0].tolist()


COUNTED = {
    "Precision": (S.precision_score, T.precision),
    "Recall": (S.recall_score, T.recall),
    "F1": (S.f1_score, T.f1_score),
}


def classes(name, logits, target):
    """A case with one class for each example."""
    c = Case(name, logits, target)
    n = c.prediction.shape[1]
    answer = c.prediction.argmax(1)
    p, t = torch.tensor(answer), torch.tensor(c.target)
    arguments = {"task": "multiclass", "num_classes": n}
    c.add("Accuracy()", S.accuracy_score(c.target, answer), T.accuracy(p, t, average="micro", **arguments))
    for code, (sk, tm) in COUNTED.items():
        for average in ["micro", "macro", "weighted"]:
            c.add(f"{code}({average.capitalize()})", sk(c.target, answer, average=average), tm(p, t, average=average, **arguments))
        each = sk(c.target, answer, average=None, labels=range(n))
        c.add(f"{code}(PerClass)", each, tm(p, t, average="none", **arguments))
        c.add(f"{code}()", sk(c.target, answer, average="macro"))
        c.add(f"{code}(OfClass(1))", each[1])
    c.add("ConfusionMatrix()", S.confusion_matrix(c.target, answer, labels=range(n)), T.confusion_matrix(p, t, **arguments))
    return c


def two(name, logits, target):
    """A case with one logit for two classes."""
    c = Case(name, logits, target)
    z, y = c.prediction.reshape(-1).astype(np.float64), c.target.reshape(-1).astype(int)
    t = torch.tensor(y)
    for suffix, cut in [("", 0.5), ("Threshold(0.3)", 0.3)]:
        answer = (expit(z) > cut).astype(int)
        p = torch.tensor(answer)
        c.add(f"Accuracy({suffix})", S.accuracy_score(y, answer), T.accuracy(p, t, task="binary"))
        for code, (sk, tm) in COUNTED.items():
            c.add(f"{code}({suffix})", sk(y, answer), tm(p, t, task="binary"))
    answer = (expit(z) > 0.5).astype(int)
    for code, (sk, _) in COUNTED.items():
        for average in ["micro", "macro", "weighted"]:
            c.add(f"{code}({average.capitalize()})", sk(y, answer, average=average))
        c.add(f"{code}(PerClass)", sk(y, answer, average=None, labels=[0, 1]))
    c.add("ConfusionMatrix()", S.confusion_matrix(y, answer, labels=[0, 1]), T.confusion_matrix(torch.tensor(answer), t, task="binary"))
    return c


def several(name, logits, target):
    """A case with any number of labels for each example."""
    c = Case(name, logits, target)
    y = c.target.astype(int)
    n = y.shape[1]
    answer = (c.prediction > 0).astype(int)
    p, t = torch.tensor(answer), torch.tensor(y)
    arguments = {"task": "multilabel", "num_labels": n}
    c.add("Accuracy()", 1 - S.hamming_loss(y, answer), T.accuracy(p, t, average="micro", **arguments))
    for code, (sk, tm) in COUNTED.items():
        for average in ["micro", "macro", "weighted"]:
            c.add(f"{code}({average.capitalize()})", sk(y, answer, average=average), tm(p, t, average=average, **arguments))
        c.add(f"{code}(PerClass)", sk(y, answer, average=None), tm(p, t, average="none", **arguments))
    return c


def tokens(name, logits, target):
    """A case with sequences, in which -100 is left out."""
    c = Case(name, logits, target)
    n = c.prediction.shape[2]
    keep = c.target.reshape(-1) != -100
    y, answer = c.target.reshape(-1)[keep], c.prediction.reshape(-1, n).argmax(1)[keep]
    p, t = torch.tensor(c.prediction.argmax(2)), torch.tensor(c.target)
    arguments = {"task": "multiclass", "num_classes": n, "ignore_index": -100}
    c.add("Accuracy(IgnoreIndex(-100))", S.accuracy_score(y, answer), T.accuracy(p, t, average="micro", **arguments))
    c.add("F1(Macro, IgnoreIndex(-100))", S.f1_score(y, answer, average="macro"), T.f1_score(p, t, average="macro", **arguments))
    c.add("ConfusionMatrix(IgnoreIndex(-100))", S.confusion_matrix(y, answer, labels=range(n)))
    return c


def main():
    def logits(target, n, noise=1.5):
        """Logits that are often right, with ties: multiples of a quarter."""
        z = random.randn(len(target), n) * noise + 2 * np.eye(n)[target]
        return np.round(z * 4) / 4

    y = random.randint(0, 5, 90)
    classes("classes", logits(y, 5), y)
    y = random.randint(0, 3, 40)
    classes("a class without examples", logits(y, 5), y)
    never = logits(y, 5)
    never[:, 4] = -1e30
    classes("a class without examples and predictions", never, y)
    y = np.full(20, 2)
    classes("one class only", logits(y, 3), y)
    y = random.randint(0, 4, 30)
    classes("the same prediction for all", np.zeros((30, 4)), y)
    y = random.randint(0, 4, 25)
    classes("all right", 9 * np.eye(4)[y], y)
    classes("one example", [[0.5, 1.5, -1]], [0])

    y = random.randint(0, 2, 80)
    two("two classes", np.round((random.randn(80) + 1.5 * y - 0.7) * 4 + 0.5) / 4, y)
    two("two classes as a column", (random.randn(40, 1) * 2), random.randint(0, 2, (40, 1)))
    two("only the second class", random.randn(15), np.ones(15, int))
    two("never predicted", -1 - random.rand(15), random.randint(0, 2, 15))

    y = (random.rand(60, 4) < [0.5, 0.2, 0.05, 0.9]).astype(int)
    several("labels", np.round((random.randn(60, 4) + 2 * y - 1) * 4 + 0.5) / 4, y)
    y[:, 2] = 0
    z = random.randn(60, 4) + 2 * y - 1
    z[:, 2] = -3
    several("a label that does not occur", z, y)

    y = random.randint(0, 6, (8, 11))
    z = logits(y.reshape(-1), 6).reshape(8, 11, 6)
    for i, length in enumerate([11, 3, 7, 1, 11, 5, 0, 2]):
        y[i, length:] = -100
    tokens("tokens", z, y)

    content = {"sklearn": sklearn.__version__, "torchmetrics": torchmetrics.__version__, "cases": [
        {
            "name": name,
            "shape": list(c.prediction.shape), "prediction": c.prediction.reshape(-1).astype(float).tolist(),
            "target_shape": list(c.target.shape), "target": c.target.reshape(-1).astype(float).tolist(),
            "values": c.values,
        } for name, c in cases
    ]}
    lines = json.dumps(content, indent=None).replace('{"name"', '\n{"name"')
    (pathlib.Path(__file__).parent / "golden.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
