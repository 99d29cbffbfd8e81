"""Guided: statements bound to an estimator, for callers that know only `fit(X, y)`."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_clusterer
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import conclust
from conclust import (
    ITML,
    AutoCluster,
    ConstrainedGaussianMixture,
    Constraints,
    COPKMeans,
    GeneralizedKMeans,
    Guided,
    PCKMeans,
    ReCon,
    sample_constraints,
)
from conclust.exceptions import InvalidConstraintsError

X, Y = load_iris(return_X_y=True)
KNOWN = sample_constraints(Y, 60, random_state=0)


# Checks that fit twice seed an estimator of their own, not one inside another.
@parametrize_with_checks(
    [Guided(COPKMeans(3, n_init=2, random_state=0)), Guided(PCKMeans(2, n_init=1, random_state=0))]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "estimator",
    [
        COPKMeans(3, random_state=0),
        PCKMeans(3, random_state=0),
        ConstrainedGaussianMixture(3, random_state=0),
        AutoCluster(3, random_state=0),
        ReCon(3, on_conflict="repair"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_it_is_the_estimator_told(estimator):
    told = clone(estimator).fit(X, constraints=KNOWN)
    guided = Guided(estimator, KNOWN)
    assert guided.fit(X, y=None) is guided
    assert (guided.labels_ == told.labels_).all()
    assert (guided.predict(X) == told.predict(X)).all()
    assert (guided.fit_predict(X) == told.labels_).all()
    assert guided.report_.n_violated == told.report_.n_violated
    assert guided.n_features_in_ == 4
    assert not hasattr(estimator, "labels_")  # the one given stays unfitted
    assert guided.fit(X, Y).labels_.tolist() == told.labels_.tolist()


def test_parameters_go_in_and_out():
    guided = Guided(COPKMeans(3), KNOWN)
    assert guided.get_params()["estimator__n_clusters"] == 3
    assert guided.set_params(estimator__n_clusters=2).estimator.n_clusters == 2
    twin = clone(guided)
    assert twin.constraints == KNOWN
    assert twin.estimator is not guided.estimator
    assert "Constraints(" in repr(guided)
    assert is_clusterer(guided)
    assert get_tags(guided).input_tags.sparse
    assert not get_tags(Guided(ReCon())).input_tags.sparse
    assert Guided().fit(X).n_clusters_ >= 2


def test_methods_are_those_of_the_estimator():
    assert not hasattr(Guided(COPKMeans()), "predict_proba")
    assert hasattr(Guided(ConstrainedGaussianMixture()), "predict_proba")
    guided = Guided(COPKMeans(3, random_state=0), KNOWN)
    assert not hasattr(guided, "cluster_centers_")
    guided.fit(X)
    assert guided.cluster_centers_.shape == (3, 4)
    assert guided.transform(X).shape == (150, 3)
    assert guided.score(X) < 0
    for other in (copy.deepcopy(guided), pickle.loads(pickle.dumps(guided))):
        assert (other.predict(X) == guided.predict(X)).all()
    guided.update(constraints_new=Constraints(must_link=[(0, 1)]))
    assert (guided.labels_ == guided.estimator_.labels_).all()


def test_in_pipelines_without_routing():
    pipeline = make_pipeline(StandardScaler(), Guided(COPKMeans(3, random_state=0), KNOWN))
    labels = pipeline.fit(X, Y).named_steps["guided"].labels_
    assert KNOWN.satisfied(labels).all()
    assert (pipeline.predict(X) == labels).mean() > 0.8
    inside = Guided(make_pipeline(ITML(), COPKMeans(3, random_state=0)), KNOWN).fit(X)
    assert KNOWN.satisfied(inside.labels_).all()


def test_some_labels_known():
    partly = np.where(np.arange(150) % 10, -1, Y)
    guided = Guided(COPKMeans(3, random_state=0), KNOWN).fit(X, partly)
    assert guided.classes_.tolist() == [0, 1, 2]
    assert (guided.labels_ == Y)[::10].all()
    assert KNOWN.satisfied(guided.labels_).all()


def test_rows_that_are_not_those_spoken_of():
    with pytest.raises(InvalidConstraintsError, match="about 150 samples, but X has 100 rows"):
        Guided(COPKMeans(3), KNOWN).fit(X[:100])
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(150)])
    links = pd.DataFrame({"a": ["r0"], "b": ["r60"], "type": ["same"]})
    named = Constraints.from_frame(links, ids=frame.index)
    mixed = frame.sample(frac=1, random_state=0)
    guided = Guided(COPKMeans(3, random_state=0), named).fit(mixed)
    labels = pd.Series(guided.labels_, index=mixed.index)
    assert labels["r0"] == labels["r60"]


def test_what_takes_no_statements():
    with pytest.raises(TypeError, match="`fit` of KMeans takes no constraints"):
        Guided(KMeans(3), KNOWN).fit(X)


def test_on_disk(tmp_path):
    pytest.importorskip("skops")
    guided = Guided(COPKMeans(3, random_state=0), KNOWN).fit(X)
    conclust.save(guided, tmp_path / "model.skops")
    assert (conclust.load(tmp_path / "model.skops").predict(X) == guided.predict(X)).all()


# ---------------------------------------------------------------------- BERTopic


def as_bertopic_calls(model, embeddings, y=None):
    """How BERTopic 0.17 fits its `hdbscan_model`: labels and probabilities."""
    try:
        model.fit(embeddings, y=y)
    except TypeError:
        model.fit(embeddings)
    return model.labels_, getattr(model, "probabilities_", None)


@pytest.mark.parametrize("y", [None, [-1] * 148 + [0, 1]], ids=["plain", "semi-supervised"])
def test_as_bertopic_calls_it(y):
    labels, probabilities = as_bertopic_calls(Guided(PCKMeans(3, random_state=0), KNOWN), X, y)
    assert labels.shape == (150,)
    assert probabilities is None
    labels, probabilities = as_bertopic_calls(Guided(AutoCluster(3, random_state=0), KNOWN), X, y)
    assert probabilities.shape == (150, 3)


def test_inside_bertopic():
    bertopic = pytest.importorskip("bertopic")
    words = [["wine", "grape", "cellar"], ["engine", "wheel", "road"], ["violin", "choir", "opera"]]
    embeddings, topic = make_blobs(150, centers=3, n_features=8, cluster_std=3.0, random_state=1)
    random_state = np.random.RandomState(0)
    documents = [" ".join(random_state.choice(words[t], 6)) for t in topic]
    known = sample_constraints(topic, 100, random_state=0)
    model = bertopic.BERTopic(
        embedding_model=bertopic.backend.BaseEmbedder(),
        umap_model=PCA(5),
        hdbscan_model=Guided(AutoCluster(3, random_state=0), known),
    )
    topics, probabilities = model.fit_transform(documents, embeddings)
    assert known.satisfied(topics).mean() > 0.95
    assert probabilities.shape == (150, 3)
    top = {model.get_topic(t)[0][0] for t in range(3)}
    assert all(len(top & set(group)) == 1 for group in words)
    new, _ = model.transform(documents[:5], embeddings[:5])
    assert (np.array(new) == np.array(topics[:5])).all()


def test_update_goes_on_and_returns_itself():
    known = sample_constraints(Y[:140], 30, random_state=0)
    guided = Guided(COPKMeans(3, random_state=0), known).fit(X[:140])
    more = sample_constraints(Y, 10, random_state=1)
    assert guided.update(X[140:], more) is guided
    assert len(guided.labels_) == 150
    assert more.satisfied(guided.labels_).all()


def test_what_does_not_update_says_so():
    assert not hasattr(Guided(ReCon(3), KNOWN), "update")
    assert not hasattr(Guided(GeneralizedKMeans(3), KNOWN), "update")  # a parameter there
