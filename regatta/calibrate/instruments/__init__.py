"""The instruments of one trial, held against what is known beforehand."""
