"""Training: agents that learn by playing themselves; the command line is in cli.py, families in turns.py and ppo.py."""
