"""For all tests: the time that an example of a property takes is no failure on a busy machine."""

import os

from hypothesis import HealthCheck, settings

from tests.engines import podman, podman_home

__all__ = ["podman", "podman_home"]

# As the verbs have it, and before anything loads numpy: threads that wait for each other take more
# than half of the CPUs from the tests beside.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy machine")
