"""The only module that imports scikit-learn's private names: one rename there, one line here."""

from sklearn.base import _fit_context as fit_context
from sklearn.cluster._kmeans import _tolerance as scaled_tolerance
from sklearn.mixture._gaussian_mixture import _compute_precision_cholesky as precision_cholesky
from sklearn.mixture._gaussian_mixture import _estimate_gaussian_parameters as gaussian_parameters
from sklearn.mixture._gaussian_mixture import _estimate_log_gaussian_prob as log_gaussian
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.parallel import _get_threadpool_controller as threadpool_controller
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import validate_data

__all__ = [
    "Interval",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "gaussian_parameters",
    "log_gaussian",
    "precision_cholesky",
    "scaled_tolerance",
    "threadpool_controller",
    "validate_data",
]
