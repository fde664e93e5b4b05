"""From a file of any form to records."""
