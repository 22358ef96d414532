/* A growing list of 64-bit integers. Its first cells can be dropped. */
#include "../growing.h"
#include "../native.h"
#include <string.h>
#include <structmember.h>

int64_t *Tape_reserve(Tape *tape, Py_ssize_t count) {
    int64_t *cells = grown(tape->cells, &tape->capacity, tape->length + count, sizeof(int64_t));
    if (cells == NULL) {
        return NULL;
    }
    tape->cells = cells;
    tape->length += count;
    return cells + tape->length - count;
}

static PyObject *extend(PyObject *self, PyObject *values) {
    Tape *tape = (Tape *)self;
    PyObject *fast = PySequence_Fast(values, "a tape is extended by integers");
    if (fast == NULL) {
        return NULL;
    }
    Py_ssize_t count = PySequence_Fast_GET_SIZE(fast);
    int64_t *cells = NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyLong_Check(PySequence_Fast_GET_ITEM(fast, i))) {
            PyErr_SetString(PyExc_TypeError, "a tape is extended by integers");
            goto end;
        }
    }
    Py_ssize_t before = tape->length;
    cells = Tape_reserve(tape, count);
    for (Py_ssize_t i = 0; cells != NULL && i < count; i++) {
        cells[i] = PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast, i));
        if (cells[i] == -1 && PyErr_Occurred()) {
            tape->length = before;
            cells = NULL;
        }
    }
end:
    Py_DECREF(fast);
    if (cells == NULL) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static Py_ssize_t length(PyObject *self) {
    return (Py_ssize_t)((Tape *)self)->start + ((Tape *)self)->length;
}

/* Read a start and an end position as indexes of cells; 0 if it fails. */
static int take_span(Tape *tape, PyObject *const *args, Py_ssize_t count, Py_ssize_t *first,
                     Py_ssize_t *last) {
    *first = 0, *last = tape->length;
    if (count > 0) {
        *first = PyLong_AsSsize_t(args[0]) - (Py_ssize_t)tape->start;
    }
    if (count > 1 && args[1] != Py_None) {
        *last = PyLong_AsSsize_t(args[1]) - (Py_ssize_t)tape->start;
    }
    if (PyErr_Occurred()) {
        return 0;
    }
    *first = *first < 0 ? 0 : *first;
    *last = *last > tape->length ? tape->length : *last;
    *last = *last < *first ? *first : *last;
    return 1;
}

static PyObject *to_list(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Tape *tape = (Tape *)self;
    Py_ssize_t first, last;
    if (!take_span(tape, args, count, &first, &last)) {
        return NULL;
    }
    PyObject *list = PyList_New(last - first);
    for (Py_ssize_t i = first; list != NULL && i < last; i++) {
        PyObject *cell = PyLong_FromLongLong(tape->cells[i]);
        if (cell == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i - first, cell);
    }
    return list;
}

static PyObject *to_bytes(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Tape *tape = (Tape *)self;
    Py_ssize_t first, last;
    if (!take_span(tape, args, count, &first, &last)) {
        return NULL;
    }
    const char *cells = last > first ? (const char *)(tape->cells + first) : "";
    return PyBytes_FromStringAndSize(cells, (last - first) * (Py_ssize_t)sizeof(int64_t));
}

static PyObject *row_starts(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Tape *tape = (Tape *)self;
    const Py_ssize_t width = count > 0 ? PyLong_AsSsize_t(args[0]) : -1;
    Py_ssize_t first, last;
    if (width < 3) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "a row has three cells");
    }
    if (!take_span(tape, args + 1, count > 1 ? 1 : 0, &first, &last)) {
        return NULL;
    }
    Py_ssize_t rows = 0;
    for (Py_ssize_t at = first; at + width <= last; rows++) {
        at += width + (Py_ssize_t)(tape->cells[at + 1] + tape->cells[at + 2]);
    }
    PyObject *starts = PyBytes_FromStringAndSize(NULL, rows * (Py_ssize_t)sizeof(int64_t));
    if (starts == NULL) {
        return NULL;
    }
    char *start = PyBytes_AS_STRING(starts);
    for (Py_ssize_t at = first; at + width <= last; start += sizeof(int64_t)) {
        const int64_t position = tape->start + at;
        memcpy(start, &position, sizeof position);
        at += width + (Py_ssize_t)(tape->cells[at + 1] + tape->cells[at + 2]);
    }
    return starts;
}

static PyObject *replace(PyObject *self, PyObject *args) {
    Tape *tape = (Tape *)self;
    Py_ssize_t end;
    Py_buffer cells;
    if (!PyArg_ParseTuple(args, "ny*", &end, &cells)) {
        return NULL;
    }
    const Py_ssize_t replaced = end - (Py_ssize_t)tape->start;
    const Py_ssize_t count = cells.len / (Py_ssize_t)sizeof(int64_t);
    if (replaced < 0 || replaced > tape->length || count > replaced) {
        PyBuffer_Release(&cells);
        return PyErr_Format(PyExc_ValueError, "a tape's cells are replaced by as many at most");
    }
    if (count > 0) {
        memcpy(tape->cells, cells.buf, (size_t)count * sizeof(int64_t));
    }
    PyBuffer_Release(&cells);
    if (replaced > count) {
        memmove(tape->cells + count, tape->cells + replaced,
                (size_t)(tape->length - replaced) * sizeof(int64_t));
        tape->length -= replaced - count;
        tape->start += replaced - count;
        Py_ssize_t capacity = tape->length < 1024 ? 1024 : tape->length + tape->length / 2;
        int64_t *less = PyMem_Realloc(tape->cells, (size_t)capacity * sizeof(int64_t));
        if (less != NULL) {
            tape->cells = less;
            tape->capacity = capacity;
        }
    }
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self) {
    PyMem_Free(((Tape *)self)->cells);
    Py_TYPE(self)->tp_free(self);
}

static PySequenceMethods sequence = {.sq_length = length};
static PyMemberDef members[] = {
    {"start", T_LONGLONG, offsetof(Tape, start), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyMethodDef methods[] = {
    {"extend", extend, METH_O, "Append integers."},
    {"to_list", (PyCFunction)(void (*)(void))to_list, METH_FASTCALL,
     "Return the cells from one position to, and without, another."},
    {"to_bytes", (PyCFunction)(void (*)(void))to_bytes, METH_FASTCALL,
     "Return the cells from one position to, and without, another, 8 bytes each."},
    {"row_starts", (PyCFunction)(void (*)(void))row_starts, METH_FASTCALL,
     "Return where rows begin of which the cells 1 and 2 tell how many cells follow the head."},
    {"replace", replace, METH_VARARGS,
     "Let the cells before a position be others, not more of them, 8 bytes each."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject TapeType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.Tape",
    .tp_basicsize = sizeof(Tape),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_members = members,
    .tp_as_sequence = &sequence,
};
