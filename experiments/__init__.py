"""Experiments, each run as python -m experiments.NAME from the clone."""
