"""What a race asks of its analysis before its first trial and while it runs."""
