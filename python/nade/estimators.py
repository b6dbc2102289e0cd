"""Estimators with scikit-learn's contract. They work without scikit-learn too; where it is installed they are its own
kind, so that pipelines, searches and clone take them.

All take tables of any kind that nade.fit does, with holes, text and dates, not only arrays of numbers.
"""
from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ._added_column import with_column
from ._density import ask
from ._errors import BadCall
from ._frames import Frame, frame_of
from ._model import Model
from ._numbers import share_of
from ._thresholds import Thresholds
from ._train import fit as fit_model

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError
except ImportError:  # stand-ins with what the estimators below need
    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by the names of __init__."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters by name."""
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params: Any) -> Any:
            """Change parameters by name."""
            for name, value in params.items():
                if name not in self.get_params():
                    raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}")
                setattr(self, name, value)
            return self

    class ClassifierMixin:  # type: ignore[no-redef]
        """score is the accuracy."""

        def score(self, X: Any, y: Any) -> float:
            """The share of labels that are right."""
            return float(np.mean(self.predict(X) == np.asarray(y)))  # type: ignore[attr-defined]

    class RegressorMixin:  # type: ignore[no-redef]
        """score is R²."""

        def score(self, X: Any, y: Any) -> float:
            """The share of the variance that is explained."""
            y = np.asarray(y, dtype=float)
            rest = ((y - self.predict(X)) ** 2).sum()  # type: ignore[attr-defined]
            return float(1 - rest / ((y - y.mean()) ** 2).sum())

    class OutlierMixin:  # type: ignore[no-redef]
        """fit and predict at once."""

        def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
            """1 for ordinary rows, -1 for outliers."""
            return self.fit(X).predict(X)  # type: ignore[attr-defined]

    class TransformerMixin:  # type: ignore[no-redef]
        """fit and transform at once."""

        def fit_transform(self, X: Any, y: Any = None) -> Any:
            """The table with its holes filled."""
            return self.fit(X).transform(X)  # type: ignore[attr-defined]

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The estimator was asked before it was fitted."""


_TARGET = "target of the estimator"  # the name that the target has among the columns of a frame


class _Estimator(BaseEstimator):
    """What all have: a table, a model, and how it is fitted."""

    def __init__(self, *, kind: str = "network", effort: str = "normal", iterations: int | None = None,
                 members: int | None = None, time_limit: float | None = None, types: Any = None, device: str = "auto",
                 random_state: Any = 0, options: Any = None) -> None:
        self.kind = kind
        self.effort = effort
        self.iterations = iterations
        self.members = members
        self.time_limit = time_limit
        self.types = types
        self.device = device
        self.random_state = random_state
        self.options = options

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": True}  # scikit-learn before 1.6

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _take(self, X: Any, reset: bool) -> Frame:
        """A table, held against the one that the estimator was fitted to."""
        if not reset and not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        if hasattr(X, "toarray"):
            raise TypeError("Sparse data was passed for X, but dense data is required: X.toarray() makes it so")
        if not isinstance(X, (str, dict)) and (isinstance(X, (np.ndarray, list, tuple)) or not _is_frame(X)):
            X = self._take_array(X, reset)
        frame = frame_of(X)
        if frame.types is None:
            raise BadCall("found a file or a stream, expected a table in memory: read it first")
        if not isinstance(X, np.ndarray):
            self._check_names(frame, reset)
        return frame

    def _take_array(self, X: Any, reset: bool) -> np.ndarray:
        words = np.asarray(X).dtype.kind in "OUS" and _has_text(X)
        asked = {"reset": reset, "dtype": object if words else "numeric", "ensure_min_samples": 2 if reset else 1}
        finite = False if words else "allow-nan"
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:
            if hasattr(self, "_validate_data"):  # scikit-learn before 1.6
                return self._validate_data(X, force_all_finite=finite, **asked)
            X = np.asarray(X)
            if X.ndim != 2:
                raise BadCall(f"found an array of {X.ndim} dimensions, expected two: rows and columns") from None
            if reset:
                self.n_features_in_ = X.shape[1]
            elif X.shape[1] != self.n_features_in_:
                raise BadCall(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                              f"{self.n_features_in_} features as input") from None
            return X
        return validate_data(self, X, ensure_all_finite=finite, **asked)

    def _check_names(self, frame: Frame, reset: bool) -> None:
        assert frame.types is not None
        if reset:
            self.n_features_in_ = len(frame.types)
            self.__dict__.pop("feature_names_in_", None)
            if frame.names is not None:
                self.feature_names_in_ = np.array(frame.names, dtype=object)
            return
        known = getattr(self, "feature_names_in_", None)
        if known is not None and frame.names is not None and list(known) != frame.names:
            lacking = sorted(set(known) - set(frame.names))
            unknown = sorted(set(frame.names) - set(known))
            raise BadCall("The feature names should match those that were passed during fit."
                          + (f" Feature names unseen at fit time: {', '.join(unknown)}." if unknown else "")
                          + (f" Feature names seen at fit time, yet now missing: {', '.join(lacking)}." if lacking
                             else " Feature names must be in the same order as they were in fit."
                             if not unknown else ""))
        if len(frame.types) != self.n_features_in_:
            raise BadCall(f"X has {len(frame.types)} features, but {type(self).__name__} is expecting "
                          f"{self.n_features_in_} features as input")

    def _seed(self, random_state: Any) -> int:
        if random_state is None:
            return int(np.random.randint(2**31 - 1))  # NumPy's own, as scikit-learn takes it
        if isinstance(random_state, (int, np.integer)):
            return int(random_state)
        return int(random_state.randint(2**31 - 1))  # numpy.random.RandomState

    def _values(self, frame: Frame) -> np.ndarray:
        """The library's numbers, infinite where a column can't have the value."""
        return self.model_._values(frame.table(), None, "missing", warn=False)[0]

    def _possible_values(self, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        """These with missing cells in the place of infinite ones, and which rows have such."""
        values = self._values(frame)
        impossible = np.isinf(values)
        values[impossible] = np.nan
        return values, impossible.any(axis=1)

    def _fit_model(self, data: Any, types: Any = None) -> Model:
        model = fit_model(data, kind=self.kind, effort=self.effort, iterations=self.iterations, members=self.members,
                          time_limit=self.time_limit, types={**(self.types or {}), **(types or {})},
                          device=self.device, seed=self._seed(self.random_state), progress=False,
                          **(self.options or {}))
        model.device = self.device
        return model


def _is_frame(X: Any) -> bool:
    return type(X).__module__.split(".")[0] in ("pandas", "polars", "pyarrow") and hasattr(X, "shape")


def _has_text(X: Any) -> bool:
    return any(isinstance(cell, str) for cell in np.asarray(X, dtype=object).ravel()[:1000].tolist())


class DensityEstimator(_Estimator):
    """A density over tables: score_samples and sample as of sklearn.neighbors.KernelDensity; score is the mean log
    density, as of sklearn.mixture.GaussianMixture, where KernelDensity's is the sum.

    kind, effort, iterations, members, time_limit, types, device: as of nade.fit; random_state is its seed, options a
    dict of further ones. orderings: over how many the density is a mean.

    >>> import numpy as np, nade
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> nade.DensityEstimator(effort="quick", iterations=2).fit(X).score_samples(X).shape
    (200,)
    """

    def __init__(self, *, orderings: int = 8, kind: str = "network", effort: str = "normal",
                 iterations: int | None = None, members: int | None = None, time_limit: float | None = None,
                 types: Any = None, device: str = "auto", random_state: Any = 0, options: Any = None) -> None:
        super().__init__(kind=kind, effort=effort, iterations=iterations, members=members, time_limit=time_limit,
                         types=types, device=device, random_state=random_state, options=options)
        self.orderings = orderings

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        return tags

    def fit(self, X: Any, y: Any = None) -> DensityEstimator:
        """Fit a model to the rows of X."""
        frame = self._take(X, reset=True)
        self.model_ = self._fit_model(frame)
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """The log density of each row: -inf where a value is one that its column can't have, a label that training has
        not seen or a number beyond the column's bounds. Missing cells are marginalised."""
        values, impossible = self._possible_values(self._take(X, reset=False))
        return np.where(impossible, -np.inf, self.model_._score_values(values, self.orderings))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log density of the rows, -inf where one is impossible."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draw rows, as a table of the kind that the model was fitted to; without random_state others each time."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("This DensityEstimator instance is not fitted yet. Call 'fit' first.")
        return self.model_.sample(n_samples, seed=self._seed(random_state))


class OutlierDetector(OutlierMixin, _Estimator):
    """Rows of low density are outliers.

    contamination: the share of the training rows that are. Other parameters as of DensityEstimator. After fit,
    offset_ is the log density that divides the two.

    A value that its column can't have, a label that training has not seen or a number beyond the column's bounds, has
    the density 0, and its row is an outlier. A row with holes is held against training rows without the same cells,
    since log densities of different cells do not compare.

    >>> import numpy as np, nade
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> detector = nade.OutlierDetector(contamination=0.05, effort="quick", iterations=2).fit(X)
    >>> detector.predict([[0.0, 0.0], [50.0, -50.0]]).tolist()
    [1, -1]
    """

    def __init__(self, *, contamination: float = 0.1, orderings: int = 8, kind: str = "network", effort: str = "normal",
                 iterations: int | None = None, members: int | None = None, time_limit: float | None = None,
                 types: Any = None, device: str = "auto", random_state: Any = 0, options: Any = None) -> None:
        super().__init__(kind=kind, effort=effort, iterations=iterations, members=members, time_limit=time_limit,
                         types=types, device=device, random_state=random_state, options=options)
        self.contamination = contamination
        self.orderings = orderings

    def fit(self, X: Any, y: Any = None) -> OutlierDetector:
        """Fit a model to the rows of X."""
        if not 0 < self.contamination <= 0.5:
            raise BadCall(f"contamination: found {self.contamination!r}, expected a share above 0 and up to 0.5")
        frame = self._take(X, reset=True)
        self.model_ = self._fit_model(frame)
        self._thresholds = Thresholds(self.model_, self._values(frame), self.contamination, self.orderings)
        self.offset_ = self._thresholds.whole
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """The log density of each row: the lower, the odder. That of a row with holes is shifted, by as much as the
        density that divides rows with its cells alone differs from offset_; -inf where a value is impossible."""
        values, impossible = self._possible_values(self._take(X, reset=False))
        shift = self.offset_ - self._thresholds.of(values)
        return np.where(impossible, -np.inf, self.model_._score_values(values, self.orderings) + shift)

    def decision_function(self, X: Any) -> np.ndarray:
        """score_samples less offset_: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """1 for ordinary rows, -1 for outliers."""
        return np.where(self.decision_function(X) < 0, -1, 1)


class Imputer(TransformerMixin, _Estimator):
    """Fills missing cells given the observed cells of their row.

    method: "draw", "mean", "median" or "mode"; draws depend on a row's number and random_state.

    >>> import numpy as np, nade
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[0, 1] = np.nan
    >>> bool(np.isnan(nade.Imputer(method="median", effort="quick", iterations=2).fit_transform(X)).any())
    False
    """

    def __init__(self, *, method: str = "draw", kind: str = "network", effort: str = "normal",
                 iterations: int | None = None, members: int | None = None, time_limit: float | None = None,
                 types: Any = None, device: str = "auto", random_state: Any = 0, options: Any = None) -> None:
        super().__init__(kind=kind, effort=effort, iterations=iterations, members=members, time_limit=time_limit,
                         types=types, device=device, random_state=random_state, options=options)
        self.method = method

    def fit(self, X: Any, y: Any = None) -> Imputer:
        """Fit a model to the rows of X, holes and all."""
        self.model_ = self._fit_model(self._take(X, reset=True))
        return self

    def transform(self, X: Any) -> Any:
        """The same table without its holes."""
        frame = self._take(X, reset=False)
        return self.model_.impute(frame, method=self.method, seed=self._seed(self.random_state), unseen="missing")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns, which stay."""
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            if known is not None and list(known) != list(input_features):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(input_features) != self.n_features_in_:
                raise ValueError("input_features should have length equal to number of features "
                                 f"({self.n_features_in_}), got {len(input_features)}")
            return np.asarray(input_features, dtype=object)
        return known if known is not None else np.array([f"x{i}" for i in range(self.n_features_in_)], dtype=object)


class _Supervised(_Estimator):
    """A column more, the target, whose distribution given the others is the answer."""

    def _fit_target(self, frame: Frame, target: np.ndarray, type_: str | None) -> None:
        data, name = with_column(frame, _TARGET, target)
        self.model_ = self._fit_model(data, {name: type_} if type_ else None)
        names = self.model_.names
        self.target_ = names[-1] if str(name) not in names else str(name)

    def _values(self, X: Any) -> tuple[int, np.ndarray]:
        frame = self._take(X, reset=False)
        target = self.model_._place(self.target_)
        features = [place for place in range(len(self.model_.columns)) if place != target]
        return target, self.model_._row_values(frame, [self.target_], features, "missing")[0]

    def _check_target(self, X: Any, y: Any, numeric: bool) -> np.ndarray:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        try:
            from sklearn.utils.validation import check_consistent_length, column_or_1d
        except ImportError:
            y = np.asarray(y).ravel()
        else:
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        if y.dtype.kind in "fc" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity, expected a value for each row")
        return y.astype(np.float64) if numeric else y


class Classifier(ClassifierMixin, _Supervised):
    """The probabilities of labels given the rest of a row, which may have holes.

    Parameters as of DensityEstimator. The model is one of all columns together; it is fitted to describe the table, not
    to tell the labels apart, so that a method made for that alone may be better at it.

    >>> import numpy as np, nade
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> classifier = nade.Classifier(effort="quick", iterations=2).fit(X, np.where(X[:, 0] > 0, "up", "down"))
    >>> classifier.predict_proba(X[:3]).shape, classifier.classes_.tolist()
    ((3, 2), ['down', 'up'])
    """

    def fit(self, X: Any, y: Any) -> Classifier:
        """Fit a model to the rows of X with the labels y."""
        frame = self._take(X, reset=True)
        y = self._check_target(X, y, numeric=False)
        try:
            from sklearn.utils.multiclass import check_classification_targets
        except ImportError:
            pass
        else:
            check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 1:
            self._fit_target(frame, codes.astype(np.float64), "categorical" if len(self.classes_) > 2 else None)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(rows, classes) in the order of classes_."""
        if getattr(self, "classes_", None) is not None and len(self.classes_) == 1:
            return np.ones((self._take(X, reset=False).rows, 1))
        place, values = self._values(X)
        shares = ask(self.model_, place, values, wanted=("probability",))["probability"]
        found = np.zeros((len(shares), len(self.classes_)))
        found[:, [int(float(label)) for label in self.model_.columns[place].choices]] = shares
        return found / found.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest label."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[likeliest]


class Regressor(RegressorMixin, _Supervised):
    """The distribution of a number given the rest of a row, which may have holes: mean, quantiles, intervals.

    Parameters as of DensityEstimator.

    >>> import numpy as np, nade
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> regressor = nade.Regressor(effort="quick", iterations=2).fit(X, X.sum(axis=1))
    >>> regressor.predict_quantiles(X[:3], [0.1, 0.5, 0.9]).shape
    (3, 3)
    """

    def fit(self, X: Any, y: Any) -> Regressor:
        """Fit a model to the rows of X with the numbers y."""
        frame = self._take(X, reset=True)
        self._fit_target(frame, self._check_target(X, y, numeric=True), "real")
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The mean."""
        place, values = self._values(X)
        return ask(self.model_, place, values, wanted=("mean",))["mean"]

    def predict_quantiles(self, X: Any, levels: Any = (0.05, 0.5, 0.95)) -> np.ndarray:
        """(rows, levels)."""
        place, values = self._values(X)
        levels = np.ascontiguousarray(levels, dtype=np.float64)
        return ask(self.model_, place, values, levels=levels, wanted=("quantile",))["quantile"]

    def predict_interval(self, X: Any, probability: float = 0.9) -> np.ndarray:
        """(rows, 2): the ends of the central interval of so much probability."""
        rest = (1 - share_of("probability", probability)) / 2
        return self.predict_quantiles(X, (rest, 1 - rest))
