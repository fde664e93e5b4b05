"""Settings for all tests: hypothesis has no deadline, because test machines are busy."""

import os

from hypothesis import HealthCheck, settings

from tests.container_engine import container_engine, docker, podman

__all__ = ["container_engine", "docker", "podman"]

# As in the verbs, and before numpy is loaded: BLAS threads that spin on each other take more than
# half of the CPU time from tests that run in parallel.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy machine")
