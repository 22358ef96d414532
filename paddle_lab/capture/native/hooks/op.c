/* The wrapper around every op of a traced cell: capture/hooks/op_wrapper.py in C. */
#include "../native.h"

/* A wrapper of an op's function. OpMethod binds to instances, as operators of a class must. */
typedef struct {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *function;
    PyObject *name;
    int64_t name_key;
    int is_update;     /* an optimizer's op, which keeps shapes, dtypes and names */
    PyObject *for_all; /* the wrapper in Python, for several recorders */
    PyObject *rare;    /* an OpWrapping, which records the calls that C cannot */
    PyObject *attributes;
} Op;

/* Call a method of ``rare`` to record a call that has ended. */
static int tell_rare(Owner *owner, Op *op, const char *method, PyObject *const *args,
                     Py_ssize_t count, Resolved *resolved, PyObject *result, OpTimes times) {
    ThreadState *state = Owner_thread(owner);
    if (state == NULL) {
        return -1;
    }
    Py_INCREF(state);
    state->own_ns += times.start_ns - times.begun_ns;
    PyObject *inputs = PyList_New(resolved->length);
    for (Py_ssize_t i = 0; inputs != NULL && i < resolved->length; i++) {
        PyObject *cell = PyLong_FromLongLong(resolved->cells[i]);
        if (cell == NULL) {
            Py_CLEAR(inputs);
            break;
        }
        PyList_SET_ITEM(inputs, i, cell);
    }
    PyObject *tuple = arguments_tuple(args, count);
    PyObject *done = NULL;
    if (inputs != NULL && tuple != NULL && Resolved_has_attributes(resolved)) {
        done = PyObject_CallMethod(op->rare, method, "OOO(OOL)OLLLO", owner->recorder, op->name,
                                   tuple, inputs, resolved->attributes, (long long)times.call,
                                   result, (long long)times.start_ns, (long long)times.end_ns,
                                   (long long)state->own_ns, present_frame());
    }
    Py_XDECREF(inputs);
    Py_XDECREF(tuple);
    Py_XDECREF(done);
    state->own_ns += now_ns() - times.end_ns;
    Py_DECREF(state);
    return done == NULL ? -1 : 0;
}

/* Record that the op raised the current exception, and keep that exception. */
static void record_failure(Owner *owner, Op *op, PyObject *const *args, Py_ssize_t count,
                           Resolved *resolved, OpTimes times) {
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (tell_rare(owner, op, "fail", args, count, resolved, error, times) < 0 &&
        Owner_abandon(owner) < 0) {
        /* recording was interrupted: raise the interrupt, not the op's own error */
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
        return;
    }
    PyErr_Restore(type, error, traceback);
}

/* Take the stack, and write the beginning of the op into the flight record. */
static int begin(Owner *owner, Op *op, OpTimes *times) {
    ThreadState *state = Owner_thread(owner);
    if (state == NULL) {
        return -1;
    }
    Py_INCREF(state);
    PyObject *frame = present_frame();
    times->stack = StackPool_key_of(owner->stacks, frame, state->anchor, state->anchor_stack);
    int failed = times->stack < 0 && PyErr_Occurred() != NULL;
    if (!failed) {
        failed = flight_begin(op->name_key, times->stack, state, frame, times) < 0;
    }
    Py_DECREF(state);
    return failed ? -1 : 0;
}

/* Note what the op needs to run again. */
static int note_call(Owner *owner, Op *op, PyObject *const *args, Py_ssize_t count, PyObject *names,
                     const int64_t *versions, OpTimes *times) {
    return !Py_IS_TYPE(owner->call_tape, &CallTapeType)
               ? 0
               : CallTape_begin((CallTape *)owner->call_tape, op->function, op->name, args, count,
                                names, versions, &times->call);
}

/* Write the op into the flight record only. */
static PyObject *call_in_flight(Owner *owner, Op *op, PyObject *const *args, size_t flags,
                                PyObject *names) {
    OpTimes times = {.call = NO_KEY};
    Py_INCREF(owner);
    int failed = begin(owner, op, &times) < 0 && Owner_abandon(owner) < 0;
    PyObject *result = failed ? NULL : PyObject_Vectorcall(op->function, args, flags, names);
    flight_end(times.flight, now_ns());
    Py_DECREF(owner);
    return result;
}

static PyObject *call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
    Op *op = (Op *)self;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    Owner *owner = present_owner;
    if (owner == NULL || PyTuple_GET_SIZE(owner->sinks->active) == 0) {
        return PyObject_Vectorcall(op->function, args, flags, names);
    }
    if (!Owner_listens_alone(owner)) {
        return PyObject_Vectorcall(op->for_all, args, flags, names);
    }
    if (owner->writes_flight_only) {
        return call_in_flight(owner, op, args, flags, names);
    }
    OpTimes times = {.begun_ns = now_ns(), .call = NO_KEY};
    Resolved resolved;
    Resolved_begin(&resolved);
    Py_INCREF(owner);
    PyObject *result = NULL;
    if ((Resolved_take(owner, &resolved, args, count, names) < 0 ||
         note_call(owner, op, args, count, names, resolved.versions, &times) < 0 ||
         begin(owner, op, &times) < 0) &&
        Owner_abandon(owner) < 0) {
        goto end;
    }
    if (times.start_ns == 0) { /* this trace was given up */
        times.start_ns = now_ns();
    }
    result = PyObject_Vectorcall(op->function, args, flags, names);
    times.end_ns = now_ns();
    flight_end(times.flight, times.end_ns);
    if (!Owner_listens_alone(owner)) {
        goto end; /* a trace began or ended during the op, or this trace was given up */
    }
    if (result == NULL) {
        record_failure(owner, op, args, count, &resolved, times);
        goto end;
    }
    Made made;
    int failed;
    PyObject *tensors = NULL; /* a list that takes the result's place */
    if (Made_find(owner, &result, &made)) {
        failed = record_op(owner, op->name_key, op->is_update, &resolved, result, &made, times);
    } else if ((tensors = result == Py_None ? Made_modified(owner, args, count, &resolved)
                                            : Made_nested(owner, result)) != NULL) {
        made = (Made){PySequence_Fast_ITEMS(tensors), PyList_GET_SIZE(tensors),
                      PyList_GET_SIZE(tensors)};
        failed = record_op(owner, op->name_key, op->is_update, &resolved,
                           result == Py_None ? tensors : result, &made, times);
        Py_DECREF(tensors);
    } else if (PyErr_Occurred()) {
        failed = -1;
    } else {
        failed = tell_rare(owner, op, "end", args, count, &resolved, result, times);
    }
    if (failed < 0 && Owner_abandon(owner) < 0) {
        Py_CLEAR(result);
    }
end:
    Py_DECREF(owner);
    Resolved_drop(&resolved);
    return result;
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *function, *name, *for_all, *rare;
    long long name_key;
    int is_update;
    if (!PyArg_ParseTuple(args, "OULOOp", &function, &name, &name_key, &for_all, &rare,
                          &is_update)) {
        return NULL;
    }
    Op *op = (Op *)type->tp_alloc(type, 0);
    if (op == NULL) {
        return NULL;
    }
    op->vectorcall = call;
    op->function = Py_NewRef(function);
    op->name = Py_NewRef(name);
    op->name_key = name_key;
    op->is_update = is_update;
    op->for_all = Py_NewRef(for_all);
    op->rare = Py_NewRef(rare);
    return (PyObject *)op;
}

static void dealloc(PyObject *self) {
    Op *op = (Op *)self;
    Py_XDECREF(op->function);
    Py_XDECREF(op->name);
    Py_XDECREF(op->for_all);
    Py_XDECREF(op->rare);
    Py_XDECREF(op->attributes);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject OpFunctionType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.OpFunction",
    .tp_basicsize = sizeof(Op),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Op, vectorcall),
    .tp_dictoffset = offsetof(Op, attributes),
    .tp_getset = wrapper_properties,
};
PyTypeObject OpMethodType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.OpMethod",
    .tp_basicsize = sizeof(Op),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Op, vectorcall),
    .tp_dictoffset = offsetof(Op, attributes),
    .tp_descr_get = wrapper_bind,
    .tp_getset = wrapper_properties,
};
