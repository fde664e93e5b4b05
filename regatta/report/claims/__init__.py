"""How a claim is shown: its words, the figures published and those here, the verdict, and why."""
