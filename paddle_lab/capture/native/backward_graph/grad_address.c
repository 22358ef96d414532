/* The address of a tensor's grad node: capture/grad_fn.py in C. */
#include "../native.h"

static PyObject *node_ptr_name;
static PyTypeObject *node_type; /* of the last grad node */
static PyObject *node_ptr;      /* the function of this type */
/* Whether each read of tensor.grad_fn leaks a reference. GRAD_FN in Python has tested this. */
static int is_leaking;

int grad_address_begin(void) {
    if (node_ptr_name == NULL && (node_ptr_name = PyUnicode_InternFromString("node_ptr")) == NULL) {
        return -1;
    }
    PyObject *module = PyImport_ImportModule("paddle_lab.capture.grad_fn");
    PyObject *reader = module == NULL ? NULL : PyObject_GetAttrString(module, "GRAD_FN");
    PyObject *leaks = reader == NULL ? NULL : PyObject_GetAttrString(reader, "is_leaking");
    is_leaking = leaks == Py_True;
    Py_XDECREF(module);
    Py_XDECREF(reader);
    Py_XDECREF(leaks);
    return leaks == NULL ? -1 : 0;
}

int64_t grad_node_address(PyObject *node) {
    if (!Py_IS_TYPE(node, node_type)) {
        PyTypeObject *type = Py_TYPE(node);
        PyObject *function = PyObject_GetAttr((PyObject *)type, node_ptr_name);
        if (function == NULL) {
            return -1;
        }
        Py_XSETREF(node_ptr, function);
        Py_XSETREF(node_type, (PyTypeObject *)Py_NewRef(type));
    }
    return taken_integer(PyObject_CallOneArg(node_ptr, node));
}

int64_t tensor_grad_address(PyObject *tensor) {
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
