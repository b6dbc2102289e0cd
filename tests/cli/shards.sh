# A table in several files, named by a pattern: what it comes to is what one file would.
. "$(dirname "$0")/../support/checks.bash"

python3 - <<'PYTHON'
import array, random
random.seed(7)
rows = [[random.choice('ab'), round(random.gauss(0, 1), 3), f'"t{random.randrange(3)},\n"'] for _ in range(12000)]
text = [",".join(map(str, row)) for row in rows]
names = 'kind,"x\ny",t'
def write(path, head, lines, end="\n"):
    with open(path, "w", newline="") as file:
        file.write("\n".join(([head] if head else []) + lines) + end)
write("all.csv", names, text)
write("part-0.csv", names, [])  # as Spark leaves them: names alone
write("part-1.csv", names, text[:3000], "")
write("part-10.csv", '"kind",  "x\ny",t\r', text[3000:5000])
write("part-2.csv", names, text[5000:])
write("bare.csv", "", text)
write("bare-1.csv", "", text[:9000], "")
write("bare-2.csv", "", text[9000:])
open("bare-3.csv", "w")
def save(path, items, rows):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 3), }" % rows
    head += " " * (117 - len(head)) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + items.tobytes())
items = array.array("f", [random.gauss(0, 1) if i % 3 else i % 2 for i in range(36000)])
save("all.npy", items, 12000)
save("part-0.npy", items[:3], 1)
save("part-1.npy", items[3:30000], 9999)
save("part-2.npy", items[30000:], 2000)
PYTHON
short=(--quiet --effort quick --width 16 --batch 50 --updates 5 --iterations 2 --device cpu --threads 1)
# Order is that of the names' bytes.
alike() { # alike FILE PATTERN
    expect 0 "$NADE" train "$1" -o whole "${short[@]}"
    for map in '' --map; do
        expect 0 "$NADE" train "$2" -o parts $map "${short[@]}"
        cmp whole parts || fail "$2 $map gives another model than $1"
    done
    expect 0 "$NADE" score whole "$1" -q
    mv out scores
    expect 0 "$NADE" score whole "$2" -q
    cmp scores out || fail "$2 is scored otherwise than $1"
}
alike all.csv 'part-*.csv'
alike bare.csv 'bare-[0-9].csv'
alike all.npy 'part-?.npy'

# A file of that very name is that file.
cp all.csv 'part-*.csv'
rm part-1.csv
alike all.csv 'part-*.csv'
rm 'part-*.csv'

# A pattern that the shell has read.
refuse 2 "unexpected argument 'part-2.npy'" 'is a pattern in quotes' -- "$NADE" train part-1.npy part-2.npy -o never

# Files that do not belong together.
refuse 2 'none-*.csv: cannot be opened' -- "$NADE" train 'none-*.csv' -o never
sed '1s/kind/sort/' part-2.csv >part-3.csv
sed -i '2s/y/z/' part-3.csv
refuse 2 'part-3.csv: its first line is not that of part-2.csv' -- "$NADE" train 'part-*.csv' -o never
rm part-3.csv
gzip -k part-2.csv
refuse 2 'part-2.csv.gz: is a part of part-*' -- "$NADE" train 'part-*[vz]' -o never
refuse 2 'part-0.npy: is an array, expected another file of the kind of part-0.csv' -- "$NADE" train 'part-*[vy]' -o never
sed '1s/(1, 3)/(3, 1)/' part-0.npy >part-3.npy
refuse 2 'part-3.npy: has 1 columns, expected 3 as in part-0.npy' -- "$NADE" train 'part-*.npy' -o never
sed '1s/<f4/<i4/' part-0.npy >part-3.npy
refuse 2 'part-3.npy: has numbers of another type than part-0.npy' -- "$NADE" train 'part-*.npy' -o never
head -c 136 part-0.npy >part-3.npy
refuse 2 'part-3.npy: has 136 bytes, expected a header and the items of 1 rows of 3 columns' -- "$NADE" train 'part-*.npy' -o never
