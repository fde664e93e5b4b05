"""From the trials of a ledger to estimates, intervals and verdicts. Draws nothing."""
