"""The network between the two sides: a veth pair, packet steering, ports."""
