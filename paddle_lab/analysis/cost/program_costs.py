"""The cost of an op that ran a whole compiled program: the sum over the program's ops."""

from __future__ import annotations

import numpy as np

from paddle_lab.analysis.cost.op_costs import op_costs
from paddle_lab.programs.record import record_of
from paddle_lab.programs.splice import programs_of
from paddle_lab.trace.record import Origin, Record
from paddle_lab.trace.schema import PROGRAM_KINDS
from paddle_lab.trace.table import Table


def with_program_costs(record: Record) -> Record:
    """Return a record in which an op that ran a whole program has the cost of its forward program.

    The cost stays unknown if the program contains an op of unknown cost, such as an ``if``. It also
    stays unknown if SOT cut a function into pieces, because the code between them is not in the
    program.

    Parameters
    ----------
    record
        A record with answer tables.
    """
    ran = record.programs
    whole = ran["kind"] == PROGRAM_KINDS.index("full_graph")
    if not whole.any() or not len(record.program_texts):
        return record
    columns = {name: cells.copy() for name, cells in record.op_costs.columns.items()}
    for number, program in programs_of(record).items():
        own = op_costs(record_of(program, Origin()))
        ops = ran["op"][whole & (ran["program"] == number)]
        for name in ("flops", "macs"):
            columns[name][ops] = own[name].sum() if np.all(own[name] >= 0) else -1
    tables = {**record.tables, "op_costs": Table(columns)}
    return Record(tables, record.strings, record.origin, record.grad_values)
