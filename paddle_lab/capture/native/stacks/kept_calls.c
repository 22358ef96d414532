/* The calls whose scopes are kept: their marks, and those of suspended generators. */
#include "last_scope.h"
#include <string.h>

PyGetSetDef *f_trace_getter;
PyObject *f_trace, *order_name, *scope_name, *number_name, *seen_name, *tracker_name;

/* A frame's f_trace, None if it has none; borrowed, because the frame has a reference. */
PyObject *trace_of(PyObject *frame) {
    PyObject *found = f_trace_getter != NULL ? f_trace_getter->get(frame, f_trace_getter->closure)
                                             : PyObject_GetAttr(frame, f_trace);
    Py_XDECREF(found);
    return found;
}

/* Set an attribute that is a slot, which runs no Python code. */
int set_integer(PyObject *object, PyObject *name, long long value) {
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
void forget_calls(LastScope *last, const PyObject *mark) {
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

int is_suspendable(PyObject *frame) {
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);
    Py_DECREF(code); /* the frame still has a reference */
    return (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0;
}

/* Return the mark of a called frame as a new reference. */
PyObject *mark_of(const LastScope *last, PyObject *tracker, PyObject *frame) {
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

/* Make `calls` those that are running, and continue suspended ones. */
void match_calls(LastScope *last, const Running *running, int count) {
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
