"""What ops and grad nodes cost: operations, multiply-adds, parameters and bytes.

The costs follow from the record: names, shapes, dtypes, attributes. Each distinct call is computed
once. An op without a formula has -1.
"""

from paddle_lab.analysis.cost.grad_node_costs import grad_node_costs
from paddle_lab.analysis.cost.op_costs import op_costs
from paddle_lab.analysis.cost.parameters import Parameters, parameters

__all__ = ["Parameters", "grad_node_costs", "op_costs", "parameters"]
