/* An op's inputs and attributes, read before it runs, since it may modify inputs in place. */
#include "../native.h"
#include <string.h>

void Resolved_begin(Resolved *resolved) {
    memset(resolved->versions, UNREAD, sizeof resolved->versions);
    resolved->cells = resolved->few;
    resolved->length = 0;
    resolved->capacity = 2 * FEW_INPUTS;
    resolved->attributes = NULL;
    resolved->has_rare = 0;
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
    if (PySlice_Check(value)) {
        const PySliceObject *slice = (PySliceObject *)value;
        return is_plain(slice->start) && is_plain(slice->stop) && is_plain(slice->step);
    }
    return value == Py_None || value == Py_Ellipsis || PyLong_CheckExact(value) ||
           PyFloat_CheckExact(value) || PyBool_Check(value) || PyUnicode_CheckExact(value) ||
           PyComplex_CheckExact(value);
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

/* Add an argument that is no tensor: the value, or a pair with the name of a keyword. */
static int add_attribute(Resolved *resolved, PyObject *name, PyObject *value) {
    PyObject *attribute = name == NULL ? Py_NewRef(value) : PyTuple_Pack(2, name, value);
    const int failed = attribute == NULL || !Resolved_has_attributes(resolved) ||
                       PyList_Append(resolved->attributes, attribute) < 0;
    Py_XDECREF(attribute);
    return failed ? -1 : 0;
}

/* Make Python resolve other arguments, such as nested lists and tensors of other types. */
static int resolve_rare(Owner *owner, Resolved *resolved, Py_ssize_t slot, PyObject *name,
                        PyObject *argument) {
    resolved->has_rare = 1;
    PyObject *inputs = PyList_New(0), *attributes = PyList_New(0);
    PyObject *done = inputs == NULL || attributes == NULL
                         ? NULL
                         : PyObject_CallMethod(owner->recorder, "resolve", "nOOO", slot, argument,
                                               inputs, attributes);
    int failed = done == NULL || add_list(resolved, inputs) < 0;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(attributes); i++) {
        failed = add_attribute(resolved, name, PyList_GET_ITEM(attributes, i)) < 0;
    }
    Py_XDECREF(done);
    Py_XDECREF(inputs);
    Py_XDECREF(attributes);
    return failed ? -1 : 0;
}

static int resolve_tensor(Owner *owner, Resolved *resolved, Py_ssize_t slot, PyObject *tensor) {
    int64_t version;
    const int64_t key = tensor_row_of(owner, tensor, &version);
    if (slot < FEW_ARGUMENTS) {
        resolved->versions[slot] = version;
    }
    return (key < 0 && PyErr_Occurred()) || add_input(resolved, slot, key) < 0 ? -1 : 0;
}

/* Resolve the items of a list: its tensors, or the whole list if it has none. */
static int resolve_items(Owner *owner, Resolved *resolved, Py_ssize_t slot, PyObject *name,
                         PyObject *items) {
    int has_tensors = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        if (is_known_kind(owner, PyTuple_GET_ITEM(items, i))) {
            has_tensors = 1;
            if (resolve_tensor(owner, resolved, slot, PyTuple_GET_ITEM(items, i)) < 0) {
                return -1;
            }
        }
    }
    return has_tensors ? 0 : add_attribute(resolved, name, items);
}

static int are_simple(const Owner *owner, PyObject *items) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        if (!is_known_kind(owner, PyTuple_GET_ITEM(items, i)) &&
            !is_plain(PyTuple_GET_ITEM(items, i))) {
            return 0;
        }
    }
    return 1;
}

/* Resolve an argument; ``name`` is NULL if it is positional. */
static int resolve(Owner *owner, Resolved *resolved, Py_ssize_t slot, PyObject *name,
                   PyObject *argument) {
    if (is_known_kind(owner, argument)) {
        return resolve_tensor(owner, resolved, slot, argument);
    }
    if (is_plain(argument)) {
        return add_attribute(resolved, name, argument);
    }
    PyObject *items = PyTuple_CheckExact(argument)  ? Py_NewRef(argument)
                      : PyList_CheckExact(argument) ? PyList_AsTuple(argument)
                                                    : NULL;
    const int failed = PyErr_Occurred() ? -1
                       : items != NULL && are_simple(owner, items)
                           ? resolve_items(owner, resolved, slot, name, items)
                           : resolve_rare(owner, resolved, slot, name, argument);
    Py_XDECREF(items);
    return failed;
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

int Resolved_take(Owner *owner, Resolved *resolved, PyObject *const *args, Py_ssize_t count,
                  PyObject *names) {
    const Py_ssize_t all = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    for (Py_ssize_t slot = 0; slot < all; slot++) {
        PyObject *name = slot < count ? NULL : PyTuple_GET_ITEM(names, slot - count);
        if (resolve(owner, resolved, slot, name, args[slot]) < 0) {
            return -1;
        }
    }
    return 0;
}
