"""Writes golden.json: the metrics of scikit-learn and torchmetrics, for the tests of this package.

    python3 -m venv v && v/bin/pip install scikit-learn==1.9.1 torchmetrics==1.9.0 torch==2.15.0
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
import scipy.stats
import sklearn.metrics as S
import torch
import torchmetrics
import torchmetrics.functional as T
from scipy.special import expit, log_softmax, softmax
from sklearn.neighbors import NearestNeighbors

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


# Metrics of the same numbers that were added later: by code, scikit-learn's function and torchmetrics'.
MORE = {
    "FBeta(2": (lambda y, p, **k: S.fbeta_score(y, p, beta=2, **k), lambda p, t, **k: T.fbeta_score(p, t, beta=2.0, **k)),
    "Jaccard(": (S.jaccard_score, T.jaccard_index),
    "Dice(": (S.f1_score, T.f1_score),
    "Specificity(": (None, T.specificity),
}


def more(c, y, answer, binary=False, averages=True, both=(), **arguments):
    """Adds the values of MORE, and the agreement, of predicted classes or labels."""
    p, t = torch.tensor(answer), torch.tensor(y)
    for code, (sk, tm) in MORE.items():
        comma = ", " if code[-1] != "(" else ""
        if binary:
            c.add(f"{code})", *([sk(y, answer)] if sk else []), tm(p, t, task="binary"))
            continue
        for average in ["micro", "macro", "weighted"]:
            values = [sk(y, answer, average=average)] if sk else []
            if not sk or code != "Jaccard(" or average in both:  # torchmetrics' Jaccard counts classes that do not occur
                values.append(tm(p, t, average=average, **arguments))
            c.add(f"{code}{comma}{average.capitalize()})", *values)
        labels = {"labels": range(arguments["num_classes"])} if "num_classes" in arguments else {}
        c.add(f"{code}{comma}PerClass)", *([sk(y, answer, average=None, **labels)] if sk else []), tm(p, t, average="none", **arguments))
    flat_y, flat_p = np.reshape(y, -1), np.reshape(answer, -1)
    c.add("MatthewsCorrCoef()", S.matthews_corrcoef(flat_y, flat_p))
    if "num_labels" not in arguments and len(set(flat_y) | set(flat_p)) > 1:
        c.add("CohenKappa()", S.cohen_kappa_score(flat_y, flat_p))
        if not binary:
            assert np.allclose(c.values["CohenKappa()"], T.cohen_kappa(p, t, **arguments))


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
    more(c, c.target, answer, both=("micro", "weighted"), **arguments)
    z, e = c.prediction.astype(np.float64), np.eye(n)[c.target]
    probability = softmax(z, 1)
    if (probability > 0).all():
        loss = S.log_loss(c.target, probability, labels=range(n))
        c.add("LogLoss()", loss)
        c.add("Perplexity()", math.exp(loss), T.text.perplexity(torch.tensor(c.prediction)[None], t[None]), tolerance=1e-5)
    c.add("ECE()", T.calibration_error(torch.tensor(probability), t, n_bins=15, **arguments))
    c.add("ECE(Bins(5))", T.calibration_error(torch.tensor(probability), t, n_bins=5, **arguments))
    if (np.diff(np.sort(z, 1), axis=1) > 0).all():  # the libraries differ for equal logits
        c.add("TopK(2)", S.top_k_accuracy_score(c.target, z, k=2, labels=range(n)), T.accuracy(torch.tensor(z), t, top_k=2, average="micro", **arguments))
    if (0 < e.sum(0)).all() and (e.sum(0) < len(e)).all():
        s = log_softmax(z, 1)  # probabilities have more equal values, since they are rounded
        p = torch.tensor(probability)
        for average in ["micro", "macro", "weighted"]:
            c.add(f"ROCAUC({average.capitalize()})", S.roc_auc_score(e, s, average=average))
            c.add(f"AveragePrecision({average.capitalize()})", S.average_precision_score(e, s, average=average))
            if average != "micro" and (probability > 1e-7).all():
                assert np.allclose(c.values[f"ROCAUC({average.capitalize()})"], T.auroc(p, t, average=average, **arguments))
                assert np.allclose(c.values[f"AveragePrecision({average.capitalize()})"], T.average_precision(p, t, average=average, **arguments))
        c.add("ROCAUC(PerClass)", S.roc_auc_score(e, s, average=None))
        c.add("AveragePrecision(PerClass)", S.average_precision_score(e, s, average=None))
        c.add("ROCAUC(OfClass(1))", c.values["ROCAUC(PerClass)"][1])
    return c


def two(name, logits, target):
    """A case with one logit for two classes."""
    c = Case(name, logits, target)
    z, y = c.prediction.reshape(-1).astype(np.float64), c.target.reshape(-1).astype(int)
    t = torch.tensor(y)
    for suffix, cut in [("", 0.5), ("Threshold(0.3)", 0.3)]:
        answer = (expit(z) >= cut).astype(int)  # as scikit-learn's FixedThresholdClassifier
        p = torch.tensor(answer)
        c.add(f"Accuracy({suffix})", S.accuracy_score(y, answer), T.accuracy(p, t, task="binary"))
        for code, (sk, tm) in COUNTED.items():
            c.add(f"{code}({suffix})", sk(y, answer), tm(p, t, task="binary"))
    answer = (expit(z) >= 0.5).astype(int)
    for code, (sk, _) in COUNTED.items():
        for average in ["micro", "macro", "weighted"]:
            c.add(f"{code}({average.capitalize()})", sk(y, answer, average=average))
        c.add(f"{code}(PerClass)", sk(y, answer, average=None, labels=[0, 1]))
    more(c, y, answer, binary=True)
    c.add("ConfusionMatrix()", S.confusion_matrix(y, answer, labels=[0, 1]), T.confusion_matrix(torch.tensor(answer), t, task="binary"))
    p = torch.tensor(expit(z))
    c.add("LogLoss()", S.log_loss(y, expit(z), labels=[0, 1]))
    c.add("ECE()", T.calibration_error(p, t, n_bins=15, task="binary"))
    if 0 < y.sum() < len(y):
        c.add("ROCAUC()", S.roc_auc_score(y, z), T.auroc(p, t, task="binary"))
    if y.any():
        c.add("AveragePrecision()", S.average_precision_score(y, z), T.average_precision(p, t, task="binary"))
    return c


def several(name, logits, target):
    """A case with any number of labels for each example."""
    c = Case(name, logits, target)
    y = c.target.astype(int)
    n = y.shape[1]
    answer = (c.prediction >= 0).astype(int)
    p, t = torch.tensor(answer), torch.tensor(y)
    arguments = {"task": "multilabel", "num_labels": n}
    c.add("Accuracy()", 1 - S.hamming_loss(y, answer), T.accuracy(p, t, average="micro", **arguments))
    for code, (sk, tm) in COUNTED.items():
        for average in ["micro", "macro", "weighted"]:
            c.add(f"{code}({average.capitalize()})", sk(y, answer, average=average), tm(p, t, average=average, **arguments))
        c.add(f"{code}(PerClass)", sk(y, answer, average=None), tm(p, t, average="none", **arguments))
    more(c, y, answer, both=("micro", "macro", "weighted"), **arguments)
    assert np.allclose(c.values["MatthewsCorrCoef()"], T.matthews_corrcoef(p, t, **arguments))
    z = c.prediction.astype(np.float64)
    c.add("LogLoss()", np.mean([S.log_loss(y[:, k], expit(z[:, k]), labels=[0, 1]) for k in range(n)]))
    if y.any(0).all() and not y.all(0).any():
        probability = torch.tensor(expit(z))
        for average in ["micro", "macro", "weighted"]:
            c.add(f"ROCAUC({average.capitalize()})", S.roc_auc_score(y, z, average=average), T.auroc(probability, t, average=average if average != "micro" else "micro", **arguments))
            c.add(f"AveragePrecision({average.capitalize()})", S.average_precision_score(y, z, average=average), T.average_precision(probability, t, average=average, **arguments))
        c.add("AveragePrecision(PerClass)", S.average_precision_score(y, z, average=None))
    return c


def probabilities(name, p, target):
    """A case with probabilities instead of logits, some of which are 0 or 1."""
    c = Case(name, p, target)
    p, n = c.prediction.astype(np.float64), c.prediction.shape[1]
    e = np.eye(n)[c.target]
    likely = p[range(len(p)), c.target]
    c.add("LogLoss(Probabilities())", -np.log(likely).mean())
    if n > 1:
        assert np.allclose(c.values["LogLoss(Probabilities())"], S.log_loss(c.target, p, labels=range(n)))
    c.add("ROCAUC(Macro, Probabilities())", S.roc_auc_score(e, p, average="macro"))
    c.add("AveragePrecision(Macro, Probabilities())", S.average_precision_score(e, p, average="macro"))
    top, right = p.max(1), p.argmax(1) == c.target
    which = np.minimum((top * 10).astype(int), 9)  # torchmetrics has a bin of its own for confidence 1
    c.add("ECE(Bins(10), Probabilities())", sum(abs(top[which == b].sum() - right[which == b].sum()) for b in range(10)) / len(p))
    return c


def regression(name, prediction, target):
    c = Case(name, prediction, np.array(target, np.float32))
    p, y = c.prediction.astype(np.float64), c.target.astype(np.float64)
    tp, ty = torch.tensor(p), torch.tensor(y)
    c.add("MAE()", S.mean_absolute_error(y, p), T.mean_absolute_error(tp, ty))
    c.add("MSE()", S.mean_squared_error(y, p), T.mean_squared_error(tp, ty))
    c.add("RMSE()", math.sqrt(S.mean_squared_error(y, p)), T.mean_squared_error(tp, ty, squared=False))
    if (y != 0).all():
        c.add("MAPE()", S.mean_absolute_percentage_error(y, p), T.mean_absolute_percentage_error(tp, ty))
    if len(y) > 1 and (y.std(0) > 0).all() and (p.std(0) > 0).all():
        columns = list(zip(y.reshape(len(y), -1).T, p.reshape(len(p), -1).T))
        c.add("Pearson()", np.mean([scipy.stats.pearsonr(a, b)[0] for a, b in columns]))
        c.add("Spearman()", np.mean([scipy.stats.spearmanr(a, b)[0] for a, b in columns]), torch.mean(T.spearman_corrcoef(tp, ty)))
    if len(y) > 1:
        c.add("R2()", S.r2_score(y, p))
        if (y.var(0) > 1e-3).all() and y.mean() < 100:
            assert np.allclose(c.values["R2()"], T.r2_score(tp, ty)), name
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
    z = c.prediction.reshape(-1, n)[keep].astype(np.float64)
    loss = S.log_loss(y, softmax(z, 1), labels=range(n))
    c.add("LogLoss(IgnoreIndex(-100))", loss)
    c.add("Perplexity(IgnoreIndex(-100))", math.exp(loss), T.text.perplexity(torch.tensor(c.prediction), t, ignore_index=-100), tolerance=1e-5)
    c.add("ECE(IgnoreIndex(-100))", T.calibration_error(torch.tensor(softmax(z, 1)), torch.tensor(y), n_bins=15, task="multiclass", num_classes=n))
    c.add("ROCAUC(IgnoreIndex(-100))", S.roc_auc_score(np.eye(n)[y], log_softmax(z, 1), average="macro"))
    c.add("TopK(2, IgnoreIndex(-100))", np.mean([t in np.argsort(-row, kind="stable")[:2] for t, row in zip(y, z)]))
    c.add("ConfusionMatrix(IgnoreIndex(-100))", S.confusion_matrix(y, answer, labels=range(n)))
    return c


def pixels(name, logits, target):
    """A case with a class for each pixel."""
    c = Case(name, logits, target)
    n = c.prediction.shape[1]
    answer = c.prediction.argmax(1)
    arguments = {"task": "multiclass", "num_classes": n}
    p, t = torch.tensor(answer), torch.tensor(c.target)
    for average in ["micro", "macro", "weighted"]:
        c.add(f"Jaccard({average.capitalize()})", S.jaccard_score(c.target.reshape(-1), answer.reshape(-1), average=average), T.jaccard_index(p, t, average=average, **arguments))
        c.add(f"Dice({average.capitalize()})", S.f1_score(c.target.reshape(-1), answer.reshape(-1), average=average), T.f1_score(p, t, average=average, **arguments))
    c.add("Accuracy()", S.accuracy_score(c.target.reshape(-1), answer.reshape(-1)))
    c.add("LogLoss()", torch.nn.functional.cross_entropy(torch.tensor(c.prediction).double(), t))
    c.add("ConfusionMatrix()", S.confusion_matrix(c.target.reshape(-1), answer.reshape(-1), labels=range(n)))


def retrieval(name, embeddings, target):
    """A case with embeddings, whose neighbors have the largest cosine."""
    c = Case(name, embeddings, target)
    x, y = c.prediction.astype(np.float64), c.target
    for k in (1, 3):
        found = []
        for i in range(len(y)):
            others = np.delete(np.arange(len(y)), i)
            if (y[others] == y[i]).any():
                order = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(x[others]).kneighbors(x[i : i + 1])[1][0]
                found.append((y[others][order] == y[i]).any())
        c.add(f"RecallAtK({k})", np.mean(found))


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

    y = random.randint(0, 6, 50)
    classes("different logits", random.randn(50, 6) + np.eye(6)[y], y)

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

    y = random.randint(0, 3, 40)
    p = np.round(random.dirichlet([1] * 3, 40) * 8) / 8
    p[0], p[1:4] = np.eye(3)[y[0]], [0.25, 0.25, 0.5]
    for row, k in zip(p, y):
        row[k] += 1 - row.sum()
        if row[k] <= 0:
            row[:] = 1 / 4
            row[k] = 1 / 2
    probabilities("probabilities", p, y)

    y = random.randn(50) * 3 + 1
    regression("regression", y + random.randn(50), y)
    y = random.randn(30, 3) * [1, 10, 100]
    regression("several outputs", y * 0.9 + random.randn(30, 3), y)
    regression("far from zero", 1e6 + random.randn(40), 1e6 + random.randn(40).round(1))
    regression("constant targets", random.randn(10), np.full(10, 2))
    regression("constant targets, exact", np.full(10, 2), np.full(10, 2))
    regression("one output of two constant", random.randn(12, 2), np.stack([np.ones(12), random.randn(12)], 1))
    regression("one target", [[1.5]], [[2]])

    y = random.randint(0, 3, (3, 4, 5))
    pixels("pixels", np.moveaxis(logits(y.reshape(-1), 3).reshape(3, 4, 5, 3), -1, 1), y)
    y = random.randint(0, 4, (2, 3, 2, 2))
    pixels("volumes", np.moveaxis(logits(y.reshape(-1), 4).reshape(2, 3, 2, 2, 4), -1, 1), y)

    regression("tied", np.round(random.randn(40) * 2), np.round(random.randn(40) * 2) + 0.5)
    regression("reversed", -np.arange(1, 11), np.arange(1, 11) ** 3)

    y = random.randint(0, 5, 60)
    retrieval("embeddings", random.randn(60, 8) + 1.2 * np.eye(5, 8)[y], y)
    y = np.append(random.randint(0, 20, 30), [77, 78])  # classes with one example
    retrieval("embeddings of rare classes", random.randn(32, 3), y)

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
