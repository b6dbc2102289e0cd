# experiments/impute-coverage: it runs, keeps repeats and goes on; the linear imputer covers where complete rows do not; the page is what is kept.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_SOURCE_DIR:?}"
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import numpy' 2>/dev/null || exit 77
export PYTHONDONTWRITEBYTECODE=1
coverage() { "$python" "$NADE_SOURCE_DIR/experiments/impute-coverage" "$@"; }
short() { coverage --nade "$NADE" --rows 80 --draws 2 --kinds mcar,curved-mild --train '--hidden 4 --iterations 1 --updates 2' --results kept.json "$@"; }

expect 0 short --repeats 1
holds out 'MCAR, 80 rows, 2 bootstrap members, effort quick, `--hidden 4 --iterations 1 --updates 2`, 1 repeats:' 'curved, MAR, 80 rows' \
    'draws by member' 'draws of a linear imputer'
cp kept.json first.json
expect 0 short --repeats 1
cmp kept.json first.json || fail "a repeat that is kept was done again"
expect 0 short --repeats 2
holds out '2 repeats:'
expect 0 short --slopes --repeats 2
holds out 'MCAR, effort quick --hidden 4'

# Straight tables whose holes follow another column: what is known to be right must come out so, or the measures are wrong.
expect 0 "$python" - "$NADE_SOURCE_DIR/experiments/impute-coverage" <<'END'
import importlib.machinery, importlib.util, sys
import numpy as np
loader = importlib.machinery.SourceFileLoader("coverage", sys.argv[1])
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("coverage", loader))
loader.exec_module(module)
held = {"linear": [], "complete": []}
for seed in range(40):
    whole, holed = module.simulate(300, "severe", seed)
    assert np.isnan(holed[:, 2]).mean() > 0.25 and not np.isnan(holed[:, [0, 3]]).any()
    random = np.random.default_rng(seed)
    drawn = [module.linear_draw(holed, random) for _ in range(5)]
    assert all((table[~np.isnan(holed)] == holed[~np.isnan(holed)]).all() for table in drawn)
    held["linear"].append([found[2] for found in module.judged(drawn).values()])
    held["complete"].append(module.judged([holed[~np.isnan(holed).any(axis=1)]])["mean of y"][2])
cover = np.mean(held["linear"], axis=0)
assert (cover >= 0.85).all(), f"the linear imputer covers {cover}, expected about 0.95"
assert np.mean(held["complete"]) < 0.1, f"complete rows cover {np.mean(held['complete'])}, expected almost never"
END

expect 0 coverage --check
