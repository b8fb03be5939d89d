"""Fuzzing that goes on: random cases, each from a seed, until the time is up; what is found is kept and replayed.

A target draws cases and tries them. Whatever it raises is a fault, as is a process that dies or hangs.
"""
