/* Records the rows of a walk over a backward graph: nodes, edges, roots. */
#include "grad_walk.h"

/* Record a node that is not recorded yet; -1 and an exception if it fails. */
static int record_node(Walk *walk, Node *node) {
    node->key = AddressTable_get(walk->keys, node->address, node->op);
    if (node->key != NO_KEY) {
        return 0;
    }
    PyObject *name = Node_name(node);
    const int64_t named = name == NULL ? -1 : name_key(walk, name);
    const int ends = named == -1 ? -1 : Node_is_leaf(node);
    if (ends < 0) {
        return -1;
    }
    node->key = walk->next_key->next++;
    node->is_fresh = 1;
    int64_t *row = AddressTable_set(walk->keys, node->address, node->op, node->key) < 0
                       ? NULL
                       : Tape_reserve(walk->rows, NODE_CELLS);
    if (row == NULL) {
        return -1;
    }
    row[NODE_KEY] = node->key;
    row[NODE_NAME] = named;
    row[NODE_ADDRESS] = node->address;
    row[NODE_OP] = node->op;
    if (node->op == NO_KEY && note_at(walk->held, node->address, Node_with_op(node)) < 0) {
        return -1;
    }
    if (!ends) {
        return 0;
    }
    PyObject *address = PyLong_FromLongLong(node->address);
    const int failed =
        address == NULL || PyDict_SetItem(walk->leaf_addresses, node->node, address) < 0;
    Py_XDECREF(address);
    return failed ? -1 : note_at(walk->leaf_keys, node->address, PyLong_FromLongLong(node->key));
}

static int64_t key_at(const Walk *walk, int64_t address) {
    const Node *reached = walk->reached.items;
    return reached[AddressTable_get(&walk->positions, address, 0)].key;
}

/* Record nodes, edges and roots; -1 and an exception if it fails. */
int Walk_record(Walk *walk, PyObject *roots, int64_t backward_call) {
    Node *reached = walk->reached.items;
    const Link *links = walk->links.items;
    for (Py_ssize_t i = 0; i < walk->reached.length; i++) {
        if (record_node(walk, &reached[i]) < 0) {
            return -1;
        }
    }
    Py_ssize_t link = 0;
    for (Py_ssize_t i = 0; i < walk->reached.length; i++) {
        const Node *node = &reached[i];
        for (; link < node->links; link++) {
            const Link *one = &links[link];
            int64_t *row = node->is_fresh ? Tape_reserve(walk->edges, EDGE_CELLS) : NULL;
            if (row == NULL && node->is_fresh) {
                return -1;
            }
            if (node->is_fresh) {
                row[EDGE_KEY] = walk->next_edge->next++;
                row[EDGE_SOURCE] = node->key;
                row[EDGE_TARGET] = key_at(walk, one->target);
                row[EDGE_SLOT] = one->slot;
                row[EDGE_TENSOR] = one->tensor;
            }
        }
    }
    AddressTable seen = {0};
    int failed = 0;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(roots); i++) {
        const int64_t address = grad_node_address(PyTuple_GET_ITEM(PyList_GET_ITEM(roots, i), 0));
        failed = PyErr_Occurred() != NULL;
        if (failed || AddressTable_get(&seen, address, 0) != NO_KEY) {
            continue;
        }
        int64_t *row = AddressTable_set(&seen, address, 0, 1) < 0
                           ? NULL
                           : Tape_reserve(walk->roots, ROOT_CELLS);
        failed = row == NULL;
        if (!failed) {
            row[ROOT_BACKWARD_CALL] = backward_call;
            row[ROOT_GRAD_NODE] = key_at(walk, address);
        }
    }
    AddressTable_clear(&seen);
    return failed ? -1 : 0;
}
