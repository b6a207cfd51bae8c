"""Agents beside the random one; importing this makes their names known to `tollero_env.opponents.make_agent`."""

from agents import climber, greedy, ismcts, net
from tollero_env.opponents import register

register("climber", climber.Climber)
register("greedy", greedy.Greedy)
register("greedy-turn", greedy.GreedyTurn)
register("ismcts", ismcts.Ismcts)
register("net", net.make_net, has_place=True)
