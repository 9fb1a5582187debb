"""Small tool-use jobs in a library's lending desk, for training traces: another fixture than the evals'."""

from steelyard.families.toollib.family import toollib

__all__ = ["toollib"]
