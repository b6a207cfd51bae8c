"""The arena: agents play each other, seat-balanced and on common deals, and a report says who is stronger.

A *deal* is a game seed. A *line-up* says which agents sit at a table; each of its deals is played in all its seatings
(rotations), so that no seat and no luck of the draw favours anybody. All line-ups of a run see the same deals.
"""
