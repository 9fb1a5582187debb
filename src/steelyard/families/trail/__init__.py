"""Invented notices answered in a voice, with an oracle that the voice never moves (seed 004)."""

from steelyard.families.trail.family import trail

__all__ = ["trail"]
