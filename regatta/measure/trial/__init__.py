"""One trial: a server side, a client side, a window."""
