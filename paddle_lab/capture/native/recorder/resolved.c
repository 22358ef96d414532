/* An op's inputs and attributes, read before it runs, since it may modify inputs in place. */
#include "../native.h"
#include <string.h>

void Resolved_begin(Resolved *resolved) {
    memset(resolved->versions, UNREAD, sizeof resolved->versions);
    resolved->cells = resolved->few;
    resolved->length = 0;
    resolved->capacity = 2 * FEW_INPUTS;
    resolved->attributes = NULL;
}

static int add_input(Resolved *resolved, int64_t slot, int64_t tensor) {
    if (resolved->length + 2 > resolved->capacity) {
        Py_ssize_t capacity = resolved->capacity * 2;
        int64_t *cells = PyMem_Malloc((size_t)capacity * sizeof(int64_t));
        if (cells == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        memcpy(cells, resolved->cells, (size_t)resolved->length * sizeof(int64_t));
        if (resolved->cells != resolved->few) {
            PyMem_Free(resolved->cells);
        }
        resolved->cells = cells;
        resolved->capacity = capacity;
    }
    resolved->cells[resolved->length++] = slot;
    resolved->cells[resolved->length++] = tensor;
    return 0;
}

void Resolved_drop(Resolved *resolved) {
    if (resolved->cells != resolved->few) {
        PyMem_Free(resolved->cells);
    }
    Py_CLEAR(resolved->attributes);
}

static int is_plain(PyObject *value) {
    return value == Py_None || PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
           PyBool_Check(value) || PyUnicode_CheckExact(value) || PyComplex_CheckExact(value);
}

static int add_list(Resolved *resolved, PyObject *inputs) {
    for (Py_ssize_t i = 0; i + 1 < PyList_GET_SIZE(inputs); i += 2) {
        int64_t slot = PyLong_AsLongLong(PyList_GET_ITEM(inputs, i));
        int64_t tensor = PyLong_AsLongLong(PyList_GET_ITEM(inputs, i + 1));
        if (PyErr_Occurred() || add_input(resolved, slot, tensor) < 0) {
            return -1;
        }
    }
    return 0;
}

int Resolved_has_attributes(Resolved *resolved) {
    if (resolved->attributes == NULL) {
        resolved->attributes = PyList_New(0);
    }
    return resolved->attributes != NULL;
}

/* Make Python resolve other arguments, such as lists of tensors and tensors of other types. */
static int resolve_rare(Owner *owner, Resolved *resolved, Py_ssize_t slot, PyObject *argument) {
    PyObject *inputs = PyList_New(0);
    if (inputs == NULL || !Resolved_has_attributes(resolved)) {
        Py_XDECREF(inputs);
        return -1;
    }
    PyObject *done = PyObject_CallMethod(owner->recorder, "resolve", "nOOO", slot, argument, inputs,
                                         resolved->attributes);
    int failed = done == NULL || add_list(resolved, inputs) < 0;
    Py_XDECREF(done);
    Py_DECREF(inputs);
    return failed ? -1 : 0;
}

PyObject *keyword_dict(PyObject *const *values, PyObject *names) {
    PyObject *keywords = PyDict_New();
    for (Py_ssize_t i = 0; keywords != NULL && names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), values[i]) < 0) {
            Py_CLEAR(keywords);
        }
    }
    return keywords;
}

PyObject *arguments_tuple(PyObject *const *args, Py_ssize_t count) {
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
        PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
    }
    return tuple;
}

static int resolve_with_keywords(Owner *owner, Resolved *resolved, PyObject *const *args,
                                 Py_ssize_t count, PyObject *names) {
    PyObject *tuple = arguments_tuple(args, count);
    PyObject *keywords = tuple == NULL ? NULL : keyword_dict(args + count, names);
    PyObject *pair = keywords == NULL
                         ? NULL
                         : PyObject_CallMethod(owner->recorder, "begin_op", "OO", tuple, keywords);
    PyObject *inputs, *attributes, *call;
    int failed = pair == NULL || !PyArg_ParseTuple(pair, "O!O!O", &PyList_Type, &inputs,
                                                   &PyList_Type, &attributes, &call);
    if (!failed) {
        resolved->attributes = Py_NewRef(attributes);
        failed = add_list(resolved, inputs) < 0;
    }
    Py_XDECREF(tuple);
    Py_XDECREF(keywords);
    Py_XDECREF(pair);
    return failed ? -1 : 0;
}

int Resolved_take(Owner *owner, Resolved *resolved, PyObject *const *args, Py_ssize_t count,
                  PyObject *names) {
    if (names != NULL && PyTuple_GET_SIZE(names) > 0) {
        return resolve_with_keywords(owner, resolved, args, count, names);
    }
    for (Py_ssize_t slot = 0; slot < count; slot++) {
        PyObject *argument = args[slot];
        if (is_known_kind(owner, argument)) {
            int64_t version;
            const int64_t key = tensor_row_of(owner, argument, &version);
            if (slot < FEW_ARGUMENTS) {
                resolved->versions[slot] = version;
            }
            if ((key < 0 && PyErr_Occurred()) || add_input(resolved, slot, key) < 0) {
                return -1;
            }
        } else if (is_plain(argument)) {
            if (!Resolved_has_attributes(resolved) ||
                PyList_Append(resolved->attributes, argument) < 0) {
                return -1;
            }
        } else if (resolve_rare(owner, resolved, slot, argument) < 0) {
            return -1;
        }
    }
    return 0;
}
