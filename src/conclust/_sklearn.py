"""The only module that imports scikit-learn's private names: one rename there, one line here."""

from sklearn.base import _fit_context as fit_context
from sklearn.cluster._kmeans import _tolerance as scaled_tolerance
from sklearn.ensemble._base import _set_random_states as set_random_states
from sklearn.metrics.pairwise import _euclidean_distances as unchecked_distances
from sklearn.mixture._gaussian_mixture import _compute_precision_cholesky as precision_cholesky
from sklearn.mixture._gaussian_mixture import _estimate_gaussian_parameters as gaussian_parameters
from sklearn.mixture._gaussian_mixture import _estimate_log_gaussian_prob as log_gaussian
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.parallel import _get_threadpool_controller as threadpool_controller
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import validate_data

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "gaussian_parameters",
    "log_gaussian",
    "precision_cholesky",
    "scaled_tolerance",
    "set_random_states",
    "threadpool_controller",
    "unchecked_distances",
    "validate_data",
]
