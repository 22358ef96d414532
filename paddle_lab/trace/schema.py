"""The record's schema: every table, every column, every enumeration.

A trace is a set of columnar tables. The *key* of a row is its position in its table, so a key
column is an array of positions; ``-1`` means "none". Strings are dictionary-encoded: a ``str``
column holds positions in the trace's list of strings.

``make generate`` writes ``js/src/trace/protocol.ts`` from this file. A new table does not change
``FORMAT_VERSION``: a reader treats a missing table as empty, and skips unknown tables. Any other
change increases the version. A reader accepts only its own version.
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
    "block",
)
"""``call``: a call of a user's function; ``turn``: an iteration of a user's loop; ``sum``: the
scope of allocations that are sums of several; no op ran in it; ``block``: a block of a static
program, of an ``if`` or a ``while``, or a whole program."""
TENSOR_KINDS: Final = ("activation", "parameter", "buffer", "gradient", "external")
"""``external``: a tensor whose op the trace did not see: data, constants."""
FRAME_KINDS: Final = ("user", "library", "paddle")
BACKWARD_KINDS: Final = ("Tensor.backward", "paddle.grad", "paddle.autograd.backward", "remaining")
"""``remaining``: the graphs of tensors that are still alive when the trace ends, or the graph of a
static program on its own."""
EDGE_KINDS: Final = ("data", "detach")
"""``detach`` edges carry a value but no gradient."""
GROUP_KINDS: Final = SCOPE_KINDS
"""Kinds of groups, at the same positions as the kinds of their scopes; ``sum`` is not one."""
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
"""``saved_activation``: saved by a grad node for its backward; ``activation``: an op's output that
no grad node saved; ``temporary``: freed by the op that allocated it, never a tensor; ``input``:
the storage of an external tensor."""
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
    "graph_break",
    "recompiled",
    "called",
    "loader_waits",
)
"""Actions of the traced code other than ops. ``read``: a tensor's values were read into Python
(``numpy()``, ``item()``, ``float()``); ``created``: a tensor was made from Python values
(``paddle.to_tensor``); ``overwritten``: modified by something that is not an op (``set_value``),
for a parameter with a checksum;
``gradient_stopped``: ``stop_gradient = True`` was set; ``gradient_off``/``gradient_on``: a
``no_grad`` block began or ended; ``stale_gradient``: an optimizer's step used a gradient that a
previous step had already used; ``pylayer_rule``: a PyLayer was called against its rules;
``rootless_backward``: a backward call began at a tensor from which no gradient can flow;
``graph_break``: ``to_static`` split a function or runs it eagerly; ``recompiled``: it compiled a
function again for another value; ``called``: a function that controls training was called, such as
``Layer.eval``; ``loader_waits``: how long a loop waited for a ``DataLoader``."""
PROGRAM_KINDS: Final = ("full_graph", "sot", "executor")
"""How a compiled program ran: as a ``to_static`` function that was compiled as a whole, as one that
SOT compiled in pieces, or by an ``Executor``."""
SEVERITIES: Final = ("error", "warning", "info")
MARK_ROLES: Final = ("origin", "path", "cut", "failed", "related")
"""The role of an op or grad node in a finding: the origin, a step of the path, the place where a
gradient ends, the failed op, or something else that is related."""
COMPARE_STATES: Final = ("equal", "different", "only_a", "only_b", "unknown")
"""Of an op in a comparison of two traces; ``unknown``: one trace lacks its digest, and name, shape,
dtype and attributes are equal."""
COMPARE_ORIGINS: Final = ("", "introduced", "inherited")
"""Whether most of a difference was made by the op itself or came in with its inputs."""

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
    "compare_state": COMPARE_STATES,
    "compare_origin": COMPARE_ORIGINS,
}

Columns = dict[str, str]
"""Column name to type.

``str``: dictionary-encoded text. ``key:TABLE``: row of TABLE or -1. ``enum:NAME``: position in an
enumeration. ``bool``, ``i32``, ``i64``: plain values. ``f32``: the bits of a 32-bit float as an
integer (:mod:`paddle_lab.trace.floats`). Units are in the names (``_ns``, ``_bytes``).
"""

RECORD_TABLES: Final[dict[str, Columns]] = {
    # One row for each op, in the order of the calls (over all threads).
    "ops": {
        "name": "str",
        "scope": "key:scopes",
        "stack": "key:stacks",
        "thread": "i32",
        "start_ns": "i64",  # since the trace began
        "duration_ns": "i64",  # host time of the call, without the cost of the trace itself
        "phase": "enum:phase",
        "attributes": "str",  # arguments that are not tensors: "axis=1, keepdim=False"
        "is_pylayer": "bool",
        "raised": "bool",
    },
    # One row for each *value* of a tensor: an op that modifies a tensor in place adds a row.
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
    # One row for each layer that was called. The path of a root is the name of its variable or
    # class.
    "layers": {"path": "str", "class": "str", "parent": "key:layers"},
    # One row for each *call* of a layer, a region, a PyLayer, a backward function, Optimizer.step
    # or a user's function; also one row for each iteration of a loop.
    "scopes": {
        "kind": "enum:scope_kind",
        "name": "str",
        "parent": "key:scopes",
        "layer": "key:layers",
        "op": "key:ops",  # the PyLayer's own op
        "backward_call": "key:backward_calls",
        "thread": "i32",
    },
    # Loops of the user's code that ran, and each iteration in which an op ran.
    "loops": {
        "file": "str",
        "line": "i32",  # the line of the ``for`` or ``while``
        "cell": "i32",  # execution count of the notebook cell, -1 for a file
        "words": "str",  # "epoch" of "for epoch in range(3)"; "while loss > 1"
    },
    "turns": {
        "scope": "key:scopes",
        "loop": "key:loops",
        "number": "i32",  # from 1, counting the iterations of one run of the loop
        "value": "str",  # the loop variable's value in this iteration, if it is a number or text
    },
    # A prefix tree: a stack consists of its innermost frame and the stack of the caller.
    "stacks": {"frame": "key:frames", "caller": "key:stacks"},
    "frames": {
        "file": "str",
        "function": "str",
        "line": "i32",  # from 1
        "end_line": "i32",
        "column": "i32",  # from 0, in characters; -1 before Python 3.11, which has no columns
        "end_column": "i32",
        "kind": "enum:frame_kind",
        "cell": "i32",  # execution count of the notebook cell, -1 for a file
    },
    # The text around the lines of frames. Of a notebook cell, the whole text is stored.
    "sources": {"file": "str", "first_line": "i32", "text": "str", "cell": "i32"},
    "backward_calls": {
        "kind": "enum:backward_kind",
        "stack": "key:stacks",
        "scope": "key:scopes",
        "ops_before": "i32",  # how many ops had been recorded when the call began
        "create_graph": "bool",
        "retain_graph": "bool",  # keeps saved tensors; always true for paddle.grad: it runs a copy
        "error": "str",  # the exception's text, "" without an exception
    },
    # The host time of each backward call that ran, on the clock of ``ops.start_ns``. The ops of a
    # PyLayer's backward run inside of it. The time of a call without a row is unknown.
    "backward_times": {
        "backward_call": "key:backward_calls",
        "thread": "i32",
        "start_ns": "i64",
        "duration_ns": "i64",
        "own_ns": "i64",  # as in ``own_times``
    },
    # The host time of the trace's own work, rounded to 1,024 ns: the sum from the start of the
    # trace to the start of the op, in the op's thread. The last row has no op. It is the sum at the
    # end of the trace, in the thread that opened the trace.
    "own_times": {"op": "key:ops", "own_ns": "i64"},
    "grad_nodes": {
        "name": "str",
        "address": "i64",  # Paddle's node_ptr, as in its own dumps
        "op": "key:ops",
        "parameter": "key:tensors",  # the leaf of an accumulation node
        "scope": "key:scopes",
    },
    # Edges in the direction of the leaves: ``source`` passes a gradient to ``target``.
    "grad_edges": {
        "source": "key:grad_nodes",
        "target": "key:grad_nodes",
        "slot": "i32",
        "dtype": "str",
        "shape": "str",
    },
    "grad_roots": {"backward_call": "key:backward_calls", "grad_node": "key:grad_nodes"},
    # The inputs of a call of paddle.grad: the grad nodes at which their gradients arrive; -1 for a
    # tensor without a grad node. A call without rows computes the gradients of all leaves.
    "grad_targets": {"backward_call": "key:backward_calls", "grad_node": "key:grad_nodes"},
    # The ``no_grad_vars`` of paddle.grad. No gradient flows through these tensors or into them.
    "grad_stops": {"backward_call": "key:backward_calls", "tensor": "key:tensors"},
    # One row for each block of Paddle's allocator, by start. Blocks from before the trace come
    # first. Times are on the clock of ``ops.start_ns``.
    "allocations": {
        "address": "i64",
        "bytes": "i64",
        "place": "str",
        "start_ns": "i64",  # -1: allocated before the trace
        "end_ns": "i64",  # -1: still allocated when the trace ended
        "thread": "i32",
        # In backward, the op that made the grad node. For a copy, the op that made the copied
        # tensor.
        "op": "key:ops",
        "grad_node": "key:grad_nodes",  # the grad node whose backward allocated it
        "scope": "key:scopes",
        "stack": "key:stacks",
        "phase": "enum:phase",
        "tensor": "key:tensors",  # the first tensor with this storage
        "kind": "enum:allocation_kind",
    },
    # Values of Paddle's counters: at the start of the trace, at each change of the reserved memory,
    # and at the end. To get other moments, add the changes in ``allocations`` to the first row.
    "memory_totals": {
        "time_ns": "i64",
        "place": "str",
        "allocated_bytes": "i64",
        "reserved_bytes": "i64",
    },
    # The holders of blocks that were still allocated when the cell ended.
    "holders": {"allocation": "key:allocations", "kind": "enum:holder_kind", "name": "str"},
    # The ends of training steps: of optimizers', joined by iteration, or ``paddle_lab.step()``.
    "steps": {"time_ns": "i64", "scope": "key:scopes"},
    # One row for each compiled program that an op ran. If SOT split the function, there are
    # several.
    "programs": {
        "op": "key:ops",
        "kind": "enum:program_kind",
        "program": "i32",  # equal for the same program; -1: there was no program, all ran eagerly
        "ops": "i32",  # ops of its forward that compute something
        "all_ops": "i32",  # including parameters, inputs and outputs, as the program counts
        "backward_ops": "i32",
        "all_backward_ops": "i32",  # 0 if it has no backward
        "parameters": "i32",  # how many parameters it reads
        "feeds": "str",  # of an Executor: "x [32, 16], y [32]"
        "fetches": "str",
        "place": "str",
    },
    # Entries of Paddle's log (VLOG), in order.
    "log": {
        "op": "key:ops",  # the op that was running in the thread
        "grad_node": "key:grad_nodes",  # in a backward call: the grad node that was running
        "thread": "i32",  # -1: a thread in which no op ran
        "time_ns": "i64",  # on the clock of ``ops.start_ns``, rounded to a microsecond
        "level": "i32",  # the log level at that time
        "severity": "str",  # "I", "W", "E" or "F"
        "source_file": "str",  # Paddle's own: "backward.cc"
        "source_line": "i32",
        "text": "str",
    },
    # The ops of each compiled program, in the format of ``paddle_lab.programs.packed``. A view
    # shows them inside the first op that ran the program.
    "program_texts": {"program": "i32", "text": "str"},
    # The lines of the user's code that a compiled program runs. The program -1 is for lines that
    # run eagerly in a function of ``to_static``. Rows with a program are only in a record that is
    # drawn.
    "program_lines": {"program": "i32", "file": "str", "line": "i32"},
    # Only in a record that is drawn: the ops of compiled programs, and their grad nodes. They come
    # after everything that the trace recorded.
    "program_ops": {"op": "key:ops"},
    "program_grad_nodes": {"grad_node": "key:grad_nodes"},
    # Default values of attributes of the ops that were called.
    "attribute_defaults": {"op": "str", "name": "str", "value": "str"},
    # The parameters of each op of Paddle's that ran: "const Tensor& x; bool transpose_y". If an op
    # takes keywords, the kinds are "Tensor" and "".
    "op_signatures": {"op": "str", "parameters": "str"},
    # Actions of the traced code that are not ops, in order. Checks need them as evidence.
    "events": {
        "kind": "enum:event_kind",
        "tensor": "key:tensors",
        "scope": "key:scopes",
        "stack": "key:stacks",
        "ops_before": "i32",  # how many ops had been recorded
        "thread": "i32",
        "detail": "str",  # the called function ("numpy"), or the rule that was broken
    },
    "living_tensors": {"tensor": "key:tensors"},  # values that were alive when the trace ended
    # Holders of living tensors, if one line made several tensors, as Python code: ``log["a"][3]``.
    "tensor_holders": {"tensor": "key:tensors", "name": "str"},
    # How many ops had been called when a tensor was last seen alive. A trace looks once or twice in
    # each training step.
    "tensor_lives": {"tensor": "key:tensors", "ops_before": "i32"},
    "eval_scopes": {"scope": "key:scopes"},  # calls of layers in eval mode
    # One row for each optimizer that made a step or was alive when the trace ended; its parameters.
    "optimizers": {"class": "str", "steps": "i32"},  # how many steps it took during the trace
    "optimizer_parameters": {"optimizer": "key:optimizers", "tensor": "key:tensors"},
    # One row for each optimizer step. ``number`` is the optimizer's number, also used in events.
    "optimizer_steps": {
        "scope": "key:scopes",
        "number": "i32",
        "learning_rate": "f32",
        "schedule": "str",  # class and identity of the scheduler, "" for a number
        "clip": "str",  # class and identity of the optimizer's gradient clip
    },
    # Parameters at some optimizer steps. Only their first 4,096 values are examined.
    "parameter_steps": {
        "optimizer_step": "key:optimizer_steps",
        "tensor": "key:tensors",
        "gradient": "i32",  # 0: none, 1: all zeros, 2: others
        "changed": "bool",
        "equal_units": "bool",  # all output units of a weight had the same values before the step
        "before": "i64",  # checksums of the values
        "after": "i64",
    },
    # Statistics of tensors that no op made, over the first 65,536 values of each.
    "glances": {
        "tensor": "key:tensors",
        "elements": "i64",
        "zeros": "i64",
        "smallest": "f32",
        "largest": "f32",
        "mean": "f32",
        "root_mean_square": "f32",
        "is_whole": "bool",  # all are integers
        "digest": "i64",
    },
    # The value of the loss on which backward was called, if the loss was a single number.
    "losses": {"backward_call": "key:backward_calls", "value": "f32"},
    # Statistics of a tensor's values, after an op made it or when the trace first saw it.
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
    # More statistics, recorded with ``values=``, of floating-point and other tensors.
    "value_deviations": {
        "value_stat": "key:value_stats",
        "deviation": "f32",  # standard deviation of the finite values; the divisor is their count
    },
    # Histograms of a tensor's finite nonzero values, in the same form as ``grad_histograms``.
    "value_histograms": {
        "value_stat": "key:value_stats",
        "exponent": "i32",
        "is_negative": "bool",
        "count": "i64",
    },
    # Statistics of gradients. ``grad_edge`` is the edge of the backward graph along which the
    # gradient flowed. It is -1 if a backward call began with the gradient at ``grad_node``. If a
    # graph ran twice, its rows are there twice.
    "grad_stats": {
        "backward_call": "key:backward_calls",
        "grad_node": "key:grad_nodes",  # passes the gradient on to the edge's target
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
    # Histograms of a gradient's finite nonzero values: for each sign, how many values have
    # 2**exponent <= |value| < 2**(exponent + 1).
    "grad_histograms": {
        "grad_stat": "key:grad_stats",
        "exponent": "i32",
        "is_negative": "bool",
        "count": "i64",
    },
    # Times of kernels from Paddle's profiler. A row belongs to an op or to a grad node. A row
    # without either has the sum of all kernels that ran outside of recorded ops and grad nodes. A
    # limited trace has no such row, because it cannot distinguish such kernels from those of
    # dropped ops. The columns of the device are -1 if no device was recorded.
    "kernel_times": {
        "op": "key:ops",  # the innermost op in which it ran
        "grad_node": "key:grad_nodes",
        "runs": "i32",  # how many of its runs called a kernel: a retained graph's nodes run again
        "launches": "i32",  # how many of Paddle's kernels were called
        "host_ns": "i64",  # how long these calls took; on the CPU the kernels ran during the calls
        "first_kernel_ns": "i64",  # from the op's start to its first kernel; -1 for the sum
        "device_kernels": "i32",  # how many kernels ran on the device for it
        "device_ns": "i64",  # how long they ran
        "gap_ns": "i64",  # how long the device ran no kernel before them
    },
    # The peak rates of the machine, measured in the traced process: ``capture/kernels/peaks.py``.
    "rooflines": {
        "place": "str",
        "dtype": "str",
        "flops_per_second": "i64",  # measured by a product of matrices; a multiply-add is 2
        "bytes_per_second": "i64",  # measured by a copy; bytes read and bytes written
    },
    # Ops whose outputs differed when the code ran a second time.
    "rerun_differences": {"op": "key:ops", "slot": "i32", "check": "str", "detail": "str"},
    # What ``digest=`` records: 64-bit digests of gradients and of the tensors in ``value_stats``.
    # ``decimals`` says to how many decimals values were rounded; -1 means not rounded.
    "value_digests": {"value_stat": "key:value_stats", "digest": "i64", "decimals": "i32"},
    "grad_digests": {"grad_stat": "key:grad_stats", "digest": "i64", "decimals": "i32"},
    # Only in a file: the values that ``digest=`` kept of a region or a layer. Their bytes follow
    # each other in ``kept_words``, each padded to 8 bytes.
    "kept_values": {
        "tensor": "key:tensors",
        "dtype": "str",  # NumPy's, in little endian: "<f4"
        "shape": "str",
    },
    "kept_words": {"word": "i64"},
    # Only in the record of a comparison, which has the ops of trace b and the ops that are only in
    # trace a: one row for each op. If unknown, errors are NaN, and ``ulp`` is -1.
    "compared": {
        "op": "key:ops",
        "state": "enum:compare_state",
        "origin": "enum:compare_origin",
        "max_abs": "f32",  # largest difference
        "max_rel": "f32",  # the same, divided by the largest magnitude in trace a
        "cosine": "f32",  # cosine similarity
        "ulp": "i64",  # largest difference in units in the last place
        "other": "str",  # trace a's op and line: "Cell 4, line 7: relu(x)"
        "reason": "str",  # what differs: "values", "shape", "attributes: 0.1, now 0.2"
    },
    # The line of trace a's op, for each op that differs.
    "other_frames": {"op": "key:ops", "frame": "key:frames"},
    # Grad nodes whose gradients were compared, or that only one trace has.
    "compared_grad_nodes": {"grad_node": "key:grad_nodes", "state": "enum:compare_state"},
}

ANSWER_TABLES: Final[dict[str, Columns]] = {
    # Tables that views need in addition to the record. ``analysis`` computes them for the front
    # end. They are never saved in a trace file.
    "op_edges": {
        "source": "key:ops",
        "target": "key:ops",
        "tensor": "key:tensors",
        "slot": "i32",
        "kind": "enum:edge_kind",
    },
    # The tree of groups, parents before children. If a layer was called twice, it has two groups.
    "groups": {
        "kind": "enum:group_kind",
        "label": "str",  # relative to the parent's: "layers.0", "conv1"
        "path": "str",
        "class": "str",
        "parent": "key:groups",
        "scope": "key:scopes",
        "value": "str",  # for an iteration: the loop variable's value
        "structure": "i32",  # equal for groups with the same ops and edges; -1: unlike any other
        "op_count": "i32",  # all ops inside, including nested groups
        "first_op": "key:ops",
    },
    # Members of lists in which one layer differs from most others of its class, one row for each.
    # See ``analysis/graph/odd_siblings.py``.
    "odd_siblings": {
        "group": "key:groups",
        "typical": "key:groups",  # the first of the equal siblings
        "siblings": "i32",  # how many members of the list have this class, including itself
        "alike": "i32",  # how many of them are equal
        "difference": "str",  # "has dropout, which its siblings have not"; "" for an equal member
    },
    # Names of layers from ``analysis/memory/layer_names.py``, which differ between two models.
    "layer_names": {"name": "str"},  # one row per layer
    # The layer that has each parameter, if memory was recorded.
    "tensor_layers": {"tensor": "key:tensors", "name": "str"},
    # One row for each op: its group, and whether Paddle called it to fill a new parameter or to
    # make a batch in a DataLoader.
    "op_groups": {"group": "key:groups", "is_initial": "bool"},
    "grad_node_groups": {"group": "key:groups"},  # one row per grad node
    # The frame that is shown first, usually the innermost frame of the user's code.
    "stack_frames": {"frame": "key:frames"},  # one row per stack
    # One row for each grad node in the graph of a backward call, reachable from the call's roots.
    "backward_members": {"backward_call": "key:backward_calls", "grad_node": "key:grad_nodes"},
    # Grad nodes that were made in a PyLayer's backward, and the forward op next to which each is
    # drawn: the recomputed op, or else the PyLayer itself.
    "inner_grad_nodes": {"grad_node": "key:grad_nodes", "op": "key:ops"},
    # The cost of each op, and of one run of each grad node, one row for each; -1 if unknown.
    "op_costs": {
        "flops": "i64",  # arithmetic operations; a multiply-add is 2
        "macs": "i64",  # the multiply-adds of matrix products and convolutions
        "output_bytes": "i64",
        "saved_bytes": "i64",  # how much its grad node keeps for backward
    },
    "grad_node_costs": {"flops": "i64", "macs": "i64"},
    # One row for each row of ``kernel_times``: see ``analysis/kernels/roofline.py``.
    "roofline_shares": {
        "share": "f32",  # the shortest possible time divided by the kernels' time; -1: not known
        "is_compute": "bool",  # whether operations limit it, not bytes
    },
}

FINDING_TABLES: Final[dict[str, Columns]] = {
    # The results of the checks: the worst first, and a cause before its consequences.
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

VIEW_TABLES: Final[dict[str, Columns]] = {
    **RECORD_TABLES,
    **ANSWER_TABLES,
    **FINDING_TABLES,
}

UNSEEN_TABLES: Final = (
    "op_signatures",
    "events",
    "living_tensors",
    "tensor_holders",
    "tensor_lives",
    "eval_scopes",
    "optimizers",
    "optimizer_parameters",
    "optimizer_steps",
    "parameter_steps",
    "glances",
    "losses",
    "rerun_differences",
    "value_digests",
    "grad_digests",
    "kept_values",
    "kept_words",
    "grad_targets",
    "grad_stops",
)
"""Tables with the evidence for findings; no view reads them."""
