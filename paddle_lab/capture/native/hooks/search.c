/* Where namespaces bind objects: capture/hooks/search.py. */
#include "../native.h"

/* A set of addresses: a table with open addressing, at most a quarter full. */
typedef struct {
    uintptr_t *slots; /* 0: free */
    size_t mask;
} Addresses;

static uintptr_t *slot_of(const Addresses *set, const void *object) {
    uintptr_t address = (uintptr_t)object;
    size_t slot = (size_t)((address >> 4) * 0x9e3779b97f4a7c15u >> 32) & set->mask;
    while (set->slots[slot] != 0 && set->slots[slot] != address) {
        slot = (slot + 1) & set->mask;
    }
    return set->slots + slot;
}

static int add_bindings(PyObject *found, PyObject *namespace, const Addresses *wanted) {
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(namespace, &position, &name, &value)) {
        if (*slot_of(wanted, value) == 0) {
            continue;
        }
        PyObject *binding = PyTuple_Pack(3, namespace, name, value);
        int failed = binding == NULL || PyList_Append(found, binding) < 0;
        Py_XDECREF(binding);
        if (failed) {
            return -1;
        }
    }
    return 0;
}

PyObject *find_bindings(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 2 || !PyList_Check(args[0]) || !PyList_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "bindings() takes a list of dicts and one of objects");
        return NULL;
    }
    size_t capacity = 16;
    while (capacity < (size_t)PyList_GET_SIZE(args[1]) * 4) {
        capacity *= 2;
    }
    Addresses wanted = {PyMem_Calloc(capacity, sizeof(uintptr_t)), capacity - 1};
    if (wanted.slots == NULL) {
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[1]); i++) {
        PyObject *object = PyList_GET_ITEM(args[1], i);
        *slot_of(&wanted, object) = (uintptr_t)object;
    }
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *namespace = PyList_GET_ITEM(args[0], i);
        if (PyDict_Check(namespace) && add_bindings(found, namespace, &wanted) < 0) {
            Py_CLEAR(found);
        }
    }
    PyMem_Free(wanted.slots);
    return found;
}
