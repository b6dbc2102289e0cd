"""A table of mixed types with holes: fit, ask, fill.

    python python/examples/mixed_table.py [--iterations N]
"""
import argparse

import numpy as np
import pandas as pd

import nade

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--iterations", type=int, default=40)
arguments = parser.parse_args()

# People, made up: income depends on age and education, and a tenth of each is not known.
rng = np.random.default_rng(0)
rows = 3000
age = rng.integers(18, 80, rows)
education = rng.choice(["school", "college", "university"], rows, p=[0.4, 0.35, 0.25])
level = pd.Series(education).map({"school": 0, "college": 1, "university": 2}).to_numpy()
income = np.round(np.exp(9.6 + 0.35 * level + 0.03 * age - 0.0003 * age**2 + 0.4 * rng.normal(size=rows)), -2)
people = pd.DataFrame({"age": pd.array(age, dtype="Int64"), "education": pd.Categorical(education),
                       "income": income, "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(age * 7, "D")})
for name in ("age", "education", "income"):
    people.loc[rng.random(rows) < 0.1, name] = pd.NA if name == "age" else None

train, test = people[:2500], people[2500:]
model = nade.fit(train, effort="quick", iterations=arguments.iterations)
print(model)
print("mean log density of held-out rows:", round(model.score(test).mean, 3))
print(model.check(test))

print("\nincome at 40, by education (mean, and between which it lies nine times in ten):")
for word in ("school", "college", "university"):
    density = model.density("income", {"age": 40, "education": word})
    low, high = density.interval(0.9)
    print(f"  {word:10}  {density.mean():8.0f}  {low:8.0f} to {high:8.0f}")

print("\nP(income above 40000 | 30 to 40 years old) =", model.where(age=(30, 40)).prob(income=(40000, None)))
filled = model.impute(test)
assert (filled.dtypes == test.dtypes).all() and filled.index.equals(test.index)
print("\nholes before and after:", int(test.isna().sum().sum()), int(filled.isna().sum().sum()))
