"""Soundness of trials: late clients, clock speed, side-by-side runs, outliers, warm-up."""
