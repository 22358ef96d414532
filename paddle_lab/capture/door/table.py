"""All undocumented names of Paddle that this package uses.

A name is written as in Python. In ``paddle.nn.Layer()._parameters``, the brackets mean an attribute
that ``Layer.__init__`` sets.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Feature(NamedTuple):
    """A part of a trace. It is off if Paddle lacks one of its names."""

    names: dict[str, str]
    """Maps a name in Paddle Lab's code to a path in Paddle."""
    wanted_by: str = "trace"
    """What needs the feature: every ``"trace"``, ``"memory"``, ``"kernels"``, ``"profiler"`` (both
    of these), ``"programs"`` (lines of static programs), ``"log"``, ``"ranks"``, or a kind of
    evidence."""


_TENSOR: Final = "paddle.Tensor"
_CORE: Final = "paddle.base.core"
_EAGER: Final = f"{_CORE}.eager"
_LOADER: Final = "paddle.io.dataloader.dataloader_iter"
_GRAD_NODE: Final = f"{_CORE}.GradNodeBase"
_LAYER: Final = "paddle.nn.Layer()"
_DENSE: Final = f"{_CORE}.DenseTensor"
_STATIC: Final = "paddle.jit.dy2static"
_AST: Final = f"{_STATIC}.program_translator.ASTStaticFunction"
_SOT: Final = "paddle.jit.sot"
_SOT_EXECUTOR: Final = f"{_SOT}.opcode_translator.executor"
_SOT_GRAPH: Final = f"{_SOT_EXECUTOR}.function_graph"
_TRANSLATOR: Final = f"{_STATIC}.program_translator"
_PROGRAM: Final = f"{_STATIC}.pir_partial_program.PartialProgramLayer"

FEATURES: Final[dict[str, Feature]] = {
    "tensors": Feature(
        {
            "is_initialized": f"{_TENSOR}._is_initialized",
            "inplace_version": f"{_TENSOR}._inplace_version",
            "is_dense": f"{_TENSOR}.is_dense",
            "is_dist": f"{_TENSOR}.is_dist",
            "parameter_type": "paddle.base.framework.EagerParamBase",
        }
    ),
    "ops": Feature(
        {
            "eager_ops": f"{_EAGER}.ops",
            "legacy_ops": f"{_EAGER}.ops.legacy",
            "pir_ops": f"{_CORE}.pir.ops",
            "static_value": f"{_CORE}.pir.Value",
        }
    ),
    "creations": Feature(
        {
            "to_tensor": "paddle.tensor.creation._to_tensor_non_static",
            "from_dlpack": f"{_CORE}.from_dlpack",
            "create_parameter": "paddle.base.layer_helper_base.LayerHelperBase.create_parameter",
        }
    ),
    "indexing": Feature(
        {
            "getitem": f"{_TENSOR}._getitem_dygraph",
            "setitem": f"{_TENSOR}._setitem_dygraph",
        }
    ),
    "aliases": Feature(
        {
            "use_gpudnn": f"{_TENSOR}._use_gpudnn",
            "new_shared_tensor": f"{_TENSOR}._new_shared_tensor",
        }
    ),
    "layer_paths": Feature(
        {
            "layer_parameters": f"{_LAYER}._parameters",
            "layer_buffers": f"{_LAYER}._buffers",
            "layer_sublayers": f"{_LAYER}._sub_layers",
        }
    ),
    "pylayers": Feature(
        {
            "pylayer_type": f"{_EAGER}.PyLayer",
            "pylayer_apply": f"{_EAGER}.PyLayer.apply",
            "pylayer_context": "paddle.autograd.py_layer.PyLayerBackward",
        }
    ),
    "backward": Feature(
        {
            "run_backward": f"{_EAGER}.run_backward",
            "run_partial_grad": f"{_EAGER}.run_partial_grad",
            "grad_fn": f"{_TENSOR}.grad_fn",
            "node_address": f"{_GRAD_NODE}.node_ptr",
            "node_name": f"{_GRAD_NODE}.name",
            "next_functions": f"{_GRAD_NODE}.next_functions",
        }
    ),
    "reads": Feature({"item": f"{_TENSOR}._getitem_from_offset"}),
    "copies": Feature({"copy_to": f"{_TENSOR}._copy_to"}),
    "gradient_modes": Feature(
        {"set_grad_enabled": "paddle.base.dygraph.base._set_grad_enabled"},
    ),
    "optimizers": Feature(
        {
            "optimizer_parameters": "paddle.optimizer.Optimizer()._parameter_list",
            "learning_rate": "paddle.optimizer.Optimizer()._learning_rate",
            "gradient_clip": "paddle.optimizer.Optimizer()._grad_clip",
        }
    ),
    "arrivals": Feature({"read_batch": f"{_EAGER}.read_next_tensor_list"}),
    "programs": Feature(
        {
            "static_function": f"{_STATIC}.program_translator.StaticFunction",
            "static_layer": f"{_STATIC}.program_translator.StaticFunction()._class_instance",
        }
    ),
    "program_counts": Feature(
        {
            "run_program": f"{_PROGRAM}.call_run_impl_with_hook",
            "program_of": f"{_PROGRAM}.program",
            "program_parameters": f"{_PROGRAM}()._params",
            "forward_program": f"{_STATIC}.pir_partial_program.RunnableProgram.forward_program",
            "backward_program": f"{_STATIC}.pir_partial_program.RunnableProgram.backward_program",
            "compiled_program": "paddle.static.CompiledProgram()._program",
        }
    ),
    "static_programs": Feature(
        {
            "concrete_program": f"{_AST}.get_concrete_program",
            "concrete_program_by_spec": f"{_AST}.concrete_program_specify_input_spec",
            "function_of_static": f"{_AST}.dygraph_function",
            "serialize_program": f"{_CORE}.serialize_pir_program",
        },
        wanted_by="programs",
    ),
    "sot_lines": Feature(
        {
            "sot_executor": f"{_SOT}.opcode_translator.executor.opcode_executor.OpcodeExecutorBase",
            "sot_stack": f"{_SOT_GRAPH}.FunctionGraph.get_opcode_executor_stack",
            "sot_log_of_graph": f"{_SOT_GRAPH}.log_do",
            "sot_log_of_interpreter": f"{_SOT}.symbolic.interpreter.log_do",
            "sot_append_stack": f"{_SOT}.symbolic.interpreter._append_opstack_between",
            "sot_ops_between": f"{_SOT}.symbolic.interpreter.for_each_ops_between",
        },
        wanted_by="programs",
    ),
    "graph_breaks": Feature(
        {
            "sot_error": f"{_SOT}.utils.exceptions.SotErrorBase",
            "sot_singletons": f"{_SOT}.utils.utils.Singleton._instances",
            "executor_frame": f"{_SOT_EXECUTOR}.opcode_executor.OpcodeExecutorBase().vframe",
            "executor_instructions": (
                f"{_SOT_EXECUTOR}.opcode_executor.OpcodeExecutorBase()._instructions"
            ),
            "instructions_of": f"{_SOT_EXECUTOR}.opcode_executor.get_instructions",
            "break_at_call": (
                f"{_SOT_EXECUTOR}.opcode_executor.OpcodeExecutor._break_graph_when_call"
            ),
            "break_at_jump": f"{_SOT_EXECUTOR}.opcode_executor.OpcodeExecutor._break_graph_when_if",
            "piece_is_small": f"{_SOT_EXECUTOR}.opcode_executor.need_fallback",
            "resumed_codes": f"{_SOT_EXECUTOR}.pycode_generator.ResumeFunctionCreator.CODE_CACHE",
            "sot_cache": f"{_SOT_EXECUTOR}.executor_cache.OpcodeExecutorCache",
            "fallback_guard": f"{_SOT_EXECUTOR}.executor_cache.dummy_guard",
        },
        wanted_by="graph_breaks",
    ),
    "argument_names": Feature(
        {
            "documented_methods": "paddle._paddle_docs.methods_map",
            "documented_functions": "paddle._paddle_docs.funcs_map",
            "documented_layers": "paddle._paddle_docs.nn_funcs_map",
        }
    ),
    "gradients": Feature(
        {
            "register_post_hook": f"{_GRAD_NODE}._register_post_hook",
            "register_grad_hook": f"{_TENSOR}._register_grad_hook",
            "remove_grad_hook": f"{_TENSOR}._remove_grad_hook",
            "shares_buffer": f"{_TENSOR}._is_shared_buffer_with",
        },
        wanted_by="gradients",
    ),
    "sparse_values": Feature(
        {
            "is_selected_rows": f"{_TENSOR}.is_selected_rows",
            "selected_rows": f"{_TENSOR}.get_selected_rows",
            "tensor_of_selected_rows": f"{_TENSOR}._get_tensor_from_selected_rows",
        },
        wanted_by="values",
    ),
    "allocations": Feature(
        {
            "profiler_options": f"{_CORE}.ProfilerOptions",
            "traced_devices": f"{_CORE}.ProfilerOptions.trace_switch",
            "profiler": f"{_CORE}._Profiler",
            "make_profiler": f"{_CORE}._Profiler.create",
            "prepare_profiler": f"{_CORE}._Profiler.prepare",
            "start_profiler": f"{_CORE}._Profiler.start",
            "stop_profiler": f"{_CORE}._Profiler.stop",
            "can_profile_gpu": f"{_CORE}._Profiler.is_cupti_supported",
            "profiler_of_users": "paddle.profiler.profiler._Profiler",
            "record_event": f"{_CORE}._RecordEvent",
            "event_types": f"{_CORE}.TracerEventType",
            "event_trees": f"{_CORE}._ProfilerResult.get_data",
            "event_name": f"{_CORE}.HostPythonNode.name",
            "event_start": f"{_CORE}.HostPythonNode.start_ns",
            "event_end": f"{_CORE}.HostPythonNode.end_ns",
            "events_inside": f"{_CORE}.HostPythonNode.children_node",
            "memory_events": f"{_CORE}.HostPythonNode.mem_node",
            "memory_event_time": f"{_CORE}.MemPythonNode.timestamp_ns",
            "memory_event_kind": f"{_CORE}.MemPythonNode.type",
            "memory_event_address": f"{_CORE}.MemPythonNode.addr",
            "memory_event_bytes": f"{_CORE}.MemPythonNode.increase_bytes",
            "memory_event_allocated": f"{_CORE}.MemPythonNode.current_allocated",
            "memory_event_reserved": f"{_CORE}.MemPythonNode.current_reserved",
            "memory_event_place": f"{_CORE}.MemPythonNode.place",
        },
        wanted_by="profiler",
    ),
    "kernels": Feature(
        {
            "event_type": f"{_CORE}.HostPythonNode.type",
            "launches_inside": f"{_CORE}.HostPythonNode.runtime_node",
            "device_events": f"{_CORE}.HostPythonNode.device_node",
            "device_event_type": f"{_CORE}.DevicePythonNode.type",
            "device_event_start": f"{_CORE}.DevicePythonNode.start_ns",
            "device_event_end": f"{_CORE}.DevicePythonNode.end_ns",
            "device_event_device": f"{_CORE}.DevicePythonNode.device_id",
        },
        wanted_by="kernels",
    ),
    "log": Feature(
        {
            "library": f"{_CORE}.libpaddle",
            "start_backward_log": f"{_EAGER}._start_capture_backward_vlog_subgraph",
            "stop_backward_log": f"{_EAGER}._stop_capture_backward_vlog_subgraph",
        },
        wanted_by="log",
    ),
    "counters": Feature(
        {
            "host_counter": f"{_CORE}.host_memory_stat_current_value",
            "device_counter": f"{_CORE}.device_memory_stat_current_value",
        },
        wanted_by="memory",
    ),
    "storages": Feature(
        {
            "storage_bytes": f"{_TENSOR}._holder_size",
            "storage_offset": f"{_TENSOR}._offset",
        },
        wanted_by="memory",
    ),
    "scopes": Feature(
        {
            "variables_in_scope": f"{_CORE}._Scope.local_var_names",
            "static_address": f"{_DENSE}._ptr",
            "static_dtype": f"{_DENSE}._dtype",
            "static_element_bytes": f"{_CORE}.size_of_dtype",
            "static_is_initialized": f"{_DENSE}._is_initialized",
            "static_numel": f"{_DENSE}._numel",
            "static_place": f"{_DENSE}._place",
            "static_integer": f"{_CORE}.Variable.get_int",
        },
        wanted_by="memory",
    ),
    "reruns": Feature(
        {
            "share_tensor_to": f"{_TENSOR}._share_underline_tensor_to",
            "share_buffer_to": f"{_TENSOR}._share_buffer_to",
            "register_void_hook": f"{_TENSOR}._register_backward_hook",
        },
        wanted_by="rerun",
    ),
    "random_state": Feature(
        {
            "default_cpu_generator": f"{_CORE}.default_cpu_generator",
            "name_generator": "paddle.base.unique_name.generator.ids",
            "parameter_names": "paddle.base.unique_name.dygraph_parameter_name_checker._name_set",
        },
        wanted_by="rerun",
    ),
    "replay": Feature(
        {
            "current_tracer": "paddle.base.framework._dygraph_tracer",
            "amp_level": f"{_CORE}.Tracer._amp_level",
            "amp_dtype": f"{_CORE}.Tracer._amp_dtype",
            "amp_ops": f"{_CORE}.Tracer._get_amp_op_list",
        },
        wanted_by="replay",
    ),
    "program_values": Feature(
        {
            "program_names": (f"{_STATIC}.pir_partial_program.RunnableProgram.program_attr"),
            "move_op": f"{_CORE}.pir.Operation.move_before",
            "eager_mode": "paddle.base.framework._dygraph_guard",
        },
        wanted_by="replay",
    ),
    "loader": Feature(
        {
            "loader_in_process": f"{_LOADER}._DataLoaderIterSingleProcess",
            "loader_in_workers": f"{_LOADER}._DataLoaderIterMultiProcess",
        }
    ),
    "collectives": Feature(
        {
            "process_group": f"{_CORE}.ProcessGroup",
            "communication_task": f"{_CORE}.task",
            "groups_by_id": (
                "paddle.distributed.communication.group._GroupManager.group_map_by_id"
            ),
        },
        wanted_by="ranks",
    ),
    "collective_check": Feature(
        {"global_store": f"{_CORE}.create_or_get_global_tcp_store"}, wanted_by="ranks"
    ),
    "export": Feature(
        {
            "function_cache": f"{_TRANSLATOR}._FUNCTION_CACHE",
            "forget_executors": f"{_CORE}.clear_executor_cache",
            "translated": f"{_TRANSLATOR}.convert_to_static",
            "undecorated": f"{_TRANSLATOR}.unwrap_decorators",
            "refuse_view": f"{_TRANSLATOR}.show_op_callstack",
            "origin_info": f"{_STATIC}.origin_info.ORIGIN_INFO",
            "origins": f"{_STATIC}.origin_info.global_origin_info_map",
            "error_data": f"{_STATIC}.error.ERROR_DATA",
            "gast": "paddle.utils.gast",
            "load_name": f"{_STATIC}.Ld",
            "cast": f"{_STATIC}.AsDtype",
            "assertion": f"{_STATIC}.Assert",
            "static_block": f"{_CORE}.pir.Block",
            "copy_value": f"{_CORE}.pir.Value._clone",
            "static_function_kind": _AST,
        },
        wanted_by="export",
    ),
}
"""The features, in the order of the notices about them. All of them need ``"tensors"``."""

LATE: Final = dict.fromkeys(("sot_lines", "graph_breaks"), f"{_SOT_EXECUTOR}.executor_cache")
"""Features whose names Paddle imports late, and the module to import for them."""
