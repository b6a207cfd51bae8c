"""Agents beside the random one; importing this makes their names known to `tollero_env.opponents.make_agent`."""
