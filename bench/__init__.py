"""Side-by-side measurements of ours against peers; `make bench` runs them."""
