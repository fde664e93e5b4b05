"""Readers of all the forms in which people paste figures: one module a form."""
