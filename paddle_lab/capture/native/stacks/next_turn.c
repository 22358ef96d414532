/* Begins the next iteration of a kept call's loop, and writes the rows of scopes and iterations. */
#include "last_scope.h"
#include <string.h>

/* Store a call's current instruction. */
void move_on(Call *call) {
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
int64_t open_scope(LastScope *last, int kind, int64_t name, int64_t parent, long long thread) {
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
int64_t next_turn(LastScope *last, Call *call, PyObject *tracker, const Running *running,
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
