"""Comparing stored runs: who passes more, whether that is more than chance, and what the suite could have shown."""
