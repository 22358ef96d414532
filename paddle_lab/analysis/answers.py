"""The answer tables: data that the views need in addition to the record, computed once."""

from __future__ import annotations

from typing import Any

from paddle_lab.analysis.cost import grad_node_costs, op_costs
from paddle_lab.analysis.cost.distinct_calls import distinct_calls
from paddle_lab.analysis.graph.dataflow import backward_members, op_edges
from paddle_lab.analysis.graph.grad_groups import grad_node_groups
from paddle_lab.analysis.graph.hierarchy import hierarchy
from paddle_lab.analysis.graph.odd_siblings import odd_sibling_table
from paddle_lab.analysis.graph.pairing import inner_grad_nodes, paired_ops
from paddle_lab.analysis.kernels.roofline import roofline_shares
from paddle_lab.analysis.memory.layer_names import layer_name_tables
from paddle_lab.analysis.source.stacks import stack_frames
from paddle_lab.trace.record import Record
from paddle_lab.trace.schema import ANSWER_TABLES
from paddle_lab.trace.table import StringPool, Table


def with_answers(record: Record) -> Record:
    """Return the record with the answer tables and their strings added.

    The tables are those of :data:`paddle_lab.trace.schema.VIEW_TABLES`.
    """
    strings = StringPool(record.strings)
    edges = op_edges(record)
    groups, op_groups = hierarchy(record, edges, strings)
    inner = inner_grad_nodes(record)
    paired = paired_ops(record, inner)
    calls = distinct_calls(record)
    tables = {
        **record.tables,
        "op_edges": edges,
        "groups": groups,
        "op_groups": op_groups,
        "grad_node_groups": grad_node_groups(record, paired, groups, op_groups),
        "stack_frames": Table({"frame": stack_frames(record)}),
        "backward_members": backward_members(record),
        "inner_grad_nodes": inner,
        "op_costs": op_costs(record, calls),
        "grad_node_costs": grad_node_costs(record, calls),
        **layer_name_tables(record, strings),
    }
    tables["roofline_shares"] = roofline_shares(record, tables)
    grouped = Record(tables, strings.to_list(), record.origin)
    tables["odd_siblings"] = odd_sibling_table(grouped, strings)
    return Record(tables, strings.to_list(), record.origin, record.grad_values, record.kept_values)


class LateAnswers(Record):
    """A record with the table ``stack_frames``. The other answer tables are made on first use.

    They are those of the trace's ``view_record``. A comparison of two traces reads none of them,
    unless the user asks for an op's layer.
    """

    def __init__(self, trace: Any) -> None:
        record = trace.record
        tables = {**record.tables, "stack_frames": Table({"frame": stack_frames(record)})}
        values = record.grad_values, record.kept_values
        super().__init__(tables, record.strings, record.origin, *values)
        self._trace = trace

    def __getattr__(self, name: str) -> Table:
        if name in ANSWER_TABLES and name not in self.__dict__.get("tables", {}):
            made = self._trace.view_record
            self.tables, self.strings = made.tables, made.strings
        return super().__getattr__(name)
