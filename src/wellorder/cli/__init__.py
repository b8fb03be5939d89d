"""The command line: one file a command; each parses, calls, and prints."""
