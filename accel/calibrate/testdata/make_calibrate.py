"""Writes calibrate.json: calibrations of scikit-learn and torch for the same scores."""
import json, os
import numpy as np
import torch
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import precision_recall_curve

rng = np.random.default_rng(5)
cases = []
for n, ties in [(12, False), (200, False), (200, True)]:
    y = rng.random(n) < 0.35
    x = rng.normal(size=n) + 1.5 * y
    if ties:
        x = np.round(x * 2) / 2
    at = np.concatenate([np.linspace(-5, 5, 21), x[:5]])
    platt = _SigmoidCalibration().fit(x, y.astype(float))
    iso = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(x, y.astype(float))
    p, r, t = precision_recall_curve(y, x)
    f = {}
    for beta in [0.5, 1, 2]:
        v = (1 + beta**2) * p * r / np.maximum(beta**2 * p + r, 1e-300)
        f[str(beta)] = float(v.max())
    cost = min([20.0 * y.sum()] + [((x >= s) & ~y).sum() + 20.0 * ((x < s) & y).sum() for s in np.unique(x)])
    cases.append(dict(scores=x.tolist(), positive=y.tolist(), at=at.tolist(), platt=platt.predict(at).tolist(),
                      isotonic=iso.predict(at).tolist(), f=f, cost=float(cost)))
logits = rng.normal(size=(300, 5)) * 4
classes = np.array([rng.choice(5, p=np.exp(l / 2.5) / np.exp(l / 2.5).sum()) for l in logits])
b = torch.ones(1, dtype=torch.float64, requires_grad=True)
opt = torch.optim.LBFGS([b], lr=0.5, max_iter=500, tolerance_grad=1e-12, tolerance_change=1e-15)
def step():
    opt.zero_grad()
    loss = torch.nn.functional.cross_entropy(torch.tensor(logits) * b, torch.tensor(classes))
    loss.backward()
    return loss
opt.step(step)
out = dict(cases=cases, logits=logits.tolist(), classes=classes.tolist(), temperature=1 / b.item())
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calibrate.json"), "w") as file:
    json.dump(out, file)
