/* The address of a tensor's grad node: capture/grad_fn.py in C. */
#include "../native.h"
#include <string.h>

static PyObject *node_ptr_name;
/* Whether each read of tensor.grad_fn leaks a reference. GRAD_FN in Python has tested this. */
static int is_leaking;
/* Where a tensor's memory has the address of its grad node: GradFnReader.places. */
static Py_ssize_t meta_at, node_at;

int grad_address_begin(void) {
    if (node_ptr_name == NULL && (node_ptr_name = PyUnicode_InternFromString("node_ptr")) == NULL) {
        return -1;
    }
    PyObject *module = PyImport_ImportModule("paddle_lab.capture.grad_fn");
    PyObject *reader = module == NULL ? NULL : PyObject_GetAttrString(module, "GRAD_FN");
    PyObject *leaks = reader == NULL ? NULL : PyObject_GetAttrString(reader, "is_leaking");
    is_leaking = leaks == Py_True;
    PyObject *places = leaks == NULL ? NULL : PyObject_GetAttrString(reader, "places");
    const int failed = places == NULL || !PyArg_ParseTuple(places, "nn", &meta_at, &node_at);
    Py_XDECREF(module);
    Py_XDECREF(reader);
    Py_XDECREF(leaks);
    Py_XDECREF(places);
    return failed ? -1 : 0;
}

int64_t grad_node_address(PyObject *node) {
    return taken_integer(PyObject_CallMethodNoArgs(node, node_ptr_name));
}

/* The address in the tensor's memory; 0: none. Paddle would make an object for each node. */
static int64_t stored_address(PyObject *tensor) {
    const char *meta;
    int64_t address = 0;
    memcpy(&meta, (const char *)tensor + meta_at, sizeof meta);
    if (meta != NULL) {
        memcpy(&address, meta + node_at, sizeof address);
    }
    return address;
}

int64_t tensor_grad_address(PyObject *tensor) {
    if (meta_at != 0) {
        return stored_address(tensor);
    }
    PyObject *node = tensor_grad_fn(tensor);
    if (node == NULL || node == Py_None) {
        Py_XDECREF(node);
        return node == NULL ? -1 : 0;
    }
    const int64_t address = grad_node_address(node);
    if (is_leaking) {
        Py_DECREF(node);
    }
    Py_DECREF(node);
    return address;
}
