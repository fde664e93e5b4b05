"""How far a report's numbers can be trusted."""
