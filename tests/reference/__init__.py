"""Slow, obvious versions: the specification that the fast ones are held to."""
