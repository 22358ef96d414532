"""The graph of a trace: data flow between ops, the tree of groups, groups of equal structure."""
