# nade train --map of CSV files: rows stay in the file, and the model is that of the loaded table.
. "$(dirname "$0")/../support/checks.bash"

# mixed.csv: 12,000 rows whose columns have labels with quotes, separators and line ends, dates, amounts in another
# form, holes, doubtful marks, a text before more numbers than a column of them has as labels; among blank lines and
# comments.  wide.csv: more cells than a sample has, with 40 columns that hold a value in one row alone.
python3 - <<'PYTHON'
import random
random.seed(4)
with open("mixed.csv", "w", newline="") as file:
    file.write("\ufeff# made\r\nx;5;\"a\n;name\";day;amount;mixed;odd\r\n")
    for row in range(12000):
        z = random.gauss(0, 1)
        label = random.choice(['"one;two"', '"a\nb"', '"say ""yes"""', "plain", "NA", '"\r\n\n"'])
        cells = [f"{z:.6f}".replace(".", ",") if row % 9 else "", random.choice(["yes", "no"]), label,
                 f"{random.randrange(1, 29):02}.{random.randrange(1, 13):02}.20{random.randrange(10, 20)}",
                 f"{1000 + 500 * random.random():,.2f}".replace(",", " ").replace(".", ",") + " €",
                 "A" if row == 0 else str(row % 1500), random.choice(["-", "low", "high"])]
        file.write(";".join(cells) + ("\r\n" if row % 3 else "\n"))
        if row % 1000 == 7:
            file.write("\n# a comment; of no row\n\n")
with open("wide.csv", "w") as file:
    rows = [[random.choice("01234") for _ in range(420)] for _ in range(50)]
    file.write(",".join(f"c{i}" for i in range(420)) + "\n")
    for row in range(50000):
        cells = list(rows[row % 50])
        if row == 0:
            cells[:40] = ["11"] * 39 + ["x"]  # so that 9 is no extreme
        if (row - 700) % 1100 == 0 and row < 700 + 40 * 1100:
            cells[(row - 700) // 1100] = "9"
        file.write(",".join(cells) + "\n")
with open("plain.csv", "w") as file:
    for row in range(11000):
        file.write(f"{random.gauss(0, 1)},{row % 7},{random.choice('ab')}\n")
PYTHON
short=(--quiet --effort quick --width 16 --batch 50 --updates 5 --iterations 2 --device cpu --threads 1)
alike() { # alike DATA OPTIONS...: the same bytes with --map and without
    expect 0 "$NADE" train "$@" -o loaded "${short[@]}"
    expect 0 "$NADE" train "$@" -o mapped --map "${short[@]}"
    cmp loaded mapped || fail "rows that stay in the file give another model: $*"
}
alike mixed.csv --categorical mixed
alike mixed.csv --categorical 5,mixed --drop x --valid-fraction 0.3
alike plain.csv
alike plain.csv --columns 0,2 --valid plain.csv

# It is --map that was tried: a value that one row holds is known, though that row is not among those that are spread.
expect 0 "$NADE" train wide.csv -o wide --map "${short[@]}"
expect 0 "$NADE" info --json wide
[ "$(grep -o '"9"' out | wc -l)" = 40 ] || fail 'a value that one row holds is not known'
expect 2 "$NADE" train wide.csv -o wide --map --holes "${short[@]}"
holds err 'wide.csv is to be learnt with its holes' 'without --map'

# What is wrong with a row is told as without --map.
wrong() { # wrong STATUS: of wrong.csv
    expect "$1" "$NADE" train wrong.csv -o never "${short[@]}"
    cp err loaded
    expect "$1" "$NADE" train wrong.csv -o never --map "${short[@]}"
    cmp loaded err || fail "$(cat err), without --map $(cat loaded)"
}
sed '9000s/$/,1/' plain.csv >wrong.csv
wrong 2
sed '9000s/^/x/' plain.csv >wrong.csv
wrong 2
sed '9000s/^[^,]*/inf/' plain.csv >wrong.csv
wrong 2
sed '9000s/^/"/' plain.csv >wrong.csv
wrong 2

# Files of few rows and such that can't be read at any place are loaded.
head -n 5000 plain.csv >few.csv
alike few.csv
gzip -kf plain.csv
alike plain.csv.gz
