/* Keeps the last answer of capture/turns/turns.py as long as it is valid.
 *
 * Python finds the scope of an op. It would find the same scope again as long as
 *
 * - the same calls of the user's functions are on the stack, which their marks show,
 * - each call is in the body of the same loop, at the same or a later place, and
 * - the variables of the loops around are the same objects.
 *
 * Python keeps no answer if these tests are not enough: in the header of a loop, and in a loop
 * without a variable.
 */
#include "../native.h"

#define UNKNOWN INT64_MIN
#define MOST_CALLS 16
#define MOST_VARIABLES 16 /* of one call */

/* One call of a user's function. Its frame is not held: that would keep its variables alive. */
typedef struct {
    PyObject *mark;
    Py_buffer units;                  /* CodeLoops.units: three int per instruction */
    PyObject *names;                  /* a tuple: the variables of the loops around */
    PyObject *values[MOST_VARIABLES]; /* compared, never used */
    PyObject *witnesses;              /* a tuple: Identity.witness of each value */
    PyObject *called;                 /* the mark of the call inside; None: it does not matter */
    int unit;                         /* the instruction of the last op */
} Call;

struct LastScope {
    PyObject_HEAD AddressTable *codes;
    Call calls[MOST_CALLS]; /* innermost first */
    int count;              /* 0: no answer is kept */
    int64_t scope;          /* the innermost of these calls and their iterations */
};

static PyObject *f_trace;

static void empty(LastScope *last) {
    while (last->count > 0) {
        Call *call = &last->calls[--last->count];
        Py_CLEAR(call->witnesses);
        Py_CLEAR(call->called);
        Py_CLEAR(call->mark);
        PyBuffer_Release(&call->units);
        Py_CLEAR(call->names);
    }
}

/* Tell whether a call is in the body of the same loop, and not before its last op. */
static int has_moved_on(const Call *call, int unit) {
    const Py_ssize_t units = call->units.len / (Py_ssize_t)(3 * sizeof(int));
    if (units == 0) {
        return 1; /* a function without loops */
    }
    if (unit < 0 || unit >= units) {
        return 0;
    }
    const int *now = (const int *)call->units.buf + 3 * unit;
    const int *before = (const int *)call->units.buf + 3 * call->unit;
    return now[0] == before[0] && now[1] >= before[1] && !((now[2] ^ before[2]) & IS_HEADER);
}

/* The test of Identity.is_of in turns.py: another object may have this address now. */
static int is_same_object(PyObject *witness, PyObject *value) {
    PyObject *item = value;
    if (PyList_CheckExact(value) && PyList_GET_SIZE(value) > 0) {
        item = PyList_GET_ITEM(value, 0);
    } else if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) > 0) {
        item = PyTuple_GET_ITEM(value, 0);
    }
    return witness == Py_None ||
           item == (PyWeakref_Check(witness) ? PyWeakref_GET_OBJECT(witness) : witness);
}

static int has_same_values(const Call *call, PyObject *frame) {
    int is_same = 1;
    for (Py_ssize_t i = 0; is_same && i < PyTuple_GET_SIZE(call->names); i++) {
        PyObject *value = frame_variable(frame, PyTuple_GET_ITEM(call->names, i));
        is_same = value == call->values[i] &&
                  (value == NULL || is_same_object(PyTuple_GET_ITEM(call->witnesses, i), value));
        Py_XDECREF(value);
    }
    return is_same;
}

/* Without a counter, an equal loop variable may belong to the next iteration. So the frame must
 * still be at the same instruction, and in the same call from there. */
static int has_same_called(const Call *call, PyObject *called, int unit) {
    if (call->called == Py_None) {
        return 1;
    }
    if (called == NULL || unit != call->unit) {
        return 0;
    }
    PyObject *mark = PyObject_GetAttr(called, f_trace);
    Py_XDECREF(mark); /* the frame holds it */
    return mark == call->called;
}

static int is_same_call(Call *call, PyObject *frame, PyObject *called) {
    PyObject *mark = PyObject_GetAttr(frame, f_trace);
    Py_XDECREF(mark); /* the frame holds it */
    const int unit = frame_lasti(frame) / 2;
    if (mark != call->mark || !has_moved_on(call, unit) || !has_same_called(call, called, unit) ||
        !has_same_values(call, frame)) {
        PyErr_Clear();
        return 0;
    }
    call->unit = unit;
    return 1;
}

/* Return the scope at a frame; UNKNOWN if Python has to find it. */
static int64_t scope_if_same(LastScope *last, PyObject *frame, PyObject *anchor, int64_t inside) {
    int count = 0, is_same = 1;
    PyObject *at = Py_NewRef(frame), *called = NULL;
    while (is_same && at != Py_None && at != anchor) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)at);
        const int64_t is_watched = AddressTable_get(last->codes, (int64_t)(intptr_t)code, 0);
        Py_DECREF(code); /* the frame holds it */
        if (is_watched != 0) {
            is_same = is_watched == 1 && count < last->count &&
                      is_same_call(&last->calls[count++], at, called);
        }
        PyObject *back = (PyObject *)PyFrame_GetBack((PyFrameObject *)at);
        Py_XSETREF(called, at);
        at = back != NULL ? back : Py_NewRef(Py_None);
    }
    Py_DECREF(at);
    Py_XDECREF(called);
    if (is_same && count == 0) {
        return inside; /* no call of a user's function */
    }
    if (!is_same || count != last->count) {
        return UNKNOWN;
    }
    return inside > last->scope ? inside : last->scope; /* the later scope is the inner one */
}

int64_t scope_at(Owner *owner, PyObject *frame, const ThreadState *state) {
    if (PyThreadState_Get()->c_tracefunc != NULL) { /* a debugger needs the attribute f_trace */
        return state->scope;
    }
    const int64_t scope = scope_if_same(owner->last_scope, frame, state->anchor, state->scope);
    if (scope != UNKNOWN) {
        return scope;
    }
    return taken_integer(PyObject_CallMethod(owner->turns, "find_scope", "OOLL", frame,
                                             state->anchor, (long long)state->scope,
                                             (long long)state->number));
}

static PyObject *find(PyObject *self, PyObject *args) {
    PyObject *frame, *anchor;
    long long inside;
    if (!PyArg_ParseTuple(args, "OOL", &frame, &anchor, &inside)) {
        return NULL;
    }
    const int64_t scope = scope_if_same((LastScope *)self, frame, anchor, inside);
    return scope == UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromLongLong(scope);
}

static PyObject *take(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    LastScope *last = (LastScope *)self;
    PyObject *calls = PyList_New(0);
    for (int i = 0; calls != NULL && i < last->count; i++) {
        PyObject *call = Py_BuildValue("(Oi)", last->calls[i].mark, last->calls[i].unit);
        if (call == NULL || PyList_Append(calls, call) < 0) {
            Py_CLEAR(calls);
        }
        Py_XDECREF(call);
    }
    empty(last);
    return calls;
}

static PyObject *keep(PyObject *self, PyObject *args) {
    LastScope *last = (LastScope *)self;
    long long scope;
    PyObject *calls;
    if (!PyArg_ParseTuple(args, "LO!", &scope, &PyList_Type, &calls)) {
        return NULL;
    }
    empty(last);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls); i++) {
        PyObject *frame, *mark, *names, *witnesses, *called;
        Py_buffer units;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(calls, i), "OOy*O!O!O", &frame, &mark, &units,
                              &PyTuple_Type, &names, &PyTuple_Type, &witnesses, &called)) {
            empty(last);
            return NULL;
        }
        if (i == MOST_CALLS || PyTuple_GET_SIZE(names) > MOST_VARIABLES ||
            PyTuple_GET_SIZE(names) != PyTuple_GET_SIZE(witnesses)) {
            PyBuffer_Release(&units);
            empty(last);
            break;
        }
        Call *call = &last->calls[last->count++];
        *call =
            (Call){Py_NewRef(mark), units, Py_NewRef(names), {0}, Py_NewRef(witnesses), NULL, 0};
        call->called = Py_NewRef(called);
        call->unit = frame_lasti(frame) / 2;
        for (Py_ssize_t name = 0; name < PyTuple_GET_SIZE(names); name++) {
            PyObject *value = frame_variable(frame, PyTuple_GET_ITEM(names, name));
            call->values[name] = value;
            Py_XDECREF(value);
        }
    }
    last->scope = scope;
    Py_RETURN_NONE;
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *codes;
    if ((f_trace == NULL && (f_trace = PyUnicode_InternFromString("f_trace")) == NULL) ||
        !PyArg_ParseTuple(args, "O!", &AddressTableType, &codes)) {
        return NULL;
    }
    LastScope *last = (LastScope *)type->tp_alloc(type, 0);
    if (last != NULL) {
        last->codes = (AddressTable *)Py_NewRef(codes);
    }
    return (PyObject *)last;
}

static void dealloc(PyObject *self) {
    LastScope *last = (LastScope *)self;
    empty(last);
    Py_XDECREF(last->codes);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"find", find, METH_VARARGS, "Return the scope at a frame, or None."},
    {"keep", keep, METH_VARARGS, "Keep an answer."},
    {"take", take, METH_NOARGS, "Drop the answer, and return where its calls were last."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject LastScopeType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.LastScope",
    .tp_basicsize = sizeof(LastScope),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
};
