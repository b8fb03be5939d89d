"""How far to trust an ordering: splits, searches, records, tests and leaderboards."""
