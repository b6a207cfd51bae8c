"""Slow, plain reference implementations, written from the rules alone."""
