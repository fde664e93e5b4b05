"""Sides in containers: the engine, the image, the programs, and their removal."""
