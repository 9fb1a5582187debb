"""Statistics: pure functions that name their source and assumption."""
