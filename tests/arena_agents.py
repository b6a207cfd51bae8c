"""Small agents for the tests of arena and ladder; imported by name in their processes too."""

import time

from tollero_env.opponents import register


class First:
    """The first legal move; may sleep before each."""

    def __init__(self, ms="0"):
        self.seconds = int(ms) / 1000

    def act(self, position, seed):
        time.sleep(self.seconds)
        return position.moves()[0]


class Points:
    """The move after which its points are most; with sign=-1 the fewest, so that it loses on purpose."""

    def __init__(self, sign="1"):
        self.sign = int(sign)

    def act(self, position, seed):
        def value(move):
            after = position.copy()
            after.play(move)
            return self.sign * after.scores()[position.player]

        return max(position.moves(), key=value)


class Faulty:
    """From its fifth decision on an illegal move, or an error."""

    def __init__(self, how):
        self.how, self.asked = how, 0

    def act(self, position, seed):
        self.asked += 1
        if self.asked < 5:
            return position.moves()[0]
        if self.how == "raise":
            raise RuntimeError("out of\nideas")
        return position.rules.game.num_moves + 7 if self.how == "far" else "nonsense"


register("t-first", First)
register("t-points", Points)
register("t-faulty", Faulty)
