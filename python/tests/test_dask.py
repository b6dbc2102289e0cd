"""A model goes through Dask's workers: scored and filled part by part, the same as at once."""
from __future__ import annotations

import numpy as np
import pytest

import nade
from conftest import QUICK

pandas = pytest.importorskip("pandas")
dask_frame = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("dask.distributed")


def score(part, model):
    nade.set_threads(1)
    return model.log_density(part)


def fill(part, model):
    nade.set_threads(1)
    return model.impute(part, method="median")


@pytest.mark.filterwarnings("ignore")
def test_local_cluster(columns):
    frame = pandas.DataFrame({name: columns[name] for name in ("x", "size", "count", "flag")})
    model = nade.fit(frame, **QUICK)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster):
        parts = dask_frame.from_pandas(frame, npartitions=4)
        scores = parts.map_partitions(score, model, meta=("log_density", float)).compute()
        filled = parts.map_partitions(fill, model, meta=frame.iloc[:0]).compute()
    pandas.testing.assert_series_equal(scores, model.log_density(frame))
    pandas.testing.assert_frame_equal(filled, model.impute(frame, method="median"))
    assert not np.isnan(scores).any()
