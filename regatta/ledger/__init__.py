"""The ledger: the SQLite file of a race, its words, and the only code that reads and writes it."""
