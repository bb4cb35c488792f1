"""All tables. Import `Base.metadata` from here: tables of models that were not imported are missing there.

Migrations and backups do; a backup of the imported tables alone would silently leave the others out.
"""

from normstat.db.schema import (
    account_models,
    alert_models,
    artefact_models,
    audit_models,
    baseline_models,
    event_models,
    experiment_models,
    incident_models,
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
    account_models, alert_models, artefact_models, audit_models, baseline_models, event_models, experiment_models, incident_models,
    job_models, process_models, report_models, retention_models, score_models, sealed_models, view_models,
    watch_models, webhook_models,
)  # fmt: skip

__all__ = ["MODULES", "Base"]
