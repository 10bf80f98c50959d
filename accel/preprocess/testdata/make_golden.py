"""Writes golden.json: what scikit-learn computes of ../../frame/testdata/people.csv.

pip install pandas==3.1.1 scikit-learn==1.9.1; python make_golden.py
"""

import json
import pathlib

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

folder = pathlib.Path(__file__).parent
people = pd.read_csv(folder / "../../frame/testdata/people.csv", parse_dates=["born"])
people["city"] = people["city"].astype(object).where(people["city"].notna(), "~")  # sorts last, as a missing value does
people["active"] = people["active"].astype(str)
train, test = people[:30], people[30:]


def parts(frame):
    born = frame["born"].dt
    return np.column_stack([born.year, born.month, born.day, (born.day_of_week + 1) % 7])


transformer = ColumnTransformer([
    ("median", make_pipeline(SimpleImputer(strategy="median", add_indicator=False), StandardScaler()), ["age"]),
    ("mean", make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()), ["income"]),
    ("log", make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), ["visits"]),
    ("one-hot", OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["city", "active"]),
    ("dates", make_pipeline(FunctionTransformer(parts), StandardScaler()), ["born"]),
])
golden = {
    "Train": transformer.fit_transform(train).tolist(),
    "Test": transformer.transform(test).tolist(),
    "Index": OrdinalEncoder().fit(train[["city"]]).transform(test[["city"]])[:, 0].tolist(),
}
(folder / "golden.json").write_text(json.dumps(golden) + "\n")
