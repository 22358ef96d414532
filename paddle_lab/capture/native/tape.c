/* A growing list of 64-bit integers, which numpy reads in place. */
#include "native.h"

int64_t *Tape_reserve(Tape *tape, Py_ssize_t count) {
    if (tape->length + count > tape->capacity) {
        Py_ssize_t capacity = tape->capacity ? tape->capacity * 2 : 1024;
        while (capacity < tape->length + count) {
            capacity *= 2;
        }
        int64_t *cells = PyMem_Realloc(tape->cells, (size_t)capacity * sizeof(int64_t));
        if (cells == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        tape->cells = cells;
        tape->capacity = capacity;
    }
    int64_t *start = tape->cells + tape->length;
    tape->length += count;
    return start;
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

static Py_ssize_t length(PyObject *self) { return ((Tape *)self)->length; }

static PyObject *to_list(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Tape *tape = (Tape *)self;
    Py_ssize_t start = 0, end = tape->length;
    if (count > 0) {
        start = PyLong_AsSsize_t(args[0]);
    }
    if (count > 1) {
        end = PyLong_AsSsize_t(args[1]);
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    start = start < 0 ? 0 : start;
    end = end > tape->length ? tape->length : end;
    PyObject *list = PyList_New(end > start ? end - start : 0);
    for (Py_ssize_t i = start; list != NULL && i < end; i++) {
        PyObject *cell = PyLong_FromLongLong(tape->cells[i]);
        if (cell == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i - start, cell);
    }
    return list;
}

static PyObject *new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs)) {
    return type->tp_alloc(type, 0);
}

static void dealloc(PyObject *self) {
    PyMem_Free(((Tape *)self)->cells);
    Py_TYPE(self)->tp_free(self);
}

static PySequenceMethods sequence = {.sq_length = length};
static PyMethodDef methods[] = {
    {"extend", extend, METH_O, "Append integers."},
    {"to_list", (PyCFunction)(void (*)(void))to_list, METH_FASTCALL,
     "Return the cells from one position to, and without, another."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject TapeType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.Tape",
    .tp_basicsize = sizeof(Tape),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_as_sequence = &sequence,
};
