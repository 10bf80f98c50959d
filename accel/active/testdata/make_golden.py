"""Writes golden.json: the selections of modAL and scikit-activeml, for the tests of this package.

    python3 -m venv v && v/bin/pip install modAL-python==0.4.2.1 scikit-activeml==0.6.2 scikit-learn==1.6.1
    v/bin/python make_golden.py

The output is the same in every run.
"""

import json
import pathlib
import warnings

import numpy as np

np.float = float  # modAL 0.4.2.1 is older than numpy 2
warnings.filterwarnings("ignore")

import modAL
import skactiveml
import sklearn
from modAL.disagreement import KL_max_disagreement, consensus_entropy, vote_entropy
from modAL.expected_error import expected_error_reduction
from modAL.models import ActiveLearner
from modAL.uncertainty import classifier_entropy, classifier_margin, classifier_uncertainty
from modAL.uncertainty import entropy_sampling, margin_sampling, uncertainty_sampling
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import Badge, TypiClust
from skactiveml.pool._bald import batch_bald
from skactiveml.pool._core_set import k_greedy_center
from sklearn.linear_model import LogisticRegression

random = np.random.RandomState(7)


def rows(a):
    return np.asarray(a, dtype=float).tolist()


class Given:
    """A classifier with given predictions."""

    def __init__(self, probabilities):
        self.probabilities = probabilities

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.probabilities


class Members:
    """A committee with given predictions."""

    def __init__(self, draws):
        self.draws, self.classes_ = draws, np.arange(draws.shape[2])

    def __len__(self):
        return len(self.draws)

    def __iter__(self):
        return iter(self.draws)

    def vote(self, X):
        return self.draws.argmax(2).T

    def vote_proba(self, X):
        return self.draws.transpose(1, 0, 2)

    def predict_proba(self, X):
        return self.draws.mean(0)


def uncertainty():
    """Three measures on the same probabilities."""
    p = np.concatenate([
        random.dirichlet([0.3] * 5, 20), random.dirichlet([3.0] * 5, 20),
        [[1, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0], [0.2] * 5, [0.4, 0.3, 0.1, 0.1, 0.1]],
    ])
    p = np.clip(p, 1e-30, 1)  # logits of the test are ln p
    p /= p.sum(1, keepdims=True)
    learner = ActiveLearner(Given(p))
    X = np.zeros((len(p), 1))
    out = {"probabilities": rows(p)}
    for name, measure, sampling in [
        ("least confident", classifier_uncertainty, uncertainty_sampling),
        ("margin", classifier_margin, margin_sampling),
        ("entropy", classifier_entropy, entropy_sampling),
    ]:
        chosen = sampling(learner, X, n_instances=12)
        index = chosen[0] if isinstance(chosen, tuple) else chosen
        out[name] = {"scores": rows(measure(learner, X)), "chosen": sorted(int(i) for i in index)}
    return out


def ensemble():
    """BALD and BatchBALD; the joint entropy is exact."""
    draws = np.stack([random.dirichlet([0.6] * 3, 24) for _ in range(6)])  # member, example, class
    draws[:, 5] = draws[:, 4]  # two equal examples
    draws[:, 20:] = draws[:1, 20:]  # members that agree
    bald = batch_bald(draws.copy(), batch_size=1, n_MC_samples=6, eps=1e-12)
    batch = batch_bald(draws.copy(), batch_size=5, n_MC_samples=1000, eps=1e-12, random_state=0)
    committee = Members(draws)
    X = np.zeros((draws.shape[1], 1))
    return {
        "vote entropy": rows(vote_entropy(committee, X)),
        "consensus entropy": rows(consensus_entropy(committee, X)),
        "max disagreement": rows(KL_max_disagreement(committee, X)),
        "draws": draws.tolist(),
        "bald": rows(bald[0]),
        "information": [float(np.nanmax(u)) for u in batch],
        "chosen": [int(np.nanargmax(u)) for u in batch],
    }


def core_set():
    X = random.normal(size=(40, 4)).astype(np.float32).astype(float)
    y = np.full(40, np.nan)
    labeled = [3, 17, 30]
    y[labeled] = 0
    chosen, distances = k_greedy_center(X, y, batch_size=10, random_state=0)
    return {"examples": rows(X), "labeled": labeled, "chosen": chosen.tolist(),
            "distances": [float(np.nanmax(d)) for d in distances]}


def badge():
    """The squared distances with which BADGE samples. scikit-activeml also bounds them by the length of a gradient."""
    X = random.normal(size=(30, 3)).astype(np.float32).astype(float)
    y = np.full(30, np.nan)
    y[:6] = [0, 1, 2, 0, 1, 2]
    clf = SklearnClassifier(LogisticRegression(), classes=[0, 1, 2]).fit(X, y)
    chosen, weights = Badge(random_state=3).query(X, y, clf, fit_clf=False, batch_size=5, return_utilities=True)
    p = clf.predict_proba(X)
    return {"features": rows(X[6:]), "probabilities": rows(p[6:]), "chosen": [int(i) - 6 for i in chosen],
            "weights": [[None if np.isnan(v) else float(v) for v in w[6:]] for w in weights]}


def typiclust():
    centers = np.array([[0, 0], [20, 0], [0, 20], [20, 20], [40, 0], [0, 40]], dtype=float)
    sizes = [16, 14, 12, 10, 8, 6]
    X = np.concatenate([c + random.normal(size=(n, 2)) for c, n in zip(centers, sizes)])
    X = X.astype(np.float32).astype(float)
    y = np.full(len(X), np.nan)
    labeled = [2, 35]  # in the first group and in the third
    y[labeled] = 0
    chosen = TypiClust(k=5, random_state=0).query(X, y, batch_size=4)
    return {"examples": rows(X), "labeled": labeled, "neighbors": 5, "chosen": [int(i) for i in chosen]}


def expected_error():
    X = random.normal(size=(26, 2)).astype(np.float32).astype(float)
    y = (X @ np.array([[1, -1, 0], [0, 0.5, -1]]) + 0.5 * random.normal(size=(26, 3))).argmax(1)
    labeled = [int(np.flatnonzero(y == k)[j]) for k in range(3) for j in range(2)]
    rest = [i for i in range(26) if i not in labeled]
    learner = ActiveLearner(LogisticRegression(tol=1e-10, max_iter=10000), X_training=X[labeled], y_training=y[labeled])
    index, errors = expected_error_reduction(learner, X[rest], loss="binary", n_instances=len(rest))
    order = np.argsort(errors)
    return {"examples": rows(X), "labels": y.tolist(), "labeled": labeled,
            "chosen": [int(rest[index[k]]) for k in order], "errors": [float(errors[k]) for k in order]}


golden = {
    "versions": {"modAL": "0.4.2.1", "scikit-activeml": skactiveml.__version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__},
    "uncertainty": uncertainty(),
    "ensemble": ensemble(),
    "coreset": core_set(),
    "badge": badge(),
    "typiclust": typiclust(),
    "expectederror": expected_error(),
}
path = pathlib.Path(__file__).parent / "golden.json"
path.write_text(json.dumps(golden, indent=None, separators=(",", ":")) + "\n")
print(path, path.stat().st_size, "bytes")
