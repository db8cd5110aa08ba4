"""Tables and pages from results."""
