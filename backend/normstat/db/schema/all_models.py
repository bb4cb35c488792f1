"""All tables. Whoever goes through `Base.metadata` imports it from here: models that nobody imported have no tables there.

Migrations and backups do; a backup of the tables that happen to be known would leave the others out without a word.
"""

from normstat.db.schema import (
    account_models,
    alert_models,
    artefact_models,
    audit_models,
    baseline_models,
    event_models,
    experiment_models,
    job_models,
    process_models,
    report_models,
    retention_models,
    score_models,
    sealed_models,
    view_models,
    watch_models,
    webhook_models,
)
from normstat.db.schema.models import Base

MODULES = (
    account_models, alert_models, artefact_models, audit_models, baseline_models, event_models, experiment_models, job_models,
    process_models, report_models, retention_models, score_models, sealed_models, view_models, watch_models, webhook_models,
)  # fmt: skip

__all__ = ["MODULES", "Base"]
