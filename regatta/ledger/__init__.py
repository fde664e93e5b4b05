"""The ledger: the SQLite file of a race, its vocabulary, and all code that reads or writes it."""
