/* Functions on one grad node: its name, and dictionaries keyed by its address. */
#include "grad_walk.h"

static const char *LEAF = "GradNodeAccumulation";
static PyObject *name_method;
static PyObject *name_keys; /* keys from OP_NAMES of capture/rows/op_names.py; never cleared */

int grad_node_begin(void) {
    if (name_method == NULL) {
        name_method = PyUnicode_InternFromString("name");
        name_keys = PyDict_New();
    }
    return name_method == NULL || name_keys == NULL ? -1 : grad_address_begin();
}

PyObject *Node_name(Node *node) {
    if (node->name == NULL) {
        node->name = PyObject_CallMethodNoArgs(node->node, name_method);
    }
    return node->name;
}

/* Returns -1 and an exception if it fails. */
int Node_is_leaf(Node *node) {
    PyObject *name = Node_name(node);
    return name == NULL
               ? -1
               : PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, LEAF) == 0;
}

int note_at(PyObject *dict, int64_t address, PyObject *value) {
    PyObject *at = value == NULL ? NULL : PyLong_FromLongLong(address);
    const int failed = at == NULL || PyDict_SetItem(dict, at, value) < 0;
    Py_XDECREF(at);
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

PyObject *Node_with_op(const Node *node) {
    return Py_BuildValue("(OL)", node->node, (long long)node->op);
}

/* The key of a name; -1 and an exception if it fails. */
int64_t name_key(Walk *walk, PyObject *name) {
    PyObject *known = PyDict_GetItemWithError(name_keys, name);
    if (known != NULL) {
        return PyLong_AsLongLong(known);
    }
    PyObject *key = PyErr_Occurred() ? NULL : PyObject_CallOneArg(walk->key_of_name, name);
    if (key != NULL && PyDict_SetItem(name_keys, name, key) < 0) {
        Py_CLEAR(key);
    }
    return taken_integer(key);
}
