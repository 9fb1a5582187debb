"""Overlap: whether what a model was trained on, or will be, holds what it is asked."""
