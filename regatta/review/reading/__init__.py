"""Reads files of several forms into records."""
