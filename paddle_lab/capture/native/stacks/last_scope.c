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
#include "../native.h"
#include <string.h>

#define UNKNOWN INT64_MIN
#define MOST_CALLS 16
#define ASK_PYTHON 2      /* in the table of codes, as in turns.py */
#define RUNS_CELLS 3      /* its callers are not the user's */
#define FIRST_SIMPLE 4    /* from here on: a function without loops, and its name */
#define MOST_VARIABLES 16 /* per call */
#define MOST_SUSPENDED 8

/* One call of a user's function. It does not hold its frame: that would keep variables alive. */
typedef struct {
    PyObject *mark;
    Py_buffer units;                  /* CodeLoops.units: three int per instruction */
    PyObject *names;                  /* a tuple: the variables of the enclosing loops */
    PyObject *values[MOST_VARIABLES]; /* only compared */
    PyObject *identities;             /* a tuple: the identity of each, as in variables.py */
    PyObject *called;                 /* the mark of the function that it calls; None: any */
    int unit;                         /* the instruction of the last op */
    int64_t scope;                    /* the innermost of its own scope and its iterations */
    int64_t outside;                  /* the same without the innermost iteration */
    int is_suspendable;               /* a generator's or coroutine's */
    int compared;                     /* for the op that is being checked */
    PyObject *next_called;            /* for this op; NULL: unchanged */
    int next_unit;
    PyObject *turn;           /* the innermost OpenTurn, or None */
    int own_first, own_count; /* the variables of its loop; 0: Python begins the next iteration */
    int stepped_after;        /* from this order on, a `while` has changed its counter; -1: none */
    int goes_on;              /* whether the next iteration can begin here, not in Python */
    long long name, key;      /* of the loop */
    PyObject *shown;          /* a tuple: variables whose values may be shown */
    long long number;         /* of the iteration */
    long long start, step;    /* of the loop's counter; step 0: the loop has no counter */
} Call;

struct LastScope {
    PyObject_HEAD AddressTable *codes;
    Tape *scopes, *turns; /* TurnTracker's tapes, counter and list */
    Counter *next_scope;
    PyObject *values;
    PyObject *mark_type, *serial;
    Call calls[MOST_CALLS];         /* outermost first */
    int count;                      /* 0: no result is kept */
    Call suspended[MOST_SUSPENDED]; /* calls that do not run now, but may continue */
    int suspended_count;
    uint64_t version; /* changes when calls are removed and when an iteration begins */
};

/* A running call of a user's function, and the frame that it called, or NULL. */
typedef struct {
    PyObject *frame, *called;
    int64_t watched; /* from the table of codes */
} Running;

static PyGetSetDef *f_trace_getter; /* NULL: it is read by its name */
static PyObject *f_trace, *order_name, *scope_name, *number_name, *seen_name, *tracker_name;

/* A frame's f_trace, None if it has none; borrowed, because the frame has a reference. */
static PyObject *trace_of(PyObject *frame) {
    PyObject *found = f_trace_getter != NULL ? f_trace_getter->get(frame, f_trace_getter->closure)
                                             : PyObject_GetAttr(frame, f_trace);
    Py_XDECREF(found);
    return found;
}

static int order_of(const Call *call, int unit) {
    return ((const int *)call->units.buf)[3 * unit + 1];
}

/* Set an attribute that is a slot, which runs no Python code. */
static int set_integer(PyObject *object, PyObject *name, long long value) {
    PyObject *number = PyLong_FromLongLong(value);
    const int failed = number == NULL || PyObject_SetAttr(object, name, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

/* Forget a call. Its open iteration gets the order of the call's last op. */
static void forget_call(Call *call) {
    if (call->turn != Py_None &&
        set_integer(call->turn, order_name, order_of(call, call->unit)) < 0) {
        PyErr_Clear();
    }
    Py_CLEAR(call->identities);
    Py_CLEAR(call->called);
    Py_CLEAR(call->next_called);
    Py_CLEAR(call->mark);
    Py_CLEAR(call->turn);
    Py_CLEAR(call->shown);
    PyBuffer_Release(&call->units);
    Py_CLEAR(call->names);
}

/* Remove and return a suspended call. */
static Call take_suspended(LastScope *last, int at) {
    const Call call = last->suspended[at];
    last->suspended_count--;
    memmove(&last->suspended[at], &last->suspended[at + 1],
            (size_t)(last->suspended_count - at) * sizeof call);
    return call;
}

/* Forget the running calls, and of the suspended ones those with this mark, or all if it is NULL.
 */
static void forget_calls(LastScope *last, const PyObject *mark) {
    last->version++;
    while (last->count > 0) {
        forget_call(&last->calls[--last->count]);
    }
    for (int at = last->suspended_count; at-- > 0;) {
        if (mark == NULL || last->suspended[at].mark == mark) {
            Call call = take_suspended(last, at);
            forget_call(&call);
        }
    }
}

/* Keep the outermost calls. Of the others, set those aside that may continue later. */
static void leave_calls(LastScope *last, int kept) {
    last->version += last->count > kept;
    while (last->count > kept) {
        Call *call = &last->calls[--last->count];
        if (!call->is_suspendable) {
            forget_call(call);
            continue;
        }
        if (last->suspended_count == MOST_SUSPENDED) {
            Call oldest = take_suspended(last, 0);
            forget_call(&oldest);
        }
        last->suspended[last->suspended_count++] = *call;
    }
}

static int is_suspendable(PyObject *frame) {
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);
    Py_DECREF(code); /* the frame still has a reference */
    return (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
}

static int is_header(const Call *call, int unit) {
    return ((const int *)call->units.buf)[3 * unit + 2] & IS_HEADER;
}

/* Tell whether an instruction is in the same loop as the call's last op. */
static int is_in_same_loop(const Call *call, int unit) {
    const int *units = call->units.buf;
    const Py_ssize_t count = call->units.len / (Py_ssize_t)(3 * sizeof(int));
    return unit >= 0 && unit < count && units[3 * unit] == units[3 * call->unit];
}

/* Tell whether an instruction is in the body of the same loop as the call's last op. */
static int is_in_same_body(const Call *call, int unit) {
    return is_in_same_loop(call, unit) && is_header(call, unit) == is_header(call, call->unit);
}

/* Tell whether it is in the body of the same loop, and not before the call's last op. */
static int has_moved_on(const Call *call, int unit) {
    return call->units.len == 0 || /* a function without loops */
           (is_in_same_body(call, unit) && order_of(call, unit) >= order_of(call, call->unit));
}

static PyObject *first_item(PyObject *value) {
    if (PyList_CheckExact(value) && PyList_GET_SIZE(value) > 0) {
        return PyList_GET_ITEM(value, 0);
    }
    return PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) > 0 ? PyTuple_GET_ITEM(value, 0)
                                                                    : value;
}

/* Like _is_of() in variables.py. Another object may have this address now. */
static int is_same_object(PyObject *identity, PyObject *value) {
    PyObject *witness = PyTuple_GET_ITEM(identity, 1);
    return witness == Py_None ||
           first_item(value) ==
               (PyWeakref_Check(witness) ? PyWeakref_GET_OBJECT(witness) : witness);
}

/* identity() of variables.py. */
static PyObject *identity_of(PyObject *value) {
    PyObject *item = Py_NewRef(first_item(value)), *witness = item;
    if (!PyLong_CheckExact(item) && !PyFloat_CheckExact(item) && !PyUnicode_CheckExact(item)) {
        witness = PyWeakref_NewRef(item, NULL);
        Py_DECREF(item);
        if (witness == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            witness = Py_NewRef(Py_None);
        }
    }
    return witness == NULL ? NULL : Py_BuildValue("(NN)", PyLong_FromVoidPtr(value), witness);
}

enum { OTHER_VALUES, NEXT_VALUES, SAME_VALUES, BETWEEN };

/* Compare the variables. Returns NEXT_VALUES if only those of the innermost loop have changed. */
static int compared_values(const Call *call, PyObject *frame) {
    int compared = SAME_VALUES;
    for (Py_ssize_t i = 0; compared != OTHER_VALUES && i < PyTuple_GET_SIZE(call->names); i++) {
        PyObject *value = frame_variable(frame, PyTuple_GET_ITEM(call->names, i));
        if (value != call->values[i] ||
            (value != NULL && !is_same_object(PyTuple_GET_ITEM(call->identities, i), value))) {
            const Py_ssize_t own = i - call->own_first;
            compared = own >= 0 && own < call->own_count ? NEXT_VALUES : OTHER_VALUES;
        }
        Py_XDECREF(value); /* the frame still has a reference */
    }
    return compared;
}

/* Return the mark of a called frame as a new reference. */
static PyObject *mark_of(const LastScope *last, PyObject *tracker, PyObject *frame) {
    PyObject *known = trace_of(frame);
    PyObject *mark = known == Py_None ? PyObject_CallFunctionObjArgs(last->mark_type, last->serial,
                                                                     Py_None, NULL)
                                      : NULL;
    known = mark == NULL ? NULL : trace_of(frame);
    if (known == Py_None && PyObject_SetAttr(frame, f_trace, mark) == 0) {
        return mark;
    }
    Py_XDECREF(mark);
    return PyErr_Occurred() ? NULL : PyObject_CallMethod(tracker, "mark_of", "O", frame);
}

/* Tell whether a loop without a variable is in its next iteration: if the code went back, or if it
 * makes a new call from the same place. _told() in turns.py explains the rule. */
static int has_gone_back(const Call *call, PyObject *called, int unit, int64_t around) {
    if (!call->goes_on || call->own_count != 0 || !is_in_same_body(call, unit)) {
        return 0;
    }
    if (order_of(call, unit) != order_of(call, call->unit)) {
        return order_of(call, unit) < order_of(call, call->unit);
    }
    if ((((const int *)call->units.buf)[3 * unit + 2] & IS_REPEATING) || around >= call->scope) {
        return 0;
    }
    return called == NULL || trace_of(called) == Py_None;
}

/* Tell whether a loop without a counter is still in the same iteration, although its variable is
 * the same object. A new call from the same place begins the next iteration. A call from a later
 * place continues the iteration, and is stored. */
static int has_same_called(LastScope *last, Call *call, PyObject *called, int unit,
                           PyObject *tracker) {
    if (call->called == Py_None) {
        return 1;
    }
    if (unit == call->unit) {
        PyObject *mark = called == NULL ? NULL : trace_of(called);
        return mark == call->called;
    }
    if (order_of(call, unit) == order_of(call, call->unit)) {
        return 0;
    }
    const uint64_t version = last->version;
    PyObject *mark = called == NULL
                         ? Py_NewRef(call->names) /* a call that is not Python code has no mark */
                         : mark_of(last, tracker, called);
    if (mark == NULL || last->version != version) {
        Py_XDECREF(mark);
        return 0;
    }
    Py_XSETREF(call->next_called, mark);
    return mark != Py_None;
}

/* Compare a call and its values with the stored ones. Returns OTHER_VALUES for a different loop,
 * and BETWEEN if a generator in the header runs. `around` is the scope around the call. */
static int compared_call(LastScope *last, Call *call, const Running *running, PyObject *tracker,
                         int64_t around) {
    PyObject *called = running->called;
    Py_CLEAR(call->next_called); /* set by an op for which Python had to find the scope */
    const int unit = frame_lasti(running->frame) / 2;
    int compared = compared_values(call, running->frame);
    if (compared != OTHER_VALUES && is_in_same_loop(call, unit) && is_header(call, unit)) {
        call->next_unit = call->unit; /* the body has not moved on */
        return called != NULL && is_suspendable(called) ? BETWEEN : OTHER_VALUES;
    }
    call->next_unit = unit;
    if (compared == SAME_VALUES && has_gone_back(call, called, unit, around)) {
        return NEXT_VALUES;
    }
    if ((compared == NEXT_VALUES && !is_in_same_body(call, unit)) ||
        (compared == SAME_VALUES &&
         !(has_moved_on(call, unit) && has_same_called(last, call, called, unit, tracker)))) {
        compared = OTHER_VALUES;
    }
    return compared;
}

/* Store a call's current instruction. */
static void move_on(Call *call) {
    call->unit = call->next_unit;
    if (call->next_called != NULL) {
        Py_SETREF(call->called, call->next_called);
        call->next_called = NULL;
    }
}

/* Return the number of the iteration with the values `now`; -1 if Python has to find it. */
static long long counted(const Call *call, PyObject *const *now) {
    if (call->step == 0) {
        return call->number + 1;
    }
    int overflow = 1;
    const long long count =
        PyLong_CheckExact(now[0]) ? PyLong_AsLongLongAndOverflow(now[0], &overflow) : 0;
    if (overflow || count > INT64_MAX / 2 || count < INT64_MIN / 2 ||
        (count - call->start) % call->step != 0) {
        return -1;
    }
    const int is_stepped =
        call->stepped_after >= 0 && order_of(call, call->next_unit) >= call->stepped_after;
    const long long number = (count - call->start) / call->step + 1 - is_stepped;
    const int is_same = number == call->number && call->stepped_after >= 0;
    return is_same || (number > call->number && !is_stepped) ? number : -1;
}

/* shown_value() of variables.py. Returns NULL if there is no value, perhaps with an exception. */
static PyObject *shown_value(PyObject *shown, PyObject *frame) {
    const Py_ssize_t count = PyTuple_GET_SIZE(shown);
    PyObject *told = PyTuple_New(count), *only = NULL;
    int is_any = 0;
    for (Py_ssize_t i = 0; told != NULL && i < count; i++) {
        PyObject *value = frame_variable(frame, PyTuple_GET_ITEM(shown, i));
        if (value == NULL || !(PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
                               PyUnicode_CheckExact(value) || PyBool_Check(value))) {
            Py_XSETREF(value, Py_NewRef(Py_None));
        }
        is_any |= value != Py_None;
        PyTuple_SET_ITEM(told, i, value);
    }
    if (is_any && count > 1) {
        return told;
    }
    only = is_any ? Py_NewRef(PyTuple_GET_ITEM(told, 0)) : NULL;
    Py_XDECREF(told);
    return only;
}

/* Write the row of a new scope. Return the scope; UNKNOWN and an exception if it fails. */
static int64_t open_scope(LastScope *last, int kind, int64_t name, int64_t parent,
                          long long thread) {
    int64_t *row = Tape_reserve(last->scopes, SCOPE_CELLS);
    if (row == NULL) {
        return UNKNOWN;
    }
    const int64_t scope = last->next_scope->next++;
    const int64_t cells[SCOPE_CELLS] = {
        [SCOPE_KEY] = scope,     [SCOPE_KIND] = kind,    [SCOPE_NAME] = name,
        [SCOPE_PARENT] = parent, [SCOPE_LAYER] = NO_KEY, [SCOPE_BACKWARD_CALL] = NO_KEY,
        [SCOPE_THREAD] = thread,
    };
    memcpy(row, cells, sizeof cells);
    return scope;
}

/* Write the rows of a new iteration. Return its scope; UNKNOWN and an exception if it fails. */
static int64_t open_turn(LastScope *last, const Call *call, int64_t parent, long long number,
                         PyObject *shown, long long thread) {
    const Py_ssize_t at = shown == NULL ? NO_KEY : PyList_GET_SIZE(last->values);
    if (shown != NULL && PyList_Append(last->values, shown) < 0) {
        return UNKNOWN;
    }
    int64_t *row = Tape_reserve(last->turns, TURN_CELLS);
    const int64_t scope =
        row == NULL ? UNKNOWN : open_scope(last, SCOPE_KIND_TURN, call->name, parent, thread);
    if (scope == UNKNOWN) {
        last->turns->length -= row == NULL ? 0 : TURN_CELLS;
        return UNKNOWN;
    }
    const int64_t cells[TURN_CELLS] = {
        [TURN_SCOPE] = scope, [TURN_LOOP] = call->key, [TURN_NUMBER] = number, [TURN_VALUE] = at};
    memcpy(row, cells, sizeof cells);
    return scope;
}

/* Begin the next iteration of a call's loop, as _enter() in turns.py. Return its scope; UNKNOWN,
 * perhaps with an exception, if Python has to find the scope. */
static int64_t next_turn(LastScope *last, Call *call, PyObject *tracker, const Running *running,
                         int64_t parent, long long thread) {
    PyObject *frame = running->frame, *called = running->called;
    const uint64_t version = last->version;
    const int own_first = call->own_first, own_count = call->own_count;
    if (!call->goes_on) {
        return UNKNOWN;
    }
    PyObject *names = Py_NewRef(call->names), *shown_names = Py_NewRef(call->shown);
    PyObject *before = Py_NewRef(call->identities);
    const int can_call_any = call->called == Py_None;
    /* First make all objects, because that may run other code. */
    PyObject *now[MOST_VARIABLES] = {NULL};
    PyObject *seen = PyList_New(own_count), *identities = PyTuple_New(PyTuple_GET_SIZE(names));
    PyObject *mark = can_call_any || called == NULL ? NULL : mark_of(last, tracker, called);
    PyObject *shown = shown_value(shown_names, frame);
    int is_made = seen != NULL && identities != NULL && !PyErr_Occurred();
    for (Py_ssize_t i = 0; is_made && i < PyTuple_GET_SIZE(names); i++) {
        const Py_ssize_t own = i - own_first;
        PyObject *identity = NULL;
        if (own < 0 || own >= own_count) {
            identity = Py_NewRef(PyTuple_GET_ITEM(before, i));
        } else if ((now[own] = frame_variable(frame, PyTuple_GET_ITEM(names, i))) != NULL &&
                   (identity = identity_of(now[own])) != NULL) {
            PyList_SET_ITEM(seen, own, Py_NewRef(identity));
        }
        is_made = identity != NULL;
        PyTuple_SET_ITEM(identities, i, identity);
    }
    /* From here on no other code runs. */
    int64_t scope = UNKNOWN;
    const long long number = is_made && last->version == version ? counted(call, now) : -1;
    if (number == call->number) { /* a `while` has changed its counter */
        scope = call->scope;
    } else if (number > 0 &&
               (scope = open_turn(last, call, parent, number, shown, thread)) != UNKNOWN &&
               (set_integer(call->turn, scope_name, scope) < 0 ||
                set_integer(call->turn, number_name, number) < 0 ||
                PyObject_SetAttr(call->turn, seen_name, seen) < 0)) {
        scope = UNKNOWN;
    }
    if (scope != UNKNOWN) {
        call->number = number;
        for (int own = 0; own < own_count; own++) {
            call->values[own_first + own] = now[own];
        }
        Py_SETREF(call->identities, Py_NewRef(identities));
        Py_XSETREF(call->next_called, Py_NewRef(can_call_any ? Py_None : mark ? mark : names));
        call->scope = scope;
        move_on(call);
        last->version++;
    }
    for (int own = 0; own < own_count; own++) {
        Py_XDECREF(now[own]);
    }
    Py_XDECREF(shown);
    Py_XDECREF(mark);
    Py_XDECREF(seen);
    Py_XDECREF(identities);
    Py_DECREF(before);
    Py_DECREF(shown_names);
    Py_DECREF(names);
    return scope;
}

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

/* Make `calls` those that are running, and continue suspended ones. */
static void match_calls(LastScope *last, const Running *running, int count) {
    int matched = 0;
    while (matched < last->count && matched < count &&
           trace_of(running[count - 1 - matched].frame) == last->calls[matched].mark) {
        matched++;
    }
    leave_calls(last, matched);
    for (int at = last->suspended_count; last->count < count && at > 0;) {
        if (last->suspended[--at].mark == trace_of(running[count - 1 - last->count].frame)) {
            last->calls[last->count++] = take_suspended(last, at);
            at = last->suspended_count;
        }
    }
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
