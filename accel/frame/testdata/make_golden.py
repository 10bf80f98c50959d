"""Writes golden.json: what pandas computes of people.csv and cities.csv.

pip install pandas==3.1.1; python make_golden.py
"""

import json
import math
import pathlib

import pandas as pd

folder = pathlib.Path(__file__).parent
people = pd.read_csv(folder / "people.csv", parse_dates=["born"])
cities = pd.read_csv(folder / "cities.csv")


def rows(frame):
    """A frame as a list of rows, with None for missing values and dates as text."""
    def value(v):
        if v is None or v is pd.NaT or isinstance(v, float) and math.isnan(v):
            return None
        if isinstance(v, pd.Timestamp):
            return v.strftime("%Y-%m-%d")
        return v.item() if hasattr(v, "item") else v
    return {"columns": list(frame.columns), "rows": [[value(v) for v in r] for r in frame.itertuples(index=False, name=None)]}


groups = people.groupby("city", dropna=False)
two = people.groupby(["city", "active"], dropna=False)
golden = {
    "group": rows(groups.agg(
        count=("name", "size"), age_count=("age", "count"), age_mean=("age", "mean"), age_std=("age", "std"), age_median=("age", "median"),
        age_q10=("age", lambda v: v.quantile(0.1)), age_min=("age", "min"), age_max=("age", "max"), visits_sum=("visits", "sum"),
        income_sum=("income", "sum"), name_first=("name", "first"), born_max=("born", "max"), visits_distinct=("visits", "nunique"),
        active_mean=("active", "mean")).reset_index()),
    "two": rows(two.agg(count=("name", "size"), income_mean=("income", "mean")).reset_index()),
    "sort": rows(people.sort_values(["city", "age"], ascending=[True, False], kind="stable")[["city", "age", "name"]]),
    "inner": rows(people.dropna(subset="city").merge(cities, on="city", how="inner")[["name", "city", "country"]]),
    "left": rows(people.merge(cities, on="city", how="left")[["name", "city", "country"]]),
    "describe": {name: {k: v for k, v in zip(["count", "mean", "std", "min", "25%", "50%", "75%", "max"], people[name].describe().tolist())}
                 for name in ["age", "income", "visits"]},
    "top": {"top": people["city"].describe()["top"], "frequency": int(people["city"].describe()["freq"]), "distinct": int(people["city"].nunique())},
}
(folder / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")
