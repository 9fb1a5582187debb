"""Steelyard: verifiable evaluation suites for language models and agents."""
