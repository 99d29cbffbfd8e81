"""Bregman projections under the LogDet divergence, one rank-one update each."""

import numpy as np

from conclust._kernels._jit import jit


@jit
def project_in_turn(differences, sign, gamma, factor, bound, multiplier, image, row):
    """Project once onto each statement, in the order given: a sweep of Algorithm 1 of ITML.

    differences      (m, d)   float64   in       x_i − x_j of each pair, none of them 0
    sign             (m,)     float64   in       δ: +1 distance at most, −1 at least the bound
    gamma            (m,)     float64   in       how stiff the bound of each statement is
    factor           (d, d)   float64   in/out   H, the metric being A = HᵀH
    bound            (m,)     float64   in/out   ξ, the bound as it has given way so far
    multiplier       (m,)     float64   in/out   λ ≥ 0
    image            (d,)     float64   work
    row              (d,)     float64   work

    A' = A + β A v vᵀ A is H' = (I + η w wᵀ) H with w = H v and (1 + η p)² = 1 + β p, p = wᵀw. A is
    positive definite whatever the rounding, since 1 + β p = 1 / (1 − δ α p) > 0: never is a
    difference of matrices taken. 3 d² multiplications per projection.

    Returns the change of ln det A.
    """
    d = factor.shape[0]
    change = 0.0
    for c in range(differences.shape[0]):
        np.dot(factor, differences[c], image)
        p = np.dot(image, image)
        if not p > 0.0:
            continue
        # The step that meets the bound while the bound gives way: p / (1 − δ α p) = ξ'. The form
        # δ/2 (1/p − γ/ξ), also met for this step, agrees with it for γ = 1 only.
        step = sign[c] * (1.0 / p - 1.0 / bound[c]) * (gamma[c] / (gamma[c] + 1.0))
        step = min(multiplier[c], step)
        if step == 0.0:
            continue
        growth = 1.0 / (1.0 - sign[c] * step * p)  # p' / p
        bound[c] = 1.0 / (1.0 / bound[c] + sign[c] * step / gamma[c])
        multiplier[c] -= step
        change += np.log(growth)
        eta = (np.sqrt(growth) - 1.0) / p
        np.dot(image, factor, row)
        for i in range(d):
            scale = eta * image[i]
            for j in range(d):
                factor[i, j] += scale * row[j]
    return change
