/* The wrapper around every call of a layer: capture/hooks/layer_hooks.py in C. */
#include "../native.h"
#include <string.h>

typedef struct {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *function;
    PyObject *for_all; /* the wrapper in Python, for several recorders */
    PyObject *attributes;
} LayerCall;

static int64_t layer_key(Owner *owner, PyObject *layer, int64_t caller, PyObject *frame) {
    int64_t known = ObjectTable_find_value(owner->known_layers, layer);
    if (known != NO_KEY) {
        return known;
    }
    PyObject *key =
        PyObject_CallMethod(owner->layer_pool, "key_of", "OLO", layer, (long long)caller, frame);
    int64_t value = key == NULL ? -1 : PyLong_AsLongLong(key);
    Py_XDECREF(key);
    return value;
}

/* Note a call of a layer in eval mode. */
static int note_mode(Owner *owner, PyObject *layer, int64_t scope) {
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("training")) == NULL) {
        return -1;
    }
    /* paddle's Layer defines __getattr__, and Python's look-up of that takes longer than the rest.
     */
    PyObject *training = PyObject_GenericGetAttr(layer, name);
    if (training == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        training = PyObject_GetAttr(layer, name);
    }
    if (training == NULL) { /* a layer of the user's that has not called super().__init__() */
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return -1;
        }
        PyErr_Clear();
        return 0;
    }
    int is_training = PyObject_IsTrue(training);
    Py_DECREF(training);
    if (is_training == 0) {
        int64_t *row = Tape_reserve(owner->eval_scopes, 1);
        if (row == NULL) {
            return -1;
        }
        *row = scope;
    }
    return is_training < 0 ? -1 : 0;
}

/* Open the scope of a layer's call. Until it ends, stacks are walked up to its caller's frame. */
static int enter(Owner *owner, ThreadState *state, PyObject *layer, PyObject *frame) {
    int64_t key = layer_key(owner, layer, state->layer, frame);
    if (key < 0) {
        return -1;
    }
    int64_t stack = StackPool_key_of(owner->stacks, frame, state->anchor, state->anchor_stack);
    const int64_t parent = PyErr_Occurred() ? NO_KEY : scope_at(owner, frame, state);
    int64_t *row = PyErr_Occurred() ? NULL : Tape_reserve(owner->scopes, SCOPE_CELLS);
    if (row == NULL) {
        return -1;
    }
    int64_t scope = owner->next_scope->next++;
    const int64_t cells[SCOPE_CELLS] = {
        [SCOPE_KEY] = scope, [SCOPE_KIND] = SCOPE_KIND_LAYER, [SCOPE_PARENT] = parent,
        [SCOPE_LAYER] = key, [SCOPE_BACKWARD_CALL] = NO_KEY,  [SCOPE_THREAD] = state->number,
    };
    memcpy(row, cells, sizeof cells);
    if (note_mode(owner, layer, scope) < 0) {
        return -1;
    }
    state->scope = scope;
    state->layer = key;
    state->anchor_stack = stack;
    PyObject *before = state->anchor;
    state->anchor = Py_NewRef(frame);
    Py_DECREF(before);
    return 0;
}

static PyObject *call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
    LayerCall *layer_call = (LayerCall *)self;
    Owner *owner = present_owner;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    if (owner == NULL || PyTuple_GET_SIZE(owner->sinks->active) == 0 || frame == NULL ||
        PyVectorcall_NARGS(flags) == 0) {
        return PyObject_Vectorcall(layer_call->function, args, flags, names);
    }
    if (!Owner_listens_alone(owner)) {
        return PyObject_Vectorcall(layer_call->for_all, args, flags, names);
    }
    int64_t begun_ns = now_ns();
    Py_INCREF(owner);
    ThreadState *state = Owner_thread(owner);
    if (state == NULL) {
        int is_raised = Owner_abandon(owner) < 0;
        Py_DECREF(owner);
        return is_raised ? NULL : PyObject_Vectorcall(layer_call->function, args, flags, names);
    }
    Py_INCREF(state);
    int64_t scope = state->scope, layer = state->layer, anchor_stack = state->anchor_stack;
    PyObject *anchor = Py_NewRef(state->anchor);
    PyObject *result = NULL;
    if (enter(owner, state, args[0], frame) == 0 || Owner_abandon(owner) == 0) {
        state->own_ns += now_ns() - begun_ns;
        result = PyObject_Vectorcall(layer_call->function, args, flags, names);
    }
    state->scope = scope;
    state->layer = layer;
    state->anchor_stack = anchor_stack;
    Py_SETREF(state->anchor, anchor);
    Py_DECREF(state);
    Py_DECREF(owner);
    return result;
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *function, *for_all;
    if (!PyArg_ParseTuple(args, "OO", &function, &for_all)) {
        return NULL;
    }
    LayerCall *self = (LayerCall *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->vectorcall = call;
        self->function = Py_NewRef(function);
        self->for_all = Py_NewRef(for_all);
    }
    return (PyObject *)self;
}

static void dealloc(PyObject *self) {
    LayerCall *layer_call = (LayerCall *)self;
    Py_XDECREF(layer_call->function);
    Py_XDECREF(layer_call->for_all);
    Py_XDECREF(layer_call->attributes);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject LayerCallType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.LayerCall",
    .tp_basicsize = sizeof(LayerCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(LayerCall, vectorcall),
    .tp_dictoffset = offsetof(LayerCall, attributes),
    .tp_descr_get = wrapper_bind,
    .tp_getset = wrapper_properties,
};
