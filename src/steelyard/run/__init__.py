"""Running a suite: plan, journal, engine, judgements, anomalies."""
