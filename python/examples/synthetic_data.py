"""Synthetic rows: drawn from the model, whole or given conditions, and held against the real ones.

    python python/examples/synthetic_data.py [--iterations N] [--picture FILE]
"""
import argparse

import numpy as np
import pandas as pd

import nade

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--iterations", type=int, default=40)
parser.add_argument("--picture", help="write histograms of real and drawn rows here (needs matplotlib)")
arguments = parser.parse_args()

days = pd.read_csv("examples/days.csv")
train, test = days[:1600], days[1600:]
model = nade.fit(train, effort="quick", iterations=arguments.iterations)
drawn = model.sample(len(train), seed=1)
assert (drawn.dtypes == train.dtypes).all()
print("drawn rows:\n", drawn.head(), sep="")
print("\nmeans of visitors, real and drawn, by rain:")
print(pd.DataFrame({"real": train.groupby("rain")["visitors"].mean(),
                    "drawn": drawn.groupby("rain")["visitors"].mean()}))

crowded = model.where(visitors=(200, None), season="summer").sample(500, seed=2)
print("\ntemperature on crowded summer days:", round(crowded["temperature"].mean(), 1))

# A model of the drawn rows should describe real ones nearly as well as a model of real rows does.
again = nade.fit(drawn, effort="quick", iterations=arguments.iterations)
found = nade.compare(model, again, test)
print(f"\na model of drawn rows is worse on held-out real rows by {found.difference:.3f} ± {found.standard_error:.3f} "
      "nats")
assert np.isfinite(found.difference)

if arguments.picture:
    from nade import plots

    plots.plot_real_and_synthetic(model, train).savefig(arguments.picture)
