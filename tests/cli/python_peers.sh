# experiments/python-peers as far as it needs no packages: the page counts losses as it counts wins, and --check holds it to the results.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_SOURCE_DIR:?}"
python=${PYTHON:-python3}
"$python" -c '' 2>/dev/null || exit 77

mkdir -p tree/docs tree/bench
cp -r "$NADE_SOURCE_DIR/experiments" tree
rm -rf tree/experiments/results
mkdir tree/experiments/results
cp "$NADE_SOURCE_DIR/bench/source_tree.py" tree/bench
printf 'above\n<!-- begin: written by experiments/python-peers -->\n<!-- end: written by experiments/python-peers -->\nbelow\n' >tree/docs/python-peers.md
peers() { "$python" tree/experiments/python-peers "$@"; }

# More is better for nats, less for the error; a peer that was ended by the clock is neither won against nor lost to.
"$python" - >tree/experiments/results/python-peers.json <<'END'
import json
made = {"made": {"sources": "s", "options": ""}, "where": "w"}
cost = {"seconds": 2.0, "clock": 3.0, "megabytes": 40.0}
def table(ours, mixture, kernels, error, knn):
    return {"rows": 9, "test": 3, "columns": 2, "runs": {
        "density-1": {"nade": {"nats": ours, **cost, **made}, "mixture": {"nats": mixture, **cost}, "kernels": {"nats": kernels, **cost}},
        "imputation-1": {"nade": {"nrmse": error, **cost, **made}, "knn": {"nrmse": knn, **cost}, "miceforest": {"stopped": 300}}}}
print(json.dumps({"blood": table(-1.0, -2.0, -3.0, 0.5, 0.4), "yeast": table(-3.0, -2.5, -4.0, 0.5, 0.6), "airfoil": table(-1.0, -1.0, -2.0, 0.5, 0.1)}))
END
expect 1 peers --check
holds out 'docs/python-peers.md is not what experiments/python-peers writes'
expect 0 peers --page
expect 0 peers --check
page=tree/docs/python-peers.md
holds "$page" above below 'nade is ahead in 2 and behind in 3 of 6, equal in 1.'
holds "$page" '| log density | ahead in 1 and behind in 1 of 3, equal in 1 | GaussianMixture: ahead in 1 and behind in 1 of 3, equal in 1; KernelDensity: ahead in 3 and behind in 0 of 3 |'
holds "$page" '| error of filled numbers | ahead in 1 and behind in 2 of 3 |' 'miceforest: ahead in 0 and behind in 0 of 0'
holds "$page" '| blood | 0.500 | – | – | 0.400 | too slow | +0.100 (KNNImputer) |'
holds "$page" '| yeast | −3.00 | −2.50 | −4.00 | −0.50 (GaussianMixture) |' '| density | nade | 3 | 2.00 | 2.0 | 3.00 | 40 | 40 |'

# What is kept is what the repository's page says.
expect 0 "$python" "$NADE_SOURCE_DIR/experiments/python-peers" --check
