"""Sides in containers: the engine, the image, the leash that a race keeps its containers on."""
