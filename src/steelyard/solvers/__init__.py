"""Solvers: how an item becomes an attempt."""
