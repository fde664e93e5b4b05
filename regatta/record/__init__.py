"""What all others share: the study, the plan, a trial, metrics, the ledger."""
