"""For all tests: the time that an example of a property takes is no failure on a busy machine."""

from hypothesis import HealthCheck, settings

from tests.engines import podman, podman_home

__all__ = ["podman", "podman_home"]

settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy machine")
