"""Who is first among players whose keys change often: trees of matches, of which a change replays only its own.

Each leaf of a tree is a seat, of a player with a key or of nobody; each node above repeats the better of the two below
it: the lower key, the seat further left among equals. The root is who comes first. A replay takes as many matches as
the tree is high, whoever wins them, and no branch depends on who does.

Several trees live in one array: tree *t* owns row *t*, where node 1 is the root, and nodes 2 *k* and 2 *k* + 1 are
below node *k*. Keys are integers, not negative; times are ordered as the integers that their bits are.
"""

from __future__ import annotations

from provisioner.sim.arrays import Tournament
from provisioner.sim.jit import jit


@jit
def enter(nodes: Tournament, tree: int, seat: int, key: int, player: int) -> None:
    """Give a seat to a player with a key, and play its matches again."""
    place = (nodes.shape[1] >> 1) + seat
    while True:
        node = nodes[tree, place]
        node.key = key
        node.player = player
        if place <= 1:
            break
        rival = nodes[tree, place ^ 1]
        # All bits where the rival wins: a rival to the left, of a node with an odd place, wins with an equal key too.
        wins = (rival.key - (place & 1) - key) >> 63
        key += (rival.key - key) & wins
        player += (rival.player - player) & wins
        place >>= 1
