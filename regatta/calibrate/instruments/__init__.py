"""The instruments of one trial against known truths."""
