/* The flight record: a ring of the newest ops, in a file that is mapped into memory. So the record
 * remains if the process dies. capture/flight/flight_record.py opens the file and describes the
 * numbers in the rows. */
#include "../growing.h"
#include "../native.h"
#include <string.h>

static Py_buffer file; /* obj is NULL while nothing is recorded */
static PyObject *describe;
static FlightRow *rows;
static int64_t capacity;
static int64_t last; /* the number of the newest row; numbers count from 1 */
static struct {
    uint8_t *known;
    Py_ssize_t capacity;
} described[FLIGHT_KINDS];

/* At the first use of a key, call Python to describe the key. -1 if Python was interrupted. */
static int note(int kind, int64_t key, PyObject *frame) {
    if (file.obj == NULL || key < 0 ||
        (key < described[kind].capacity && described[kind].known[key])) {
        return 0;
    }
    const Py_ssize_t before = described[kind].capacity;
    uint8_t *known = grown(described[kind].known, &described[kind].capacity, key + 1, 1);
    if (known == NULL) {
        return -1;
    }
    memset(known + before, 0, (size_t)(described[kind].capacity - before));
    described[kind].known = known;
    known[key] = 1; /* before the call, because Python code may run ops */
    PyObject *function = Py_NewRef(describe);
    PyObject *done = PyObject_CallFunction(function, "iLO", kind, (long long)key, frame);
    Py_DECREF(function);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

int flight_begin(int64_t name, int64_t stack, const ThreadState *state, PyObject *frame,
                 OpTimes *times) {
    const int64_t layer = state->layer, thread = state->number;
    if (file.obj != NULL &&
        (note(FLIGHT_KIND_NAME, name, frame) < 0 || note(FLIGHT_KIND_STACK, stack, frame) < 0 ||
         note(FLIGHT_KIND_LAYER, layer, frame) < 0)) {
        return -1;
    }
    times->start_ns = now_ns();
    if (file.obj != NULL) { /* the Python code may have closed the file */
        times->flight = ++last;
        rows[last % capacity] =
            (FlightRow){last,           times->start_ns, -1, (int32_t)name, (int32_t)stack,
                        (int32_t)layer, (int32_t)thread};
    }
    return 0;
}

void flight_end(int64_t number, int64_t end_ns) {
    if (number > 0 && file.obj != NULL && rows[number % capacity].number == number) {
        rows[number % capacity].duration_ns = end_ns - rows[number % capacity].start_ns;
    }
}

PyObject *flight_forget(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing)) {
    for (int kind = 0; kind < FLIGHT_KINDS; kind++) {
        PyMem_Free(described[kind].known);
        described[kind].known = NULL;
        described[kind].capacity = 0;
    }
    return PyLong_FromLongLong(last);
}

PyObject *flight_open(PyObject *module, PyObject *args) {
    Py_buffer given;
    PyObject *function;
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "w*nO", &given, &start, &function)) {
        return NULL;
    }
    if (file.obj != NULL) {
        PyBuffer_Release(&file);
    }
    file = given;
    Py_XSETREF(describe, Py_NewRef(function));
    rows = (FlightRow *)((char *)given.buf + start);
    capacity = (given.len - start) / (Py_ssize_t)sizeof(FlightRow);
    last = 0;
    return flight_forget(module, NULL);
}

PyObject *flight_close(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing)) {
    if (file.obj != NULL) {
        PyBuffer_Release(&file);
    }
    Py_CLEAR(describe);
    Py_RETURN_NONE;
}

PyObject *flight_enter(PyObject *Py_UNUSED(module), PyObject *args) {
    long long name, stack;
    PyObject *state, *frame;
    OpTimes times = {0};
    if (!PyArg_ParseTuple(args, "LLO!O", &name, &stack, &ThreadCellsType, &state, &frame) ||
        flight_begin(name, stack, (ThreadState *)state, frame, &times) < 0) {
        return NULL;
    }
    return PyLong_FromLongLong(times.flight);
}

PyObject *flight_leave(PyObject *Py_UNUSED(module), PyObject *number) {
    flight_end(PyLong_AsLongLong(number), now_ns());
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}
