/* Keeps the last result of capture/turns/turns.py while it is valid. Begins the next iteration of a
 * `for` loop if only the loop's own variables have changed, and opens calls of functions without
 * loops.
 *
 * Python finds the scope of an op. It would find the same scope again as long as
 *
 * - the same calls of the user's functions are on the stack, which their marks show,
 * - each call is in the body of the same loop, at the same or a later place, and
 * - the variables of the loops around are the same objects.
 *
 * Python keeps no result if these tests are not enough: in the header of a loop, and in a loop
 * without a variable. But if the header only runs a generator, the call is between two iterations,
 * and belongs to what is around the loop. While a generator is suspended, its call is set aside.
 *
 * A finalizer or another thread may run an op in between, wherever Python code runs or an object is
 * made that the garbage collector tracks. So `version` is compared after such places.
 */
#include "last_scope.h"
#include "../native.h"

/* Tell whether a running call is one of a function without loops, and has no scope yet. */
static int is_new_call(const LastScope *last, const Running *running) {
    PyObject *mark = trace_of(running->frame);
    if (running->watched < FIRST_SIMPLE || mark == Py_None || mark == NULL) {
        return running->watched >= FIRST_SIMPLE && mark == Py_None;
    }
    if (!Py_IS_TYPE(mark, (PyTypeObject *)last->mark_type)) {
        return 0;
    }
    PyObject *tracker = PyObject_GetAttr(mark, tracker_name);
    Py_XDECREF(tracker);
    return tracker == last->serial && taken_integer(PyObject_GetAttr(mark, scope_name)) == NO_KEY;
}

/* Open a new call, as _find_scope() in turns.py. Return its scope, or ``parent`` if its calls are
 * no scopes; UNKNOWN, perhaps with an exception, if Python has to find the scope. */
static int64_t open_call(LastScope *last, PyObject *tracker, const Running *running, int64_t parent,
                         long long thread) {
    const uint64_t version = last->version;
    Call call = {.scope = NO_KEY, .turn = Py_None, .called = Py_None};
    if ((call.mark = mark_of(last, tracker, running->frame)) == NULL) {
        return UNKNOWN;
    }
    call.names = PyTuple_New(0);
    call.identities = PyTuple_New(0);
    const int64_t name = running->watched - FIRST_SIMPLE - 1;
    const int is_valid = call.names != NULL && call.identities != NULL && !PyErr_Occurred() &&
                         last->version == version && call.mark != Py_None;
    if (is_valid && name >= 0) {
        call.scope = open_scope(last, SCOPE_KIND_CALL, name, parent, thread);
    }
    if (!is_valid || call.scope == UNKNOWN ||
        (name >= 0 && set_integer(call.mark, scope_name, call.scope) < 0)) {
        Py_DECREF(call.mark);
        Py_XDECREF(call.names);
        Py_XDECREF(call.identities);
        return UNKNOWN;
    }
    call.unit = frame_lasti(running->frame) / 2;
    call.is_suspendable = is_suspendable(running->frame);
    Py_INCREF(call.turn);
    Py_INCREF(call.called);
    last->calls[last->count++] = call;
    last->version++;
    return name >= 0 ? call.scope : parent;
}

/* Tell whether all kept calls go on in the same or next iterations, and all others are new. */
static int can_go_on(LastScope *last, const Running *running, int count, PyObject *tracker,
                     int64_t around) {
    for (int i = 0; i < count - last->count; i++) {
        if (!is_new_call(last, &running[i])) {
            return 0;
        }
    }
    const uint64_t version = last->version;
    for (int i = 0; i < last->count; i++) {
        Call *call = &last->calls[i];
        const int compared = compared_call(last, call, &running[count - 1 - i], tracker, around);
        if (compared == OTHER_VALUES || last->version != version) {
            return 0;
        }
        call->compared = compared;
        const int64_t scope = compared == BETWEEN       ? call->outside
                              : compared == NEXT_VALUES ? INT64_MAX /* it will be the latest */
                                                        : call->scope;
        around = scope > around ? scope : around;
    }
    return last->count > 0;
}

/* Return the scope of running calls; UNKNOWN, perhaps with an exception, if Python has to find it.
 */
static int64_t scope_of(LastScope *last, PyObject *tracker, const Running *running, int count,
                        int64_t inside, long long thread) {
    match_calls(last, running, count);
    if (!can_go_on(last, running, count, tracker, inside)) {
        return UNKNOWN;
    }
    int64_t scope = inside; /* of two open scopes, the later one is the inner one */
    const int known = last->count;
    for (int i = 0; i < known; i++) {
        Call *call = &last->calls[i];
        if (call->compared == NEXT_VALUES) {
            const int64_t parent = call->outside > scope ? call->outside : scope;
            if (next_turn(last, call, tracker, &running[count - 1 - i], parent, thread) ==
                UNKNOWN) {
                return UNKNOWN;
            }
        } else {
            move_on(call);
        }
        const int64_t own = call->compared == BETWEEN ? call->outside : call->scope;
        scope = own > scope ? own : scope;
    }
    for (int i = count - known - 1; i >= 0 && scope != UNKNOWN; i--) {
        scope = open_call(last, tracker, &running[i], scope, thread);
    }
    return scope;
}

/* Return the scope at a frame; UNKNOWN, perhaps with an exception, if Python has to find it. */
static int64_t scope_if_same(LastScope *last, PyObject *tracker, PyObject *frame, PyObject *anchor,
                             int64_t inside, long long thread) {
    Running running[MOST_CALLS]; /* innermost first */
    int count = 0, is_known = 1;
    PyObject *at = Py_NewRef(frame), *called = NULL;
    while (is_known && at != Py_None && at != anchor) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)at);
        const int64_t watched = AddressTable_get(last->codes, (int64_t)(intptr_t)code, 0);
        Py_DECREF(code); /* the frame still has a reference */
        if (watched == RUNS_CELLS) {
            break;
        }
        if (watched != 0) {
            is_known = watched != NO_KEY && watched != ASK_PYTHON && count < MOST_CALLS;
            if (is_known) {
                running[count++] = (Running){Py_NewRef(at), Py_XNewRef(called), watched};
            }
        }
        PyObject *back = (PyObject *)PyFrame_GetBack((PyFrameObject *)at);
        Py_XSETREF(called, at);
        at = back != NULL ? back : Py_NewRef(Py_None);
    }
    Py_DECREF(at);
    Py_XDECREF(called);
    int64_t scope = UNKNOWN; /* Python empties the kept result */
    if (is_known) {
        scope = count == 0 ? inside : scope_of(last, tracker, running, count, inside, thread);
    }
    for (int i = 0; i < count; i++) {
        Py_DECREF(running[i].frame);
        Py_XDECREF(running[i].called);
    }
    return PyErr_Occurred() ? UNKNOWN : scope;
}

int64_t scope_at(Owner *owner, PyObject *frame, const ThreadState *state) {
    if (PyThreadState_Get()->c_tracefunc != NULL) { /* a debugger uses the attribute f_trace */
        return state->scope;
    }
    const int64_t scope = scope_if_same(owner->last_scope, owner->turns, frame, state->anchor,
                                        state->scope, (long long)state->number);
    if (scope != UNKNOWN || PyErr_Occurred()) {
        return PyErr_Occurred() ? -1 : scope;
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
    if (scope == UNKNOWN) {
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    }
    return PyLong_FromLongLong(scope);
}

static PyObject *forget(PyObject *self, PyObject *const *marks, Py_ssize_t count) {
    forget_calls((LastScope *)self, count == 0 ? NULL : marks[0]);
    Py_RETURN_NONE;
}

static PyObject *keep(PyObject *self, PyObject *args) {
    LastScope *last = (LastScope *)self;
    PyObject *calls;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &calls)) {
        return NULL;
    }
    forget_calls(last, Py_None);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(calls); i++) {
        PyObject *frame, *after;
        Call call = {0};
        long long own, outside;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(calls, i), "OOLLiy*O!O!OOO", &frame, &call.mark, &own,
                              &outside, &call.unit, &call.units, &PyTuple_Type, &call.names,
                              &PyTuple_Type, &call.identities, &call.called, &call.turn, &after)) {
            forget_calls(last, NULL);
            return NULL;
        }
        const Py_ssize_t variables = PyTuple_GET_SIZE(call.names);
        if (i == MOST_CALLS || variables > MOST_VARIABLES ||
            variables != PyTuple_GET_SIZE(call.identities) ||
            (after != Py_None &&
             !PyArg_ParseTuple(after, "iiLLO!LLLi", &call.own_first, &call.own_count, &call.name,
                               &call.key, &PyTuple_Type, &call.shown, &call.number, &call.start,
                               &call.step, &call.stepped_after))) {
            PyBuffer_Release(&call.units);
            forget_calls(last, NULL);
            break;
        }
        PyObject *held[] = {call.mark,   call.names, call.identities,
                            call.called, call.turn,  call.shown};
        for (size_t one = 0; one < sizeof held / sizeof *held; one++) {
            Py_XINCREF(held[one]);
        }
        call.scope = own;
        call.goes_on = after != Py_None;
        call.outside = outside;
        call.is_suspendable = is_suspendable(frame);
        for (Py_ssize_t name = 0; name < variables; name++) {
            PyObject *identity = PyTuple_GET_ITEM(call.identities, name);
            PyObject *now = frame_variable(frame, PyTuple_GET_ITEM(call.names, name));
            call.values[name] =
                now == NULL ? NULL : PyLong_AsVoidPtr(PyTuple_GET_ITEM(identity, 0));
            Py_XDECREF(now);
        }
        last->calls[last->count++] = call;
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *codes, *scopes, *next_scope, *turns, *values, *mark_type, *serial;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!OO", &AddressTableType, &codes, &TapeType, &scopes,
                          &CounterType, &next_scope, &TapeType, &turns, &PyList_Type, &values,
                          &mark_type, &serial)) {
        return NULL;
    }
    struct {
        PyObject **name;
        const char *text;
    } names[] = {{&f_trace, "f_trace"},    {&order_name, "order"}, {&scope_name, "scope"},
                 {&number_name, "number"}, {&seen_name, "seen"},   {&tracker_name, "tracker"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (*names[i].name == NULL &&
            (*names[i].name = PyUnicode_InternFromString(names[i].text)) == NULL) {
            return NULL;
        }
    }
    PyObject *descriptor = PyObject_GetAttr((PyObject *)&PyFrame_Type, f_trace);
    if (descriptor != NULL && Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)) {
        f_trace_getter = ((PyGetSetDescrObject *)descriptor)->d_getset;
    }
    Py_XDECREF(descriptor); /* the type keeps it */
    LastScope *last = PyErr_Occurred() ? NULL : (LastScope *)type->tp_alloc(type, 0);
    if (last != NULL) {
        last->codes = (AddressTable *)Py_NewRef(codes);
        last->scopes = (Tape *)Py_NewRef(scopes);
        last->next_scope = (Counter *)Py_NewRef(next_scope);
        last->turns = (Tape *)Py_NewRef(turns);
        last->values = Py_NewRef(values);
        last->mark_type = Py_NewRef(mark_type);
        last->serial = Py_NewRef(serial);
    }
    return (PyObject *)last;
}

static void dealloc(PyObject *self) {
    LastScope *last = (LastScope *)self;
    forget_calls(last, NULL);
    Py_XDECREF(last->codes);
    Py_XDECREF(last->scopes);
    Py_XDECREF(last->next_scope);
    Py_XDECREF(last->turns);
    Py_XDECREF(last->values);
    Py_XDECREF(last->mark_type);
    Py_XDECREF(last->serial);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"find", find, METH_VARARGS, "Return the scope at a frame, or None."},
    {"keep", keep, METH_VARARGS, "Keep an answer."},
    {"forget", (PyCFunction)(void (*)(void))forget, METH_FASTCALL, "Forget the calls."},
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
