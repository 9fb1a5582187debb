"""Reading what models write: prose, numbers with units, JSON in prose, LaTeX, tool calls. Pure and linear in time."""
