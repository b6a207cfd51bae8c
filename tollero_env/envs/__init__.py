"""Environments over any Game."""
