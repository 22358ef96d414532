/* Looking for objects where Python would look at each by a call: capture/hooks/search.py. */
#include "native.h"

typedef struct {
    uintptr_t *slots; /* 0: free */
    size_t mask;
} Addresses;

static size_t slot_of(const Addresses *set, uintptr_t address) {
    size_t slot = (size_t)((address >> 4) * 0x9E3779B97F4A7C15u >> 20) & set->mask;
    while (set->slots[slot] != 0 && set->slots[slot] != address) {
        slot = (slot + 1) & set->mask;
    }
    return slot;
}

/* Make a set of the objects of a fast sequence; 0 where there is no memory. */
static int addresses_of(Addresses *set, PyObject *fast) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(fast);
    size_t capacity = 16;
    while (capacity < (size_t)count * 4) {
        capacity *= 2;
    }
    set->slots = PyMem_Calloc(capacity, sizeof(uintptr_t));
    if (set->slots == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    set->mask = capacity - 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        uintptr_t address = (uintptr_t)PySequence_Fast_GET_ITEM(fast, i);
        set->slots[slot_of(set, address)] = address;
    }
    return 1;
}

static int contains(const Addresses *set, const void *object) {
    return set->slots[slot_of(set, (uintptr_t)object)] != 0;
}

/* The dictionary of a module, or of what says that it is one; NULL, with or without an exception,
 * where there is none. */
static PyObject *namespace_of(PyObject *module) {
    if (PyModule_Check(module)) {
        return Py_XNewRef(PyModule_GetDict(module));
    }
    if (PyObject_IsInstance(module, (PyObject *)&PyModule_Type) <= 0) {
        return NULL;
    }
    return PyObject_GetAttrString(module, "__dict__");
}

static int holds_any(PyObject *namespace, const Addresses *wanted) {
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (PyDict_Check(namespace) && PyDict_Next(namespace, &position, &name, &value)) {
        if (contains(wanted, value)) {
            return 1;
        }
    }
    return 0;
}

PyObject *namespaces_with(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 2 || !PyList_Check(args[0]) || !PyList_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "namespaces_with() takes lists of modules and objects");
        return NULL;
    }
    Addresses wanted;
    PyObject *found = PyList_New(0);
    if (found == NULL || !addresses_of(&wanted, args[1])) {
        Py_XDECREF(found);
        return NULL;
    }
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *namespace = namespace_of(PyList_GET_ITEM(args[0], i));
        if (namespace == NULL
                ? PyErr_Occurred() != NULL
                : holds_any(namespace, &wanted) && PyList_Append(found, namespace) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(namespace);
    }
    PyMem_Free(wanted.slots);
    return found;
}

PyObject *instances_among(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 2 || !PyList_Check(args[0]) || !PyList_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "instances_among() takes a list of objects and of types");
        return NULL;
    }
    Addresses types;
    PyObject *found = PyList_New(0);
    if (found == NULL || !addresses_of(&types, args[1])) {
        Py_XDECREF(found);
        return NULL;
    }
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *object = PyList_GET_ITEM(args[0], i);
        if (contains(&types, Py_TYPE(object)) && PyList_Append(found, object) < 0) {
            Py_CLEAR(found);
        }
    }
    PyMem_Free(types.slots);
    return found;
}
