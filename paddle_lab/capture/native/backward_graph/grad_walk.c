/* The walk over a backward graph: capture/backward_graph/grad_walk.py in C. */
#include "grad_walk.h"

static void drop_nodes(Growing *nodes) {
    const Node *all = nodes->items;
    for (Py_ssize_t i = 0; i < nodes->length; i++) {
        Py_DECREF(all[i].node);
        Py_XDECREF(all[i].name);
    }
    Growing_drop(nodes);
}

static PyObject *all_reached(const Walk *walk) {
    PyObject *found = PyDict_New();
    const Node *reached = walk->reached.items;
    for (Py_ssize_t i = 0; found != NULL && i < walk->reached.length; i++) {
        const Node *node = &reached[i];
        if (note_at(found, node->address, Node_with_op(node)) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

/* Return an attribute of type ``type`` (NULL: any type); NULL and an exception if it fails. */
static void *attribute(PyObject *pool, const char *name, PyTypeObject *type) {
    PyObject *found = PyObject_GetAttrString(pool, name);
    if (found != NULL && type != NULL && !PyObject_TypeCheck(found, type)) {
        PyErr_Format(PyExc_TypeError, "%s is no %s", name, type->tp_name);
        Py_CLEAR(found);
    }
    return found;
}

PyObject *walk_grad_nodes(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords) {
    static char *names[] = {"pool", "roots", "backward_call", "returns_reached", NULL};
    PyObject *pool, *roots;
    long long backward_call;
    int returns_reached;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO!L$p", names, &pool, &PyList_Type, &roots,
                                     &backward_call, &returns_reached) ||
        grad_node_begin() < 0) {
        return NULL;
    }
    Walk walk = {0};
    PyObject *found = NULL;
    if ((walk.lineage = attribute(pool, "lineage", &LineageType)) != NULL &&
        (walk.keys = attribute(pool, "keys", &AddressTableType)) != NULL &&
        (walk.rows = attribute(pool, "rows", &TapeType)) != NULL &&
        (walk.edges = attribute(pool, "edges", &TapeType)) != NULL &&
        (walk.roots = attribute(pool, "roots", &TapeType)) != NULL &&
        (walk.next_key = attribute(pool, "next_key", &CounterType)) != NULL &&
        (walk.next_edge = attribute(pool, "next_edge", &CounterType)) != NULL &&
        (walk.held = attribute(pool, "held", &PyDict_Type)) != NULL &&
        (walk.leaf_keys = attribute(pool, "leaf_keys", &PyDict_Type)) != NULL &&
        (walk.leaf_addresses = attribute(pool, "leaf_addresses", &PyDict_Type)) != NULL &&
        (walk.key_of_name = attribute(pool, "key_of_name", NULL)) != NULL) {
        int failed = Walk_begin(&walk, roots) < 0;
        while (!failed && walk.pending.length > 0) {
            failed = Walk_take_node(&walk) < 0;
        }
        if (!failed && Walk_record(&walk, roots, backward_call) == 0) {
            found = returns_reached ? all_reached(&walk) : PyDict_New();
        }
    }
    AddressTable_clear(&walk.positions);
    AddressTable_clear(&walk.source_positions);
    Growing_drop(&walk.links);
    PyMem_Free(walk.sources.sources);
    drop_nodes(&walk.pending);
    drop_nodes(&walk.reached);
    void *held[] = {walk.lineage,   walk.keys,           walk.rows,       walk.edges,
                    walk.roots,     walk.next_key,       walk.next_edge,  walk.held,
                    walk.leaf_keys, walk.leaf_addresses, walk.key_of_name};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        Py_XDECREF((PyObject *)held[i]);
    }
    return found;
}
