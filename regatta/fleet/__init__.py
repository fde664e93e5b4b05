"""The same study on many hosts, each a race of its own, and what holds on all of them."""
