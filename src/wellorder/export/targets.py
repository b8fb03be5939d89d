"""All targets, by name. A new one is a file of its own and a line here."""

from __future__ import annotations

from . import elasticsearch, lightgbm, mlflow, onnx, solr, sql, xgboost
from .target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        onnx.TARGET,
        lightgbm.TARGET,
        xgboost.TARGET,
        solr.TARGET,
        elasticsearch.TARGET,
        elasticsearch.OPENSEARCH,
        elasticsearch.RANKLIB,
        sql.TARGET,
        mlflow.TARGET,
    )
}
