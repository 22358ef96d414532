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
    PyObject *witnesses;              /* a tuple: the witness in each value's identity */
    int own_first, own_count;         /* which of them are the innermost loop's, if it is a `for` */
    PyObject *called;                 /* the mark of the call inside; None: it does not matter */
    int unit;                         /* the instruction of the last op */
    PyObject *next_called;            /* of the op that is looked at; NULL: as before */
    int next_unit;
} Call;

struct LastScope {
    PyObject_HEAD AddressTable *codes;
    Call calls[MOST_CALLS]; /* innermost first */
    int count;              /* 0: no answer is kept */
    int64_t scope;          /* the innermost of these calls and their iterations */
    int64_t inside;         /* the scope in which they were found */
    /* Changes when the calls go. While Python code of ours runs, another thread, or a finalizer,
     * may run an op, and replace them. */
    uint64_t version;
};

static PyObject *f_trace;

static void empty(LastScope *last) {
    last->version++;
    while (last->count > 0) {
        Call *call = &last->calls[--last->count];
        Py_CLEAR(call->witnesses);
        Py_CLEAR(call->called);
        Py_CLEAR(call->next_called);
        Py_CLEAR(call->mark);
        PyBuffer_Release(&call->units);
        Py_CLEAR(call->names);
    }
}

/* Tell whether a call is in the body of the same loop. */
static int is_in_same_body(const Call *call, int unit) {
    const Py_ssize_t units = call->units.len / (Py_ssize_t)(3 * sizeof(int));
    if (unit < 0 || unit >= units) {
        return 0;
    }
    const int *now = (const int *)call->units.buf + 3 * unit;
    const int *before = (const int *)call->units.buf + 3 * call->unit;
    return now[0] == before[0] && !((now[2] ^ before[2]) & IS_HEADER);
}

static int order_of(const Call *call, int unit) {
    return ((const int *)call->units.buf)[3 * unit + 1];
}

/* Tell whether a call is in the body of the same loop, and not before its last op. */
static int has_moved_on(const Call *call, int unit) {
    return call->units.len == 0 || /* a function without loops */
           (is_in_same_body(call, unit) && order_of(call, unit) >= order_of(call, call->unit));
}

/* The test of _is_of in turns.py: another object may have this address now. */
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

enum { OTHER_VALUES, NEXT_VALUES, SAME_VALUES };

/* Compare the variables. NEXT_VALUES: only the innermost loop's own have changed. */
static int compared_values(const Call *call, PyObject *frame) {
    int compared = SAME_VALUES;
    for (Py_ssize_t i = 0; compared != OTHER_VALUES && i < PyTuple_GET_SIZE(call->names); i++) {
        PyObject *value = frame_variable(frame, PyTuple_GET_ITEM(call->names, i));
        if (value != call->values[i] ||
            (value != NULL && !is_same_object(PyTuple_GET_ITEM(call->witnesses, i), value))) {
            const Py_ssize_t own = i - call->own_first;
            compared = own >= 0 && own < call->own_count ? NEXT_VALUES : OTHER_VALUES;
        }
        Py_XDECREF(value);
    }
    return compared;
}

/* Without a counter, an equal loop variable may belong to the next iteration, if the body calls
 * once more from the same place. At a later place the iteration goes on; the call from there is
 * noted. */
static int has_same_called(LastScope *last, Call *call, PyObject *called, int unit,
                           PyObject *tracker) {
    if (call->called == Py_None) {
        return 1;
    }
    if (unit == call->unit) {
        PyObject *mark = called == NULL ? NULL : PyObject_GetAttr(called, f_trace);
        Py_XDECREF(mark); /* the frame holds it */
        return mark == call->called;
    }
    if (order_of(call, unit) == order_of(call, call->unit)) {
        return 0;
    }
    const uint64_t version = last->version;
    PyObject *mark = called == NULL
                         ? Py_NewRef(call->names) /* a call that is not Python has no mark */
                         : PyObject_CallMethod(tracker, "mark_of", "O", called);
    if (mark == NULL || last->version != version) {
        Py_XDECREF(mark);
        return 0;
    }
    Py_XSETREF(call->next_called, mark);
    return mark != Py_None;
}

/* Compare a call and its values with what is kept; OTHER_VALUES: another call, or another loop. */
static int compared_call(LastScope *last, Call *call, PyObject *frame, PyObject *called,
                         PyObject *tracker) {
    Py_CLEAR(call->next_called); /* of an op for which Python had to find the scope */
    PyObject *mark = PyObject_GetAttr(frame, f_trace);
    Py_XDECREF(mark); /* the frame holds it */
    const int unit = call->next_unit = frame_lasti(frame) / 2;
    int compared = mark == call->mark ? compared_values(call, frame) : OTHER_VALUES;
    if ((compared == NEXT_VALUES && !is_in_same_body(call, unit)) ||
        (compared == SAME_VALUES &&
         !(has_moved_on(call, unit) && has_same_called(last, call, called, unit, tracker)))) {
        compared = OTHER_VALUES;
    }
    PyErr_Clear();
    return compared;
}

/* Note where the calls are now, which holds only once all of them were found the same. */
static void move_on(LastScope *last) {
    for (int i = 0; i < last->count; i++) {
        Call *call = &last->calls[i];
        call->unit = call->next_unit;
        if (call->next_called != NULL) {
            Py_SETREF(call->called, call->next_called);
            call->next_called = NULL;
        }
    }
}

/* Begin the next iteration of the innermost call's loop. Return its scope; UNKNOWN if Python has to
 * find it. */
static int64_t next_turn(LastScope *last, PyObject *tracker, PyObject *frame, PyObject *called,
                         long long thread) {
    Call *call = &last->calls[0];
    PyObject *answer = NULL, *seen = NULL, *mark, *witnesses = NULL;
    PyObject *now = PyList_New(call->own_count);
    const uint64_t version = last->version;
    long long scope;
    for (int own = 0; now != NULL && own < call->own_count; own++) {
        PyObject *name = PyTuple_GET_ITEM(call->names, call->own_first + own);
        PyObject *value = frame_variable(frame, name);
        if (value == NULL) {
            Py_CLEAR(now); /* a deleted variable */
            break;
        }
        PyList_SET_ITEM(now, own, value);
    }
    if (now != NULL) {
        answer = PyObject_CallMethod(tracker, "next_turn", "OOOOiL", call->mark, frame,
                                     called == NULL ? Py_None : called, now,
                                     order_of(call, call->next_unit), thread);
    }
    if (answer != NULL && answer != Py_None && last->version != version &&
        PyArg_ParseTuple(answer, "LOO", &scope, &seen, &mark)) {
        Py_DECREF(answer); /* the iteration has begun, and the calls that are kept are others */
        Py_DECREF(now);
        return scope;
    }
    if (answer == NULL || answer == Py_None ||
        !PyArg_ParseTuple(answer, "LO!O", &scope, &PyList_Type, &seen, &mark) ||
        PyList_GET_SIZE(seen) != call->own_count ||
        (witnesses = PyTuple_New(PyTuple_GET_SIZE(call->names))) == NULL) {
        PyErr_Clear();
        Py_XDECREF(answer);
        Py_XDECREF(now);
        return UNKNOWN;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(witnesses); i++) {
        const Py_ssize_t own = i - call->own_first;
        PyObject *witness = PyTuple_GET_ITEM(call->witnesses, i);
        if (own >= 0 && own < call->own_count) { /* its identity: address, witness */
            witness = PyTuple_GET_ITEM(PyList_GET_ITEM(seen, own), 1);
            call->values[i] = PyList_GET_ITEM(now, own);
        }
        PyTuple_SET_ITEM(witnesses, i, Py_NewRef(witness));
    }
    Py_DECREF(now);
    Py_SETREF(call->witnesses, witnesses);
    Py_XSETREF(call->next_called, Py_NewRef(mark));
    Py_DECREF(answer);
    move_on(last);
    return last->scope = scope;
}

/* Return the scope at a frame; UNKNOWN if Python has to find it. */
static int64_t scope_if_same(LastScope *last, PyObject *tracker, PyObject *frame, PyObject *anchor,
                             int64_t inside, long long thread) {
    int count = 0, is_same = 1;
    PyObject *at = Py_NewRef(frame), *called = NULL;
    PyObject *first = NULL,
             *first_called = NULL; /* of the innermost call, if a turn begins there */
    while (is_same && at != Py_None && at != anchor) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)at);
        const int64_t is_watched = AddressTable_get(last->codes, (int64_t)(intptr_t)code, 0);
        Py_DECREF(code); /* the frame holds it */
        if (is_watched != 0) {
            is_same = 0;
            if (is_watched == 1 && count < last->count) {
                const int compared = compared_call(last, &last->calls[count], at, called, tracker);
                is_same = compared == SAME_VALUES || (compared == NEXT_VALUES && count == 0);
                if (is_same && compared == NEXT_VALUES) {
                    first = Py_NewRef(at);
                    first_called = Py_XNewRef(called);
                }
                count++;
            }
        }
        PyObject *back = (PyObject *)PyFrame_GetBack((PyFrameObject *)at);
        Py_XSETREF(called, at);
        at = back != NULL ? back : Py_NewRef(Py_None);
    }
    Py_DECREF(at);
    Py_XDECREF(called);
    int64_t scope = UNKNOWN; /* Python empties what is kept */
    if (is_same && count == 0) {
        scope = inside; /* no call of a user's function */
    } else if (is_same && count == last->count && first != NULL) {
        if (inside == last->inside) {
            scope = next_turn(last, tracker, first, first_called, thread);
        }
    } else if (is_same && count == last->count) {
        move_on(last);
        scope = inside > last->scope ? inside : last->scope; /* the later scope is the inner one */
    }
    Py_XDECREF(first);
    Py_XDECREF(first_called);
    return scope;
}

int64_t scope_at(Owner *owner, PyObject *frame, const ThreadState *state) {
    if (PyThreadState_Get()->c_tracefunc != NULL) { /* a debugger needs the attribute f_trace */
        return state->scope;
    }
    const int64_t scope = scope_if_same(owner->last_scope, owner->turns, frame, state->anchor,
                                        state->scope, (long long)state->number);
    if (scope != UNKNOWN) {
        return scope;
    }
    return taken_integer(PyObject_CallMethod(owner->turns, "find_scope", "OOLL", frame,
                                             state->anchor, (long long)state->scope,
                                             (long long)state->number));
}

static PyObject *find(PyObject *self, PyObject *args) {
    PyObject *tracker, *frame, *anchor;
    long long inside, thread;
    if (!PyArg_ParseTuple(args, "OOOLL", &tracker, &frame, &anchor, &inside, &thread)) {
        return NULL;
    }
    const int64_t scope = scope_if_same((LastScope *)self, tracker, frame, anchor, inside, thread);
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
    long long scope, inside;
    PyObject *calls;
    if (!PyArg_ParseTuple(args, "LLO!", &scope, &inside, &PyList_Type, &calls)) {
        return NULL;
    }
    empty(last);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls); i++) {
        PyObject *frame, *mark, *names, *witnesses, *called;
        Py_buffer units;
        int own_first, own_count;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(calls, i), "OOy*O!O!iiO", &frame, &mark, &units,
                              &PyTuple_Type, &names, &PyTuple_Type, &witnesses, &own_first,
                              &own_count, &called)) {
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
        *call = (Call){.mark = Py_NewRef(mark),
                       .units = units,
                       .names = Py_NewRef(names),
                       .witnesses = Py_NewRef(witnesses),
                       .own_first = own_first,
                       .own_count = own_count,
                       .called = Py_NewRef(called)};
        call->unit = frame_lasti(frame) / 2;
        for (Py_ssize_t name = 0; name < PyTuple_GET_SIZE(names); name++) {
            PyObject *value = frame_variable(frame, PyTuple_GET_ITEM(names, name));
            call->values[name] = value;
            Py_XDECREF(value);
        }
    }
    last->scope = scope;
    last->inside = inside;
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
