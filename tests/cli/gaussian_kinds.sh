# One Gaussian, mixtures of Gaussians and of factor analysers: all verbs, the file's numbers against a program of a few lines, and
# what they refuse.
. "$(dirname "$0")/../support/checks.bash"

awk 'function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.2831853 * rand()) }
    BEGIN { srand(5); print "a,b,c,twice,flat"
    for (i = 0; i < 600; i++) {
        if (rand() < 0.4) { a = 2 + normal(); b = a + 0.5 * normal(); c = 0.3 * normal() }
        else { a = -1 + 0.4 * normal(); b = 3 - a + 0.3 * normal(); c = 1 + a + 0.2 * normal() }
        printf "%s,%.3f,%.3f,%.3f,7\n", (i % 11 ? sprintf("%.3f", a) : ""), b, c, 2 * c } }' >table.csv
real=(--real flat --keep flat)

expect 0 "$NADE" train table.csv "${real[@]}" --kind gaussian -o gaussian
grep -q '600 training rows, 0 validation rows' err || fail "rows are held out, by which one Gaussian has nothing to choose"
expect 0 "$NADE" train table.csv "${real[@]}" --kind mog --components 1 --valid-fraction 0 -o one
expect 0 "$NADE" train table.csv "${real[@]}" --kind mog -o mog
expect 0 "$NADE" train table.csv "${real[@]}" --kind mfa --components 3 --factors 2 -o mfa
expect 0 "$NADE" train table.csv "${real[@]}" --kind mfa --effort quick -o chosen
[ "$(grep -c '^4 components' err)" -ge 2 ] || fail "the second number of factors was tried with one and two components only"
for model in gaussian one mog mfa chosen; do
    expect 0 "$NADE" score $model table.csv -o $model.csv
    expect 0 "$NADE" info $model
done
holds out "mfa"
cmp gaussian.csv one.csv || fail "a mixture of one Gaussian is not the Gaussian"
mean() { awk 'NR > 1 { sum += $1 } END { print sum / (NR - 1) }' "$1"; }
awk -v a="$(mean mog.csv)" -v b="$(mean gaussian.csv)" 'BEGIN { exit !(a > b + 0.5) }' ||
    fail "a mixture of Gaussians fits two clusters no better than one does"

# The same bytes for any number of threads.
for threads in 1 3; do
    expect 0 "$NADE" train table.csv "${real[@]}" --kind mog --threads $threads -o mog.$threads
    expect 0 "$NADE" train table.csv "${real[@]}" --kind mfa --components 3 --factors 2 --threads $threads -o mfa.$threads
    expect 0 "$NADE" score mog table.csv --threads $threads -o scores.$threads
    cmp mog mog.$threads || fail "threads change a mixture of Gaussians"
    cmp mfa mfa.$threads || fail "threads change factor analysers"
    cmp mog.csv scores.$threads || fail "threads change scores"
done

# What is in the file is all that there is: log densities by elimination, holes left out.
cat >oracle.py <<'EOF'
import csv, json, math, struct, sys
raw = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8:8 + size])
about = json.loads(header["__metadata__"]["nade"])
def tensor(name):
    begin, end = header[name]["data_offsets"]
    return struct.unpack(f"<{(end - begin) // 4}f", raw[8 + size + begin:8 + size + end])
columns, k = about["columns"], about["architecture"]["components"]
d, weight, mean = len(columns), tensor("mixture.weight"), tensor("mixture.mean")
if about["architecture"]["kind"] == "mfa":
    f, loading, noise = about["architecture"]["factors"], tensor("mixture.loading"), tensor("mixture.noise")
else:
    f, loading, noise = d, tensor("mixture.factor"), [0] * (k * d)
total = math.log(sum(math.exp(w) for w in weight))
def covariance(j, r, c):
    line = lambda i: loading[(j * d + i) * f:(j * d + i + 1) * f]
    return sum(x * y for x, y in zip(line(r), line(c))) + (noise[j * d + r] ** 2 if r == c else 0)
def log_gaussian(j, x, at):
    a = [[covariance(j, r, c) for c in at] for r in at]
    b, out = [x[c] - mean[j * d + c] for c in at], 0
    for i in range(len(at)):
        out -= 0.5 * (math.log(2 * math.pi * a[i][i]) + b[i] ** 2 / a[i][i])
        for r in range(i + 1, len(at)):
            factor = a[r][i] / a[i][i]
            a[r] = [v - factor * u for v, u in zip(a[r], a[i])]
            b[r] -= factor * b[i]
    return out
scores = [float(line["log_density"]) for line in csv.DictReader(open(sys.argv[3]))]
for row, found in zip(csv.DictReader(open(sys.argv[2])), scores):
    at = [c for c in range(d) if row[columns[c]["name"]] != ""]
    x = {c: struct.unpack("f", struct.pack("f", (float(row[columns[c]["name"]]) - columns[c]["mean"]) / columns[c]["sd"]))[0] for c in at}
    terms = [weight[j] - total + log_gaussian(j, x, at) for j in range(k)]
    most = max(terms)
    log_p = most + math.log(sum(math.exp(t - most) for t in terms)) - sum(math.log(columns[c]["sd"]) for c in at)
    assert abs(log_p - found) < 1e-5 * (1 + abs(found)), (row, log_p, found)
EOF
for model in gaussian mog mfa; do python3 oracle.py $model table.csv $model.csv || fail "the file of $model says otherwise"; done

# All verbs.
expect 0 "$NADE" score mog table.csv --of a,b --given c --spread
expect 0 "$NADE" score mog table.csv --cells
expect 0 "$NADE" score mog table.csv --per-column
expect 0 "$NADE" sample mog -n 400 --seed 3 --where 'a>0.5' -o drawn.csv
awk -F, 'NR > 1 && !($1 > 0.499) { exit 1 } NR > 1 && ($4 - 2 * $3) ^ 2 > 0.01 { exit 1 }' drawn.csv || fail "draws leave their range or tear columns apart"
expect 0 "$NADE" sample mfa -n 5 --orderings 3
expect 0 "$NADE" impute mog table.csv --method mean -o filled.csv
awk -F, 'NR > 1 && $1 == "" { exit 1 }' filled.csv || fail "impute leaves holes"
expect 0 "$NADE" predict mog table.csv --of twice -o predicted.csv
paste -d, predicted.csv table.csv | awk -F, 'NR > 1 && ($1 - $8) ^ 2 > 0.01 { exit 1 }' || fail "what is twice a column is not predicted from it"
expect 0 "$NADE" check mfa table.csv
expect 0 "$NADE" outliers mog table.csv
expect 0 "$NADE" prob gaussian --where 'a>0' --given b=1
expect 0 "$NADE" compare mog gaussian table.csv
expect 0 "$NADE" compare mog mfa table.csv

# Refusals.
cut -d, -f1-4 table.csv >plain.csv
printf 'a,b,word\n1.5,2.25,x\n2.5,1.125,y\n3.5,0.5,z\n0.25,7.5,x\n' >words.csv
refuse 2 "column 'word' is categorical" "takes real columns alone" "--kind mixture" -- "$NADE" train words.csv --kind gaussian -o no
refuse 2 "--components" "is 3" "the kind gaussian has one" -- "$NADE" train plain.csv --kind gaussian --components 3 -o no
refuse 2 "--factors" "for the kind mfa" -- "$NADE" train plain.csv --kind mog --factors 2 -o no
refuse 2 "4 factors" "fewer than the 4 columns" -- "$NADE" train plain.csv --kind mfa --factors 4 -o no
refuse 2 "hidden" "for networks" -- "$NADE" train plain.csv --kind mog --hidden 5 -o no
refuse 2 "--holes" "does not learn where cells are missing" -- "$NADE" train plain.csv --kind mog --holes -o no
refuse 2 "column 'b' has bounds" -- "$NADE" train plain.csv --kind mog --bounds b=-50: -o no
refuse 2 "number of components is to be chosen" -- "$NADE" train plain.csv --kind mog --valid-fraction 0 -o no
refuse 2 "number of factors is to be chosen" -- "$NADE" train plain.csv --kind mfa --components 2 --valid-fraction 0 -o no
[ -e no ] && fail "a refused call leaves a model"

# Broken files: a covariance that is not positive definite, sizes that the file does not have, keys of other kinds.
cat >break.py <<'EOF'
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
header, data = json.loads(raw[8:8 + size]), bytearray(raw[8 + size:])
about = json.loads(header["__metadata__"]["nade"])
exec(sys.argv[2])
header["__metadata__"]["nade"] = json.dumps(about)
text = json.dumps(header).encode()
open("broken", "wb").write(struct.pack("<Q", len(text)) + text + data)
EOF
broken() { python3 break.py "$1" "$2" || fail "the file can't be broken"; }
broken mog 'at = header["mixture.factor"]["data_offsets"][0]; data[at:at + 4] = struct.pack("<f", 0)'
refuse 2 "broken" "mixture.factor" "deviation 0 for column 0 of component 0" -- "$NADE" score broken table.csv
broken mog 'at = header["mixture.factor"]["data_offsets"][1] - 4; data[at:at + 4] = struct.pack("<f", -0.5)'
refuse 2 "deviation -0.5 for column 4" -- "$NADE" sample broken -n 1
broken mfa 'at = header["mixture.noise"]["data_offsets"][0] + 4; data[at:at + 4] = struct.pack("<f", 1e-30)'
refuse 2 "mixture.noise" "column 1 of component 0" -- "$NADE" info broken
broken mog 'at = header["mixture.mean"]["data_offsets"][0]; data[at:at + 4] = struct.pack("<f", float("inf"))'
refuse 2 "mixture.mean holds a number that is not finite" -- "$NADE" info broken
broken mog 'about["architecture"]["components"] = 1000'
refuse 2 "the tensor mixture.weight has another shape" -- "$NADE" info broken
broken mfa 'about["architecture"]["factors"] = 1000'
refuse 2 "1000 factors" "fewer than the 5 columns" -- "$NADE" info broken
broken mog 'about["architecture"]["factors"] = 1'
refuse 2 'architecture."factors" is a key that' -- "$NADE" info broken
broken gaussian 'about["architecture"]["components"] = 2'
refuse 2 "a Gaussian has 2 components" -- "$NADE" info broken
broken mog 'about["architecture"]["kind"] = "mfa"'
refuse 2 "architecture.factors" -- "$NADE" info broken
