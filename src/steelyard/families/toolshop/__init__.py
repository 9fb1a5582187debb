"""Small tool-use jobs in a toy shop, graded by scripts (seed 001)."""

from steelyard.families.toolshop.family import toolshop

__all__ = ["toolshop"]
