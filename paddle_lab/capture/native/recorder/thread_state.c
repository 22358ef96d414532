/* A thread's innermost open scope, the anchor of its stacks, and the counter. */
#include "../native.h"
#include <structmember.h>

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    long long number;
    if (!PyArg_ParseTuple(args, "L", &number)) {
        return NULL;
    }
    ThreadState *state = (ThreadState *)type->tp_alloc(type, 0);
    if (state == NULL) {
        return NULL;
    }
    state->number = number;
    state->scope = state->layer = state->anchor_stack = NO_KEY;
    state->anchor = Py_NewRef(Py_None);
    state->closed_regions = PyDict_New();
    state->pylayers = PyList_New(0);
    if (state->closed_regions == NULL || state->pylayers == NULL) {
        Py_CLEAR(state);
    }
    return (PyObject *)state;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    ThreadState *state = (ThreadState *)self;
    Py_VISIT(state->anchor);
    Py_VISIT(state->closed_regions);
    Py_VISIT(state->pylayers);
    return 0;
}

static int clear(PyObject *self) {
    ThreadState *state = (ThreadState *)self;
    Py_CLEAR(state->anchor);
    Py_CLEAR(state->closed_regions);
    Py_CLEAR(state->pylayers);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef members[] = {
    {"number", T_LONGLONG, offsetof(ThreadState, number), READONLY, NULL},
    {"scope", T_LONGLONG, offsetof(ThreadState, scope), 0, NULL},
    {"layer", T_LONGLONG, offsetof(ThreadState, layer), 0, NULL},
    {"phase", T_LONGLONG, offsetof(ThreadState, phase), 0, NULL},
    {"anchor_stack", T_LONGLONG, offsetof(ThreadState, anchor_stack), 0, NULL},
    {"own_ns", T_LONGLONG, offsetof(ThreadState, own_ns), 0, NULL},
    {"anchor", T_OBJECT, offsetof(ThreadState, anchor), 0, NULL},
    {"closed_regions", T_OBJECT, offsetof(ThreadState, closed_regions), READONLY, NULL},
    {"pylayers", T_OBJECT, offsetof(ThreadState, pylayers), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
PyTypeObject ThreadCellsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.ThreadCells",
    .tp_basicsize = sizeof(ThreadState),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_members = members,
};

static PyObject *counter_new(PyTypeObject *type, PyObject *Py_UNUSED(args),
                             PyObject *Py_UNUSED(kwargs)) {
    Counter *counter = (Counter *)type->tp_alloc(type, 0);
    if (counter != NULL) {
        counter->alarm = INT64_MAX;
    }
    return (PyObject *)counter;
}

static PyObject *counter_call(PyObject *self, PyObject *Py_UNUSED(args),
                              PyObject *Py_UNUSED(kwargs)) {
    return PyLong_FromLongLong(((Counter *)self)->next++);
}

static PyMemberDef counter_members[] = {
    {"next", T_LONGLONG, offsetof(Counter, next), READONLY, NULL},
    {"alarm", T_LONGLONG, offsetof(Counter, alarm), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};
PyTypeObject CounterType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.Counter",
    .tp_basicsize = sizeof(Counter),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = counter_new,
    .tp_call = counter_call,
    .tp_members = counter_members,
};
