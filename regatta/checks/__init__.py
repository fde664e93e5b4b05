"""Checks of this machine: what spoils races here, and how often verdicts are wrong."""
