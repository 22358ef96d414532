/* Where namespaces bind objects: capture/hooks/search.py. */
#include "../native.h"

static int add_bindings(PyObject *found, PyObject *namespace, const AddressTable *wanted) {
    PyObject *name, *value;
    Py_ssize_t position = 0;
    int failed = 0;
    while (!failed && PyDict_Next(namespace, &position, &name, &value)) {
        if (AddressTable_get(wanted, (intptr_t)value, 0) != NO_KEY) {
            Py_INCREF(name); /* a new tuple may run finalizers, which may delete the name */
            PyObject *binding = PyTuple_Pack(3, namespace, name, value);
            failed = binding == NULL || PyList_Append(found, binding) < 0;
            Py_DECREF(name);
            Py_XDECREF(binding);
        }
    }
    return failed;
}

PyObject *find_bindings(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *spaces, *objects, *found = PyList_New(0);
    AddressTable wanted = {0};
    int failed = found == NULL ||
                 !PyArg_ParseTuple(args, "O!O!", &PyList_Type, &spaces, &PyList_Type, &objects);
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(objects); i++) {
        failed = AddressTable_set(&wanted, (intptr_t)PyList_GET_ITEM(objects, i), 0, 1) < 0;
    }
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(spaces); i++) {
        failed = add_bindings(found, PyList_GET_ITEM(spaces, i), &wanted);
    }
    AddressTable_clear(&wanted);
    if (failed) {
        Py_CLEAR(found);
    }
    return found;
}
