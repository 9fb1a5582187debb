"""Built-in families; each comes in by an entry point, none knows another."""
