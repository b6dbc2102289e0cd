"""The Python packages that experiments measure with, in a virtual environment of their own."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ["numpy==2.4.6", "scipy==1.17.1", "pandas==3.1.1", "scikit-learn==1.9.1", "xgboost-cpu==3.2.0", "joblib==1.6.0",
            "cloudpickle==3.1.2", "narwhals==2.28.0", "python-dateutil==4.0.0", "threadpoolctl==3.8.0", "tzdata==2026.6",
            "miceforest==6.0.5", "lightgbm==4.6.0",  # miceforest calls what later versions of LightGBM do not have
            "statsmodels==0.15.0", "patsy==1.0.3", "formulaic==1.2.2", "interface_meta==2.0.1", "packaging==26.3",
            "typing_extensions==4.16.0", "wrapt==2.5.2"]
PYTHON = ROOT / "build" / "samples-python"


def use_packages():
    """Goes on in the virtual environment, which is made where it is not there or has other versions."""
    if pathlib.Path(sys.prefix) == PYTHON:
        return
    listed, wanted = PYTHON / "packages.txt", "\n".join(PACKAGES) + "\n"
    if not listed.exists() or listed.read_text() != wanted:
        print(f"installing {' '.join(PACKAGES)} in {PYTHON.relative_to(ROOT)}", file=sys.stderr, flush=True)
        for command in ([sys.executable, "-m", "venv", "--clear", str(PYTHON)],
                        [str(PYTHON / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", *PACKAGES]):
            if subprocess.run(command).returncode:
                sys.exit(f"{' '.join(command[:4])} failed, expected it to make {PYTHON.relative_to(ROOT)} with packages from PyPI")
        listed.write_text(wanted)
    # XGBoost's threads spin while they wait for each other; on a machine with other work that takes five times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.execv(PYTHON / "bin" / "python", [str(PYTHON / "bin" / "python"), *sys.argv])
