import numpy as np

from conclust._kernels.lloyd import fingerprint


def test_any_single_change_changes_the_fingerprint():
    labels = np.random.RandomState(0).randint(3, size=50).astype(np.int32)
    met = {fingerprint(labels)}
    for row in range(50):
        for label in range(3):
            changed = labels.copy()
            changed[row] = label
            met.add(fingerprint(changed))
    assert len(met) == 1 + 50 * 2
    assert fingerprint(labels) == fingerprint(labels.copy())


def test_swapping_the_names_of_clusters_changes_it():
    labels = np.array([0, 0, 1, 1], dtype=np.int32)
    assert fingerprint(labels) != fingerprint(1 - labels)
