/* Compares the place and the variables of a running call with those that are kept. */
#include "last_scope.h"

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
PyObject *identity_of(PyObject *value) {
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
int compared_call(LastScope *last, Call *call, const Running *running, PyObject *tracker,
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
