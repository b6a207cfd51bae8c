"""Agents beside the random one; importing this makes their names known to `tollero_env.opponents.make_agent`."""

from agents import climber
from tollero_env.opponents import register

register("climber", climber.Climber)
