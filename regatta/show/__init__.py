"""What a person sees of a race: one view, and the renderers that draw it."""
