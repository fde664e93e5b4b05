"""The report of a lab: the student's figures, the questions and the answers."""
