"""Compares our programs with peers; run by `make bench`."""
