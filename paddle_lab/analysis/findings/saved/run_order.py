"""What a backward call ran: the grad nodes of its graph in Paddle's order."""

from __future__ import annotations

from collections import deque

from paddle_lab.analysis.findings.facts import Facts

_LEAF_NAME = "GradNodeAccumulation"


def run_order(facts: Facts, call: int) -> list[int]:
    """Return the grad nodes of one backward call in the order in which Paddle runs them.

    A node runs when all that hand it gradients have run, first come first served; the nodes of
    leaves run before all others. What a failing call did not get to is in the list as well.
    """
    following = facts.following_nodes
    roots = facts.roots(call)
    waiting_for = dict.fromkeys(roots, 0)
    pending = deque(roots)
    while pending:
        for target in following.get(pending.popleft(), ()):
            if target not in waiting_for:
                waiting_for[target] = 0
                pending.append(target)
            waiting_for[target] += 1
    ready = deque(root for root in roots if not waiting_for[root])
    found: list[int] = []
    while ready:
        node = ready.popleft()
        found.append(node)
        for target in following.get(node, ()):
            waiting_for[target] -= 1
            if not waiting_for[target]:
                is_leaf = facts.grad_node_name(target) == _LEAF_NAME
                (ready.appendleft if is_leaf else ready.append)(target)
    return found
