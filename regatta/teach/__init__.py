"""For students: a guided hour, and a review of other people's figures."""
