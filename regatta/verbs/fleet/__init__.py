"""One study on many machines: races it there, or reads their ledgers, and compares the verdicts."""
