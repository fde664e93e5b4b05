"""Where the sides run: in namespaces, on loopback, in containers, on other hosts."""
