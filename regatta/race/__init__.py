"""From a study to a complete ledger, trial by trial; stopped and resumed at any moment."""
