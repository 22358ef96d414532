/* The walk over a backward graph, from node to node. */
#include "grad_walk.h"

#define MANY_SOURCES 16

static PyObject *next_functions;

/* Look a node up among the nodes that the walk holds. If it is there, set its op, and whether it is
 * a leaf. Returns 1 if it is there, 0 if not, -1 and an exception if it fails. */
static int find_held(Walk *walk, Node *node) {
    if (PyDict_GET_SIZE(walk->held) == 0) {
        return 0;
    }
    PyObject *at = PyLong_FromLongLong(node->address);
    PyObject *known = at == NULL ? NULL : PyDict_GetItemWithError(walk->held, at);
    node->ends = known == NULL ? 0 : PyDict_Contains(walk->leaf_keys, at) == 1;
    Py_XDECREF(at);
    if (known == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    node->op = PyLong_AsLongLong(PyTuple_GetItem(known, 1));
    return PyErr_Occurred() ? -1 : 1;
}

int Walk_begin(Walk *walk, PyObject *roots) {
    if (next_functions == NULL &&
        (next_functions = PyUnicode_InternFromString("next_functions")) == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(roots); i++) {
        PyObject *node;
        long long op;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(roots, i), "OL", &node, &op)) {
            return -1;
        }
        Node root = {.node = node, .address = grad_node_address(node), .op = op};
        if (PyErr_Occurred() || find_held(walk, &root) < 0) {
            return -1;
        }
        Node *pending = Growing_add(&walk->pending, 1, sizeof(Node));
        if (pending == NULL) {
            return -1;
        }
        *pending = root;
        Py_INCREF(node);
    }
    return 0;
}

/* Collect the grad nodes that get the gradients of an op's inputs. Returns -1 and an exception if
 * it fails. */
static int find_sources(Walk *walk, int64_t op) {
    Sources *sources = &walk->sources;
    sources->length = 0;
    AddressTable_clear(&walk->source_positions);
    if (op != NO_KEY && Lineage_sources(walk->lineage, op, sources) < 0) {
        return -1;
    }
    for (Py_ssize_t i = 0; sources->length > MANY_SOURCES && i < sources->length; i++) {
        if (AddressTable_set(&walk->source_positions, sources->sources[i].address, 0, i) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The last input whose gradient goes to the grad node at an address, or NULL. */
static const Source *source_at(const Walk *walk, int64_t address) {
    const Sources *sources = &walk->sources;
    if (sources->length > MANY_SOURCES) {
        const int64_t position = AddressTable_get(&walk->source_positions, address, 0);
        return position == NO_KEY ? NULL : &sources->sources[position];
    }
    for (Py_ssize_t i = sources->length - 1; i >= 0; i--) {
        if (sources->sources[i].address == address) {
            return &sources->sources[i];
        }
    }
    return NULL;
}

/* Add one of a node's next nodes to the walk. Returns -1 and an exception if it fails. */
static int take_following(Walk *walk, int64_t op, int64_t slot, PyObject *node) {
    PyObject *known = PyDict_GetItemWithError(walk->leaf_addresses, node);
    const int64_t target = known != NULL      ? PyLong_AsLongLong(known)
                           : PyErr_Occurred() ? -1
                                              : grad_node_address(node);
    if (target == -1 && PyErr_Occurred()) {
        return -1;
    }
    const Source *source = source_at(walk, target);
    Link *link = Growing_add(&walk->links, 1, sizeof(Link));
    if (link == NULL) {
        return -1;
    }
    *link = (Link){slot, target, source == NULL ? NO_KEY : source->tensor};
    if (AddressTable_get(&walk->positions, target, 0) != NO_KEY) {
        return 0;
    }
    Node next = {.node = node, .address = target, .op = NO_KEY, .ends = known != NULL};
    const int is_held = next.ends ? 1 : find_held(walk, &next);
    if (is_held < 0) {
        return -1;
    }
    if (!is_held && source != NULL) {
        if (Lineage_maker(walk->lineage, source->tensor, &next.op) < 0) {
            return -1;
        }
    } else if (!is_held) {
        const int ends = Node_is_leaf(&next);
        if (ends < 0) {
            return -1;
        }
        next.op = ends ? NO_KEY : op;
    }
    Node *pending = Growing_add(&walk->pending, 1, sizeof(Node));
    if (pending == NULL) {
        Py_XDECREF(next.name);
        return -1;
    }
    *pending = next;
    Py_INCREF(node);
    return 0;
}

/* Take the last pending node and add its next nodes. Returns -1 and an exception if it fails. */
int Walk_take_node(Walk *walk) {
    const Node node = ((Node *)walk->pending.items)[--walk->pending.length];
    if (AddressTable_get(&walk->positions, node.address, 0) != NO_KEY) {
        Py_DECREF(node.node);
        Py_XDECREF(node.name);
        return 0;
    }
    const Py_ssize_t position = walk->reached.length;
    Node *reached = Growing_add(&walk->reached, 1, sizeof(Node));
    if (reached == NULL) {
        Py_DECREF(node.node);
        Py_XDECREF(node.name);
        return -1;
    }
    *reached = node;
    reached->links = walk->links.length;
    if (AddressTable_set(&walk->positions, node.address, 0, position) < 0) {
        return -1;
    }
    if (node.ends) {
        return 0;
    }
    if (find_sources(walk, node.op) < 0) {
        return -1;
    }
    PyObject *following = PyObject_GetAttr(node.node, next_functions);
    PyObject *fast = following == NULL ? NULL : PySequence_Fast(following, "a list of grad nodes");
    Py_XDECREF(following);
    if (fast == NULL) {
        return -1;
    }
    const Py_ssize_t first = walk->pending.length;
    int failed = 0;
    for (Py_ssize_t slot = 0; !failed && slot < PySequence_Fast_GET_SIZE(fast); slot++) {
        PyObject *next = PySequence_Fast_GET_ITEM(fast, slot);
        failed = next != Py_None && take_following(walk, node.op, slot, next) < 0;
    }
    Py_DECREF(fast);
    /* Reverse the new nodes, so that the node of the first slot comes first. */
    Node *nodes = walk->pending.items;
    for (Py_ssize_t low = first, high = walk->pending.length - 1; low < high; low++, high--) {
        const Node swapped = nodes[low];
        nodes[low] = nodes[high];
        nodes[high] = swapped;
    }
    ((Node *)walk->reached.items)[position].links = walk->links.length;
    return failed ? -1 : 0;
}
