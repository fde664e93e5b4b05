"""The figures of a race in the formats of tools that keep histories."""
