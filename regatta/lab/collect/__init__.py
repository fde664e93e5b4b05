"""The ledgers of many machines in one table: what a class has found."""
