"""The record's schema: every table, every column, every enumeration.

One trace is a set of columnar tables. A row's *key* is its position in its table, so a key column
is an array of positions; ``-1`` stands for "none". Strings are dictionary-encoded: a ``str``
column holds positions in the trace's list of strings.

``make generate`` writes ``js/src/trace/protocol.ts`` from this file. A new table leaves
``FORMAT_VERSION`` as it is: a table that a file lacks is read as an empty one, and a table that a
reader does not know is left out. Any other change raises it, and a reader refuses every version but
its own.
"""

from __future__ import annotations

from typing import Final

FORMAT_VERSION: Final = 1

PHASES: Final = ("forward", "backward", "optimizer")
ROLES: Final = ("input", "output", "result")
"""``result``: a tensor that an op inside a PyLayer made and the PyLayer's op returns."""
SCOPE_KINDS: Final = (
    "layer",
    "region",
    "pylayer",
    "backward",
    "optimizer",
    "call",
    "turn",
    "sum",
)
"""``call``: of a function of the user's; ``turn``: of a loop of theirs; ``sum``: where no op ran,
of allocations that stand for several, added up."""
TENSOR_KINDS: Final = ("activation", "parameter", "buffer", "gradient", "external")
"""``external`` is a tensor the trace met without having seen any op make it: data, constants."""
FRAME_KINDS: Final = ("user", "library", "paddle")
BACKWARD_KINDS: Final = ("Tensor.backward", "paddle.grad", "paddle.autograd.backward", "remaining")
"""``remaining`` gathers the graphs of tensors that are still alive when the trace ends."""
EDGE_KINDS: Final = ("data", "detach")
"""``detach`` edges carry a value but no gradient."""
GROUP_KINDS: Final = SCOPE_KINDS[:-1]
"""Kinds of scopes that ops run in. Saved views hold their positions."""
ALLOCATION_KINDS: Final = (
    "temporary",
    "activation",
    "saved_activation",
    "parameter",
    "gradient",
    "optimizer_state",
    "buffer",
    "input",
    "unknown",
)
"""``saved_activation``: kept by a grad node for its backward; ``activation``: an op's output that
is not; ``temporary``: freed by the op that allocated it, never a tensor; ``input``: an external
tensor's."""
HOLDER_KINDS: Final = (
    "variable",
    "output",
    "traceback",
    "container",
    "backward_graph",
    "view",
    "unknown",
    "scope",
)
"""``output`` is ``Out[5]`` or ``_``; ``view`` is a tensor that shares a larger one's storage;
``scope`` is a variable of a static program's scope."""

EVENT_KINDS: Final = (
    "read",
    "created",
    "overwritten",
    "gradient_stopped",
    "gradient_off",
    "gradient_on",
    "stale_gradient",
    "pylayer_rule",
    "rootless_backward",
)
"""What the traced code did besides ops. ``read``: a tensor's values went to Python
(``numpy()``, ``item()``, ``float()``); ``created``: a tensor was made of Python's values
(``paddle.to_tensor``); ``overwritten``: written to by what is no op (``set_value``);
``gradient_stopped``: ``stop_gradient = True`` was set; ``gradient_off``/``gradient_on``: a
``no_grad`` block began or ended; ``stale_gradient``: an optimizer's step used a gradient that a
previous step had used already; ``pylayer_rule``: a PyLayer was called against its rules;
``rootless_backward``: a backward call began at a tensor that no gradient can leave."""
PROGRAM_KINDS: Final = ("full_graph", "sot", "executor")
"""What ran a compiled program: a function of ``to_static`` that was compiled whole, one that SOT
compiled piece by piece, or an ``Executor``."""
SEVERITIES: Final = ("error", "warning", "info")
MARK_ROLES: Final = ("origin", "path", "cut", "failed", "related")
"""What a finding says of an op or grad node: where it begins, what it passed along, where a
gradient ends, what raised, what else has to do with it."""

ENUMERATIONS: Final = {
    "phase": PHASES,
    "role": ROLES,
    "scope_kind": SCOPE_KINDS,
    "tensor_kind": TENSOR_KINDS,
    "frame_kind": FRAME_KINDS,
    "backward_kind": BACKWARD_KINDS,
    "edge_kind": EDGE_KINDS,
    "group_kind": GROUP_KINDS,
    "allocation_kind": ALLOCATION_KINDS,
    "holder_kind": HOLDER_KINDS,
    "event_kind": EVENT_KINDS,
    "program_kind": PROGRAM_KINDS,
    "severity": SEVERITIES,
    "mark_role": MARK_ROLES,
}

Columns = dict[str, str]
"""Column name to type.

``str``: dictionary-encoded text. ``key:TABLE``: row of TABLE or -1. ``enum:NAME``: position in an
enumeration. ``bool``, ``i32``, ``i64``: themselves. ``f32``: the bits of a 32-bit float, held as an
integer (:mod:`paddle_lab.trace.floats`). Units are in the names (``_ns``, ``_bytes``).
"""

RECORD_TABLES: Final[dict[str, Columns]] = {
    # One row per op, in the order in which the ops were called (over all threads).
    "ops": {
        "name": "str",
        "scope": "key:scopes",
        "stack": "key:stacks",
        "thread": "i32",
        "start_ns": "i64",  # since the trace began
        "duration_ns": "i64",  # host time of the call, without what the trace itself costs
        "phase": "enum:phase",
        "attributes": "str",  # the call's arguments that are no tensors: "axis=1, keepdim=False"
        "is_pylayer": "bool",
        "raised": "bool",
    },
    # One row per tensor *value*: an op that modifies a tensor in place makes a new row.
    "tensors": {
        "name": "str",  # Paddle's name, "" if it has none
        "dtype": "str",
        "shape": "str",  # "[4, 2, 3]"
        "place": "str",
        "stop_gradient": "bool",
        "bytes": "i64",
        "version": "i32",  # Paddle's in-place version
        "kind": "enum:tensor_kind",
        "producer": "key:ops",
        "previous": "key:tensors",  # the same tensor before it was modified in place
        "detached_from": "key:tensors",
        "path": "str",  # "encoder.layers.0.linear1.weight" for parameters and buffers of a layer
    },
    "uses": {
        "op": "key:ops",
        "tensor": "key:tensors",
        "role": "enum:role",
        "slot": "i32",
    },
    # One row per layer object that was called; a root's path is its variable's name or its class.
    "layers": {"path": "str", "class": "str", "parent": "key:layers"},
    # One row per *call*: of a layer, a region, a PyLayer, a backward entry point, Optimizer.step, a
    # function of the user's; or a turn of a loop.
    "scopes": {
        "kind": "enum:scope_kind",
        "name": "str",
        "parent": "key:scopes",
        "layer": "key:layers",
        "op": "key:ops",  # the PyLayer's own op
        "backward_call": "key:backward_calls",
        "thread": "i32",
    },
    # The loops of the user's code that ran, and each turn in which an op ran.
    "loops": {
        "file": "str",
        "line": "i32",  # of the ``for`` or ``while``
        "cell": "i32",  # execution count of the notebook cell, -1 for a file
        "words": "str",  # "epoch" of "for epoch in range(3)"; "while loss > 1"
    },
    "turns": {
        "scope": "key:scopes",
        "loop": "key:loops",
        "number": "i32",  # from 1, of the run's turns
        "value": "str",  # the loop's variable in this turn, if it is a number or text
    },
    # A prefix tree: a stack is its innermost frame and the stack that called it.
    "stacks": {"frame": "key:frames", "caller": "key:stacks"},
    "frames": {
        "file": "str",
        "function": "str",
        "line": "i32",  # from 1
        "end_line": "i32",
        "column": "i32",  # from 0, in characters; -1 before Python 3.11, which does not know it
        "end_column": "i32",
        "kind": "enum:frame_kind",
        "cell": "i32",  # execution count of the notebook cell, -1 for a file
    },
    # Text of the lines that frames point at; a notebook cell is stored whole.
    "sources": {"file": "str", "first_line": "i32", "text": "str", "cell": "i32"},
    "backward_calls": {
        "kind": "enum:backward_kind",
        "stack": "key:stacks",
        "scope": "key:scopes",
        "ops_before": "i32",  # how many ops had been recorded when the call began
        "create_graph": "bool",
        "retain_graph": "bool",  # what was saved stays: always so of paddle.grad, which runs a copy
        "error": "str",  # the exception's text, "" if it succeeded
    },
    "grad_nodes": {
        "name": "str",
        "address": "i64",  # Paddle's node_ptr, as in its own dumps
        "op": "key:ops",
        "parameter": "key:tensors",  # the leaf an accumulation node accumulates into
        "scope": "key:scopes",
    },
    # Towards the leaves: ``source`` hands a gradient to ``target``.
    "grad_edges": {
        "source": "key:grad_nodes",
        "target": "key:grad_nodes",
        "slot": "i32",
        "dtype": "str",
        "shape": "str",
    },
    "grad_roots": {"backward_call": "key:backward_calls", "grad_node": "key:grad_nodes"},
    # What a call of paddle.grad was asked for: where gradients arrive; -1 for a tensor that no
    # grad node stands for. Calls without a row go to every leaf.
    "grad_targets": {"backward_call": "key:backward_calls", "grad_node": "key:grad_nodes"},
    # Its no_grad_vars: no gradient goes through these tensors, nor into them.
    "grad_stops": {"backward_call": "key:backward_calls", "tensor": "key:tensors"},
    # One row per block of Paddle's allocator, by start; those from before the trace come first.
    # Times are on the clock of ``ops.start_ns``.
    "allocations": {
        "address": "i64",
        "bytes": "i64",
        "place": "str",
        "start_ns": "i64",  # -1: allocated before the trace
        "end_ns": "i64",  # -1: still allocated when the trace ended
        "thread": "i32",
        # Inside backward: the op that made the grad node. Of a copy: that made what was copied.
        "op": "key:ops",
        "grad_node": "key:grad_nodes",  # whose backward allocated it
        "scope": "key:scopes",
        "stack": "key:stacks",
        "phase": "enum:phase",
        "tensor": "key:tensors",  # whose storage it was first
        "kind": "enum:allocation_kind",
    },
    # What Paddle's own counters said: when the trace began, at each change of the reserved memory,
    # when it ended. Allocated at any other moment is the first row and what ``allocations`` tell.
    "memory_totals": {
        "time_ns": "i64",
        "place": "str",
        "allocated_bytes": "i64",
        "reserved_bytes": "i64",
    },
    # Who kept a block alive when the cell was over.
    "holders": {"allocation": "key:allocations", "kind": "enum:holder_kind", "name": "str"},
    # Where training steps ended: optimizer steps, or calls of ``paddle_lab.step()``.
    "steps": {"time_ns": "i64", "scope": "key:scopes"},
    # What the sampler read while the cell ran; ``absence`` says why a counter has no samples.
    "counters": {"name": "str", "device": "str", "source": "str", "unit": "str", "absence": "str"},
    "samples": {"counter": "key:counters", "time_ns": "i64", "value": "i64"},
    # One row per compiled program that an op ran: several where SOT cut the function into pieces.
    "programs": {
        "op": "key:ops",
        "kind": "enum:program_kind",
        "program": "i32",  # equal numbers: the same program; -1: none ran, it was run op by op
        "ops": "i32",  # of its forward: those that compute
        "all_ops": "i32",  # and with its parameters, inputs and outputs: as the program counts
        "backward_ops": "i32",
        "all_backward_ops": "i32",  # 0 if it has no backward
        "parameters": "i32",  # how many it reads
        "feeds": "str",  # of an Executor: "x [32, 16], y [32]"
        "fetches": "str",
        "place": "str",
    },
    # Of the attributes that ops here were called with: what they are where nobody gives them.
    "attribute_defaults": {"op": "str", "name": "str", "value": "str"},
    # What the traced code did besides ops, in order: the evidence for findings.
    "events": {
        "kind": "enum:event_kind",
        "tensor": "key:tensors",
        "scope": "key:scopes",
        "stack": "key:stacks",
        "ops_before": "i32",  # how many ops had been recorded
        "thread": "i32",
        "detail": "str",  # what was called ("numpy"), which rule was broken
    },
    "living_tensors": {"tensor": "key:tensors"},  # values that were alive when the trace ended
    # Who held living values of which one line made several, as a person writes it: ``log["a"][3]``.
    "tensor_holders": {"tensor": "key:tensors", "name": "str"},
    # After how many ops a value was last seen alive; looked at once or twice a training step.
    "tensor_lives": {"tensor": "key:tensors", "ops_before": "i32"},
    "eval_scopes": {"scope": "key:scopes"},  # calls of layers in eval mode
    # One row per optimizer that stepped or was alive when the trace ended, and what it was given to
    # train.
    "optimizers": {"class": "str", "steps": "i32"},  # how often it stepped during the trace
    "optimizer_parameters": {"optimizer": "key:optimizers", "tensor": "key:tensors"},
    # What was in a tensor when an op had made it, or when the trace met it.
    "value_stats": {
        "tensor": "key:tensors",
        "elements": "i64",
        "zeros": "i64",
        "nans": "i64",
        "infs": "i64",
        "smallest": "f32",  # of the finite values; 0 if there are none
        "largest": "f32",
        "mean": "f32",
        "norm": "f32",  # square root of the sum of squares of the finite values
    },
    # What was in a gradient on its way: ``grad_edge`` is the edge of the backward graph it passed,
    # -1 for what a backward call began with at ``grad_node``. A graph run twice has rows twice.
    "grad_stats": {
        "backward_call": "key:backward_calls",
        "grad_node": "key:grad_nodes",  # which hands the gradient on (to the edge's target)
        "grad_edge": "key:grad_edges",
        "shape": "str",
        "dtype": "str",
        "elements": "i64",
        "zeros": "i64",
        "nans": "i64",
        "infs": "i64",
        "smallest": "f32",
        "largest": "f32",
        "mean": "f32",
        "norm": "f32",
    },
    # Of a gradient's finite values that are not zero: how many have 2**exponent <= |value| <
    # 2**(exponent + 1), by sign.
    "grad_histograms": {
        "grad_stat": "key:grad_stats",
        "exponent": "i32",
        "is_negative": "bool",
        "count": "i64",
    },
    # Ops whose outputs differed when the code ran once more.
    "rerun_differences": {"op": "key:ops", "slot": "i32", "check": "str", "detail": "str"},
}

ANSWER_TABLES: Final[dict[str, Columns]] = {
    # What a view needs beside the record; computed by ``analysis``, sent to the front end,
    # never saved in a trace file.
    "op_edges": {
        "source": "key:ops",
        "target": "key:ops",
        "tensor": "key:tensors",
        "slot": "i32",
        "kind": "enum:edge_kind",
    },
    # The group tree, parents before children; a layer called twice is two groups.
    "groups": {
        "kind": "enum:group_kind",
        "label": "str",  # relative to the parent: "layers.0", "conv1"
        "path": "str",
        "class": "str",
        "parent": "key:groups",
        "scope": "key:scopes",
        "value": "str",  # of a turn: what the loop's variable had
        "structure": "i32",  # equal numbers: the same ops and edges inside; -1: unlike any other
        "op_count": "i32",  # of all ops inside, nested groups included
        "first_op": "key:ops",
    },
    # Members of lists in which one layer is built unlike most others of its class; see
    # ``analysis/graph/odd_siblings.py``. A row for each member.
    "odd_siblings": {
        "group": "key:groups",
        "typical": "key:groups",  # the first of the equal siblings
        "siblings": "i32",  # members of the class in the list, itself included
        "alike": "i32",  # how many of them are equal
        "difference": "str",  # "has dropout, which its siblings have not"; "" for one of the equal
    },
    # Layers as ``analysis/memory/layer_names.py`` names them, so that two models differ.
    "layer_names": {"name": "str"},  # one row per layer
    # The layer that a parameter belongs to, where memory was recorded.
    "tensor_layers": {"tensor": "key:tensors", "name": "str"},
    "op_groups": {"group": "key:groups"},  # one row per op
    "grad_node_groups": {"group": "key:groups"},  # one row per grad node
    # The frame a person wants to see first: the innermost of their own.
    "stack_frames": {"frame": "key:frames"},  # one row per stack
    # One row per grad node of a call's graph: nodes reachable from its roots.
    "backward_members": {"backward_call": "key:backward_calls", "grad_node": "key:grad_nodes"},
    # Grad nodes made in a PyLayer's backward, and the op of the forward beside which each is drawn:
    # the one that was computed once more, or else the PyLayer itself.
    "inner_grad_nodes": {"grad_node": "key:grad_nodes", "op": "key:ops"},
}

FINDING_TABLES: Final[dict[str, Columns]] = {
    # What the checks found, worst first, cause before consequence.
    "findings": {
        "kind": "str",
        "severity": "enum:severity",
        "message": "str",
        "advice": "str",
        "file": "str",
        "line": "i32",  # from 1; 0: no line
        "cell": "i32",
        "op": "key:ops",
        "grad_node": "key:grad_nodes",
    },
    "finding_marks": {
        "finding": "key:findings",
        "role": "enum:mark_role",
        "op": "key:ops",
        "grad_node": "key:grad_nodes",
    },
}

STAND_IN_TABLES: Final[dict[str, Columns]] = {
    # In a copy that a notebook stores: ops and grad nodes that replace several, and how many.
    # Ops and grad nodes without a row replace nothing.
    "stand_ins": {
        "op": "key:ops",
        "grad_node": "key:grad_nodes",
        "count": "i32",
        "leaves": "i32",  # grad nodes among them that accumulate into a parameter
    },
}

VIEW_TABLES: Final[dict[str, Columns]] = {
    **RECORD_TABLES,
    **ANSWER_TABLES,
    **FINDING_TABLES,
    **STAND_IN_TABLES,
}

UNSEEN_TABLES: Final = (
    "events",
    "living_tensors",
    "tensor_holders",
    "tensor_lives",
    "eval_scopes",
    "optimizers",
    "optimizer_parameters",
    "rerun_differences",
    "grad_targets",
    "grad_stops",
    "counters",
    "samples",
)
"""The evidence of findings: no view reads it."""
