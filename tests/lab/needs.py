"""What a machine must have for some tests."""

import os

import pytest

CPUS = sorted(os.sched_getaffinity(0))
NEEDS_TWO_CPUS = pytest.mark.skipif(len(CPUS) < 2, reason="this machine has one CPU only")
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may")
