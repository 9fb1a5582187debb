"""The 25 verifiable instruction kinds of IFEval, each with its two readings; `table` puts them together."""
