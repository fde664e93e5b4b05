"""From a study to a complete ledger, trial by trial; it can stop and resume at any moment."""
