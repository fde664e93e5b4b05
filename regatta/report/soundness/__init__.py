"""What a report says about how far its numbers can be trusted."""
