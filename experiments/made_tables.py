"""Small odd tables made from a seed, the kinds that people have and that no data set of ours is: each is what its function says."""
import math
import random

from table_splits import write_table


def number(value, digits=2):
    return f"{value:.{digits}f}"


def gaussian_rows(rng, rows, columns, factors, noise=0.5):
    """Sums of common factors and noise of each column's own: a Gaussian with full covariance is the truth."""
    weights = [[rng.gauss(0, 1) for _ in range(factors)] for _ in range(columns)]
    for _ in range(rows):
        hidden = [rng.gauss(0, 1) for _ in range(factors)]
        yield [sum(w * h for w, h in zip(row, hidden)) + noise * rng.gauss(0, 1) for row in weights]


def texts(rows, digits=2):
    return [[number(value, digits) for value in row] for row in rows]


def two_columns(rng):
    """Two numbers, one bent by the other."""
    xs = [rng.gauss(0, 1) for _ in range(200)]
    return [[number(x, 3), number(math.sin(2 * x) + 0.2 * rng.gauss(0, 1), 3)] for x in xs]


def tiny(rng):
    """50 rows of four numbers."""
    return texts(gaussian_rows(rng, 50, 4, 1))


def ten_numbers(rng):
    """200 rows of ten numbers."""
    return texts(gaussian_rows(rng, 200, 10, 3))


def wide(rng):
    """150 rows of 28 numbers."""
    return texts(gaussian_rows(rng, 150, 28, 4))


def many_gaussian(rng):
    """2000 rows of eight numbers, a Gaussian with full covariance."""
    return texts(gaussian_rows(rng, 2000, 8, 3), 3)


def noise(rng):
    """300 rows of twelve numbers that have nothing to do with each other."""
    return texts([[rng.gauss(0, 1) for _ in range(12)] for _ in range(300)])


def ring(rng):
    """1000 points near a circle."""
    turns = [(rng.uniform(0, 2 * math.pi), 1 + 0.05 * rng.gauss(0, 1)) for _ in range(1000)]
    return [[number(r * math.cos(a), 3), number(r * math.sin(a), 3)] for a, r in turns]


def tight(rng):
    """400 rows in four clusters of standard deviation 0.02."""
    middles = [[rng.uniform(-1, 1) for _ in range(4)] for _ in range(4)]
    return [[number(m + 0.02 * rng.gauss(0, 1), 3) for m in rng.choice(middles)] for _ in range(400)]


def labels(rng):
    """300 rows of eight labels from three groups, and a number."""
    letters = "abcde"
    tilts = [[[rng.random() ** 3 for _ in letters] for _ in range(8)] for _ in range(3)]
    groups = [rng.randrange(3) for _ in range(300)]
    return [[rng.choices(letters, tilt)[0] for tilt in tilts[g]] + [number(g + rng.gauss(0, 1))] for g in groups]


def outlier(rng):
    """200 rows of six numbers, one of them a thousand standard deviations away."""
    rows = texts(gaussian_rows(rng, 200, 6, 2))
    rows[17][2] = number(1500)
    return rows


def outliers(rng):
    """600 rows of six numbers, of which one in two hundred is far away."""
    rows = list(gaussian_rows(rng, 600, 6, 2))
    return texts([[value * (50 if rng.random() < 0.005 else 1) for value in row] for row in rows])


def copies(rng):
    """400 rows of six numbers, half of them copies of others."""
    rows = texts(gaussian_rows(rng, 200, 6, 2))
    return rows + [rng.choice(rows) for _ in range(200)]


def constant(rng):
    """250 rows; one of five columns is constant, another but for one row."""
    rows = [row[:3] + ["7", "0"] for row in texts(gaussian_rows(rng, 250, 3, 1))]
    rows[40][4] = "1"
    return rows


def follows(rng):
    """500 rows; the third number is the sum of two, the label says whether the first is positive."""
    rows = []
    for first, second in ((round(rng.gauss(0, 1), 2), round(rng.gauss(0, 1), 2)) for _ in range(500)):
        rows.append([number(first), number(second), number(first + second), "yes" if first > 0 else "no", number(rng.gauss(0, 1))])
    return rows


def zeros(rng):
    """1500 rows; three columns are zero but for one row in a hundred, which goes with the others."""
    rows = []
    for row in gaussian_rows(rng, 1500, 5, 2):
        rare = [number(abs(row[i]) * rng.uniform(0.2, 1)) if rng.random() < 0.01 else "0.00" for i in range(3)]
        rows.append(texts([row])[0] + rare)
    return rows


def heavy(rng):
    """800 rows of five numbers with heavy tails."""
    return texts([[math.exp(1.5 * value) for value in row] for row in gaussian_rows(rng, 800, 5, 2)])


def counts(rng):
    """600 rows of six counts that rise together."""
    rows = []
    for _ in range(600):
        level = math.exp(rng.gauss(0, 0.7))
        rows.append([str(sum(rng.expovariate(1) < 0.05 * (c + 1) * level for _ in range(40))) for c in range(6)])
    return rows


def gaps(rng):
    """1200 rows of four numbers and three labels, a tenth of the cells missing."""
    rows = []
    for row in gaussian_rows(rng, 1200, 6, 2):
        words = ["low" if value < -1 else "middle" if value < 1 else "high" for value in row[4:]] + [rng.choice(["x", "y"])]
        rows.append([cell if rng.random() > 0.1 else "" for cell in texts([row[:4]])[0] + words])
    return rows


def months(rng):
    """480 rows by date: a number with a yearly course and a trend, and two more."""
    rows = []
    for i in range(480):
        warm = 10 - 9 * math.cos(2 * math.pi * i / 12) + rng.gauss(0, 1.5)
        rows.append([f"{1980 + i // 12}-{i % 12 + 1:02d}-01", number(warm, 1), number(3 * warm + rng.gauss(0, 4), 1), str(int(100 + i / 4 + rng.gauss(0, 5)))])
    return rows


def rounded(rng):
    """700 rows of five numbers of which each takes some dozen values."""
    return texts(gaussian_rows(rng, 700, 5, 2), 0)


MADE = {f.__name__.replace("_", "-"): f for f in (two_columns, tiny, ten_numbers, wide, many_gaussian, noise, ring, tight, labels, outlier, outliers,
                                                  copies, constant, follows, zeros, heavy, counts, gaps, months, rounded)}


def write_made(folder):
    """{name: file} of all of them; the same bytes each time."""
    for name, make in MADE.items():
        rows = make(random.Random(f"made {name}"))
        write_table(folder / f"{name}.csv", [f"c{i}" for i in range(len(rows[0]))], rows)
    return {name: folder / f"{name}.csv" for name in MADE}
