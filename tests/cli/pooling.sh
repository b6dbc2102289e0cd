# experiments/pooling: the lines of docs/imputation.md run, and R's mice pools what impute --form long writes to the figures by hand.
. "$(dirname "$0")/../support/checks.bash"
: "${NADE_SOURCE_DIR:?}"
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import numpy' 2>/dev/null || exit 77
Rscript -e 'library(mice)' >/dev/null 2>&1 || { echo "R's mice is not installed (r-cran-mice): skipped"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1

expect 0 "$python" "$NADE_SOURCE_DIR/experiments/pooling" --nade "$NADE" --no-packages --rows 150 --train '--effort quick --iterations 2 --updates 5'
holds out '(Intercept)' 'groupmid' "R's mice, beside by hand: within"
