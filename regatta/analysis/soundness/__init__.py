"""Whether trials may be trusted: late clients, drifting clocks, neighbours, outliers, warm-up."""
