"""One module a command, each with a ``command``; a new file here is a new command."""
