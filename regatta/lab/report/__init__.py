"""The report of a lab: the student's own figures, and the questions beside them."""
