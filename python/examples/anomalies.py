"""Anomalies: which rows do not belong, and which of their cells.

    python python/examples/anomalies.py [--iterations N]
"""
import argparse

import numpy as np
import pandas as pd

import nade

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--iterations", type=int, default=40)
arguments = parser.parse_args()

days = pd.read_csv("examples/days.csv")
model = nade.fit(days, effort="quick", iterations=arguments.iterations)

odd = pd.DataFrame({"season": ["winter", "summer", "summer"], "temperature": [25.0, 25.0, 24.0], "rain": [0, 1, 0],
                    "visitors": [170, 170, 160]}, index=["warm winter day", "crowd in the rain", "ordinary day"])
print("log densities:\n", model.log_density(odd).round(2), sep="")
print("\nprobability of a cell no likelier than this one, given the rest of its row:")
print(model.surprise(odd, tail=True).round(4))

detector = nade.OutlierDetector(contamination=0.01, effort="quick", iterations=arguments.iterations).fit(days)
print("\n-1 are outliers:", dict(zip(odd.index, detector.predict(odd).tolist())))
worst = np.argsort(detector.score_samples(days))[:3]
print("\nthe three least likely days of the table:\n", days.iloc[worst], sep="")
