"""Sides on other hosts, each in a Dask worker there. Only this package uses Dask."""

from regatta.errors import PlacementError

try:
    import cryptography
    import distributed
except ImportError as error:
    raise PlacementError(
        f"races on other hosts need Dask ({error}); pip install distributed cryptography"
    ) from error

__all__ = ["cryptography", "distributed"]
