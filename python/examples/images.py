"""Images: digits of 8 × 8 pixels are learnt, drawn, and their holes filled.

    python python/examples/images.py [--iterations N] [--picture FILE]
"""
import argparse

import numpy as np
from sklearn.datasets import load_digits

import nade

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--iterations", type=int, default=40)
parser.add_argument("--picture", help="write a picture here (needs matplotlib)")
arguments = parser.parse_args()

pixels = (load_digits().data > 7).astype(np.uint8)
train, test = pixels[:1500], pixels[1500:]
model = nade.fit(train, effort="quick", iterations=arguments.iterations)
summary = model.score(test)
print(f"test digits: {summary.mean:.2f} ± {summary.standard_error:.2f} nats each, {summary.gain:.2f} more than with "
      f"independent pixels, {summary.bits_per_cell:.3f} bits a pixel")

holed = test[:5].astype(float)
holed[:, 24:40] = np.nan  # two lines in the middle
fillings = model.impute(holed, draws=5, seed=1)
assert all((filling[:, :24] == holed[:, :24]).all() for filling in fillings)
right = np.mean([(filling[:, 24:40] == test[:5, 24:40]).mean() for filling in fillings])
print(f"of the hidden pixels {right:.0%} are drawn as they were")

drawn = model.sample(30, seed=2)
assert drawn.dtype == np.uint8 and drawn.shape == (30, 64)

if arguments.picture:
    from nade import plots

    rows = np.vstack([np.vstack([test[i], holed[i], *(filling[i] for filling in fillings)]) for i in range(5)])
    plots.plot_images(model, rows, (8, 8), across=7).figure.savefig(arguments.picture)
