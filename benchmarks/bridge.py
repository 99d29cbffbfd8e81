"""Topics with and without statements: BERTopic around `Guided`.

    pip install bertopic
    python benchmarks/bridge.py [--rows 3000]

Short texts of massive18 with ready embeddings, brought down by PCA as BERTopic does without UMAP.
Adjusted Rand index of the topics with the true labels: k-means, AutoCluster and PCKMeans without
statements, and the same two bound to n/10 and n/3 true statements by Guided.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from conclust import AutoCluster, Guided, PCKMeans, sample_constraints


def texts(n):
    """Texts, embeddings and labels of n rows of massive18."""
    folder = Path(os.environ["CONCLUST_DATA"])
    table = pd.read_csv(folder / "massive18.csv.gz", keep_default_na=False)
    embeddings = np.load(folder / "massive18_embedding.npz")["X"].astype(np.float32)
    rows = np.random.RandomState(0).permutation(len(table))[:n]
    return (
        table["text"].to_numpy()[rows].tolist(),
        embeddings[rows],
        table["label"].to_numpy()[rows],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    from bertopic import BERTopic
    from bertopic.backend import BaseEmbedder

    documents, embeddings, y = texts(options.rows)
    k = len(set(y))
    told = {
        share: sample_constraints(y, int(len(y) * share), random_state=0) for share in (0.1, 1 / 3)
    }
    models = {
        "k-means": KMeans(k, n_init=10, random_state=0),
        "PCKMeans": PCKMeans(k, random_state=0),
        "AutoCluster": AutoCluster(k, random_state=0),
    }
    for share, known in told.items():
        models[f"Guided PCKMeans, {share:.2f} n"] = Guided(PCKMeans(k, random_state=0), known)
        models[f"Guided AutoCluster, {share:.2f} n"] = Guided(AutoCluster(k, random_state=0), known)
    for name, model in models.items():
        began = time.perf_counter()
        topics = BERTopic(
            embedding_model=BaseEmbedder(),
            umap_model=PCA(30, random_state=0),
            hdbscan_model=model,
            calculate_probabilities=False,
        )
        found, _ = topics.fit_transform(documents, embeddings)
        took = time.perf_counter() - began
        kept = [f"{known.satisfied(found).mean():.2f}" for known in told.values()]
        print(f"{name:30} ARI {adjusted_rand_score(y, found):.2f}  kept {kept}  {took:.1f} s")


if __name__ == "__main__":
    main()
