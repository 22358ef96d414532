"""What ops and grad nodes cost: operations, multiply-adds, parameters and bytes.

The costs are computed from the names, shapes, dtypes and attributes in the record, once for each
distinct call. The cost of an op without a formula is -1.
"""

from paddle_lab.analysis.cost.grad_node_costs import grad_node_costs
from paddle_lab.analysis.cost.op_costs import op_costs
from paddle_lab.analysis.cost.parameters import Parameters, parameters

__all__ = ["Parameters", "grad_node_costs", "op_costs", "parameters"]
