# experiments/samples as far as it needs no packages: the split, what is made anew and what is kept, the page of the results.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_SOURCE_DIR:?}"
python=${PYTHON:-python3}
"$python" -c '' 2>/dev/null || exit 77

mkdir -p tree/docs tree/bench tree/build data/tables data/small data/census
cp -r "$NADE_SOURCE_DIR/experiments" tree
rm -rf tree/experiments/results
cp "$NADE_SOURCE_DIR/bench/source_tree.py" tree/bench
printf 'above\n<!-- begin: written by experiments/samples -->\n<!-- end: written by experiments/samples -->\nbelow\n' >tree/docs/samples.md
samples() { "$python" tree/experiments/samples "$@"; }

awk 'BEGIN { print "a,b"; for (i = 0; i < 50; i++) print i ",x" i % 3 }' | gzip >data/tables/named.csv.gz
awk 'BEGIN { for (i = 0; i < 50; i++) print i "," i % 3 }' | gzip >data/small/bare.csv.gz
quick='--iterations 1 --updates 2 --hidden 4'
make_samples() { samples data --make-only --nade "$NADE" --work work --tables named,bare --seeds 1,2 --train-options "$1"; }

# A tenth and a fifth test, no row is in both parts; a table without names gets some.  As many rows are drawn.
expect 0 make_samples "$quick"
[ "$(wc -l <work/named/test.csv) $(wc -l <work/named/train.csv)" = "6 46" ] || fail "not a tenth of named tests"
[ "$(wc -l <work/bare/test.csv) $(wc -l <work/bare/train.csv)" = "11 41" ] || fail "not a fifth of bare tests"
[ "$(head -qn 1 work/bare/*.csv | sort -u)" = c0,c1 ] || fail "the columns of bare are not c0 and c1"
[ "$(tail -qn +2 work/named/*.csv | sort -u | wc -l)" = 50 ] || fail "a row of named is in both parts or in none"
[ "$(wc -l <work/named/seed1/samples.csv)" = 46 ] || fail "not as many samples as training rows"
cmp -s work/named/seed1/samples.csv work/named/seed2/samples.csv && fail "two seeds drew the same rows"
tail -n +2 work/named/train.csv | sort -n -c 2>/dev/null && fail "the rows were not shuffled"

# A second run keeps what is there, other options make it anew.
cp -p work/named/seed1/made.json work/bare/test.csv .
expect 0 make_samples "$quick"
cmp made.json work/named/seed1/made.json || fail "made again"
cmp test.csv work/bare/test.csv || fail "another split"
expect 0 make_samples "$quick --components 2"
holds work/named/seed1/made.json 'components 2'

# What was made with options does not get among the results without.
keep_plain() { samples data --make-only --measure-only --work work --tables named --seeds 1; }
expect 1 keep_plain
holds err 'the samples were made with train --iterations 1' 'expected --results FILE'

# What nade says of a failure is told, and there are no samples then.
expect 1 make_samples "--hidden none"
holds err 'named, seed 1: nade train ended with 2, expected 0; it said: nade: ' 'bare, seed 2: nade train'
[ ! -e work/named/seed1/made.json ] || fail "samples of a training that failed"
expect 1 samples data --make-only --nade "$NADE" --tables other
holds err 'there is no table other in data, expected one of census, named, bare'

# The page: means over seeds, deviations of the samples; a run that failed is told of.
mkdir tree/experiments/results
"$python" - >tree/experiments/results/samples.json <<'END'
import json


def rows(figure):
    return {"classifier": {"figure": figure, "given_away_by": [["b", 0.7], ["a", 0.3]]}, "outside": {"cells": 0.01, "negative": 0.5, "columns": {"a": 0.02}},
            "shapes": {"mean": 0.9, "columns": {"a": 0.85, "b": 0.95}}, "trends": {"mean": 0.8},
            "trained_on": {"measure": "AUC", "score": figure}, "nearest": {"nearer": {"0.02": 0.021, "0.05": 0.054}, "copies": 0.1}}


def run(seed, figure):
    made = {"options": "", "sources": "0123456789abcdef", "device": "cpu", "where": "a CPU", "seconds": {"train": 2, "sample": 1}}
    return {"seed": seed, "made": made, "rows": [45, 5], "target": "b", "left_out": ["id"], "samples": rows(figure), "independent": rows(0.1), "real": rows(0.99)}


print(json.dumps({"magic": {"1": run(1, 0.5), "2": run(2, 0.7)}, "named": {"1": {"seed": 1, "failed": "it fell over"}}}))
END
expect 1 samples --check
holds out 'docs/samples.md is not what experiments/samples writes'
expect 0 samples --page
holds tree/docs/samples.md above below '| magic | 0.60 ± 0.14 | 0.10 | 0.99 | 0.90 | b 0.70, a 0.30 |' '- named, seed 1: it fell over' \
    '| magic | b | AUC | 0.600 ± 0.141 | 0.100 | 0.990 |' 'a 2.00 %' '| magic | 45 | 5 | 1, 2 | 2.0 | 1.0 | a CPU | 0123456789ab | none |' \
    'Of magic the model left out id: the other columns are compared.'
expect 0 samples --check

# The page in the tree.
expect 0 "$python" "$NADE_SOURCE_DIR/experiments/samples" --check
