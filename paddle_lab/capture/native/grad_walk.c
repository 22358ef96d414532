/* The walk over a backward graph: capture/grad_walk.py, natively. */
#include "native.h"
#include <string.h>

#define NODE_CELLS 4
#define EDGE_CELLS 5
#define ROOT_CELLS 2
#define MANY_SOURCES 16

static const char *LEAF = "GradNodeAccumulation";
static PyObject *next_functions, *name_method;
static PyObject *name_keys; /* what OP_NAMES of capture/op_names.py has told, for good */

/* A grad node, held; its name once it was asked for. */
typedef struct {
    PyObject *node;
    PyObject *name;
    int64_t address;
    int64_t op;
    int64_t key;      /* of a node that was reached */
    Py_ssize_t links; /* where its links end; they begin where those of the one before do */
    int is_fresh;
} Node;

typedef struct {
    Node *nodes;
    Py_ssize_t length;
    Py_ssize_t capacity;
} Nodes;

typedef struct {
    int64_t slot;
    int64_t target;
    int64_t tensor;
} Link;

typedef struct {
    Link *links;
    Py_ssize_t length;
    Py_ssize_t capacity;
} Links;

/* Attributes of the GradNodePool, and what the walk has found. */
typedef struct {
    Lineage *lineage;
    AddressTable *keys;
    Tape *rows, *edges, *roots;
    Counter *next_key, *next_edge;
    PyObject *held, *leaf_keys, *key_of_name;
    Nodes pending, reached;
    Links links;
    AddressTable positions; /* from an address to the position in what was reached */
    Sources sources;
    AddressTable source_positions;
} Walk;

static Node *more_nodes(Nodes *nodes) {
    if (nodes->length == nodes->capacity) {
        const Py_ssize_t capacity = nodes->capacity ? nodes->capacity * 2 : 256;
        Node *larger = PyMem_Realloc(nodes->nodes, (size_t)capacity * sizeof(Node));
        if (larger == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        nodes->nodes = larger;
        nodes->capacity = capacity;
    }
    return &nodes->nodes[nodes->length++];
}

static Link *more_links(Links *links) {
    if (links->length == links->capacity) {
        const Py_ssize_t capacity = links->capacity ? links->capacity * 2 : 256;
        Link *larger = PyMem_Realloc(links->links, (size_t)capacity * sizeof(Link));
        if (larger == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        links->links = larger;
        links->capacity = capacity;
    }
    return &links->links[links->length++];
}

static void drop_nodes(Nodes *nodes) {
    for (Py_ssize_t i = 0; i < nodes->length; i++) {
        Py_DECREF(nodes->nodes[i].node);
        Py_XDECREF(nodes->nodes[i].name);
    }
    PyMem_Free(nodes->nodes);
}

static PyObject *name_of(Node *node) {
    if (node->name == NULL) {
        node->name = PyObject_CallMethodNoArgs(node->node, name_method);
    }
    return node->name;
}

/* -1 and an exception where it fails. */
static int is_leaf(Node *node) {
    PyObject *name = name_of(node);
    return name == NULL
               ? -1
               : PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, LEAF) == 0;
}

/* The op of a node that is held: 1 if it is, -1 and an exception where that fails. */
static int find_held(Walk *walk, int64_t address, int64_t *op) {
    if (PyDict_GET_SIZE(walk->held) == 0) {
        return 0;
    }
    PyObject *at = PyLong_FromLongLong(address);
    PyObject *known = at == NULL ? NULL : PyDict_GetItemWithError(walk->held, at);
    Py_XDECREF(at);
    if (known == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    *op = PyLong_AsLongLong(PyTuple_GetItem(known, 1));
    return PyErr_Occurred() ? -1 : 1;
}

/* Collect where gradients of an op's inputs go; -1 and an exception where it fails. */
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

/* The last input whose gradient goes to an address, or NULL. */
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

/* Take one node that another hands its gradient to; -1 and an exception where it fails. */
static int take_following(Walk *walk, int64_t op, int64_t slot, PyObject *node) {
    const int64_t target = grad_node_address(node);
    if (target == -1 && PyErr_Occurred()) {
        return -1;
    }
    const Source *source = source_at(walk, target);
    Link *link = more_links(&walk->links);
    if (link == NULL) {
        return -1;
    }
    *link = (Link){slot, target, source == NULL ? NO_KEY : source->tensor};
    if (AddressTable_get(&walk->positions, target, 0) != NO_KEY) {
        return 0;
    }
    Node next = {.node = node, .address = target};
    const int is_held = find_held(walk, target, &next.op);
    if (is_held < 0) {
        return -1;
    }
    if (!is_held && source != NULL) {
        if (Lineage_maker(walk->lineage, source->tensor, &next.op) < 0) {
            return -1;
        }
    } else if (!is_held) {
        const int ends = is_leaf(&next);
        if (ends < 0) {
            return -1;
        }
        next.op = ends ? NO_KEY : op;
    }
    Node *pending = more_nodes(&walk->pending);
    if (pending == NULL) {
        Py_XDECREF(next.name);
        return -1;
    }
    *pending = next;
    Py_INCREF(node);
    return 0;
}

/* Take the last of the pending nodes; -1 and an exception where it fails. */
static int take_node(Walk *walk) {
    const Node node = walk->pending.nodes[--walk->pending.length];
    if (AddressTable_get(&walk->positions, node.address, 0) != NO_KEY) {
        Py_DECREF(node.node);
        Py_XDECREF(node.name);
        return 0;
    }
    const Py_ssize_t position = walk->reached.length;
    Node *reached = more_nodes(&walk->reached);
    if (reached == NULL) {
        Py_DECREF(node.node);
        Py_XDECREF(node.name);
        return -1;
    }
    *reached = node;
    if (AddressTable_set(&walk->positions, node.address, 0, position) < 0 ||
        find_sources(walk, node.op) < 0) {
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
    /* The first slot's goes first. */
    Node *nodes = walk->pending.nodes;
    for (Py_ssize_t low = first, high = walk->pending.length - 1; low < high; low++, high--) {
        const Node swapped = nodes[low];
        nodes[low] = nodes[high];
        nodes[high] = swapped;
    }
    walk->reached.nodes[position].links = walk->links.length;
    return failed ? -1 : 0;
}

/* The key of a name; -1 and an exception where it fails. */
static int64_t name_key(Walk *walk, PyObject *name) {
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

static int note_at(PyObject *dict, int64_t address, PyObject *value) {
    PyObject *at = value == NULL ? NULL : PyLong_FromLongLong(address);
    const int failed = at == NULL || PyDict_SetItem(dict, at, value) < 0;
    Py_XDECREF(at);
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

static PyObject *node_and_op(const Node *node) {
    return Py_BuildValue("(OL)", node->node, (long long)node->op);
}

/* Record a node that is not recorded yet; -1 and an exception where it fails. */
static int record_node(Walk *walk, Node *node) {
    node->key = AddressTable_get(walk->keys, node->address, node->op);
    if (node->key != NO_KEY) {
        return 0;
    }
    PyObject *name = name_of(node);
    const int64_t named = name == NULL ? -1 : name_key(walk, name);
    const int ends = named == -1 ? -1 : is_leaf(node);
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
    row[0] = node->key;
    row[1] = named;
    row[2] = node->address;
    row[3] = node->op;
    if (node->op == NO_KEY && note_at(walk->held, node->address, node_and_op(node)) < 0) {
        return -1;
    }
    return ends ? note_at(walk->leaf_keys, node->address, PyLong_FromLongLong(node->key)) : 0;
}

static int64_t key_at(const Walk *walk, int64_t address) {
    return walk->reached.nodes[AddressTable_get(&walk->positions, address, 0)].key;
}

/* Record nodes, edges and roots; -1 and an exception where it fails. */
static int record_all(Walk *walk, PyObject *roots, int64_t backward_call) {
    for (Py_ssize_t i = 0; i < walk->reached.length; i++) {
        if (record_node(walk, &walk->reached.nodes[i]) < 0) {
            return -1;
        }
    }
    Py_ssize_t link = 0;
    for (Py_ssize_t i = 0; i < walk->reached.length; i++) {
        const Node *node = &walk->reached.nodes[i];
        for (; link < node->links; link++) {
            const Link *one = &walk->links.links[link];
            int64_t *row = node->is_fresh ? Tape_reserve(walk->edges, EDGE_CELLS) : NULL;
            if (row == NULL && node->is_fresh) {
                return -1;
            }
            if (node->is_fresh) {
                row[0] = walk->next_edge->next++;
                row[1] = node->key;
                row[2] = key_at(walk, one->target);
                row[3] = one->slot;
                row[4] = one->tensor;
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
            row[0] = backward_call;
            row[1] = key_at(walk, address);
        }
    }
    AddressTable_clear(&seen);
    return failed ? -1 : 0;
}

static int begin(Walk *walk, PyObject *roots) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(roots); i++) {
        PyObject *node;
        long long op;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(roots, i), "OL", &node, &op)) {
            return -1;
        }
        Node root = {.node = node, .address = grad_node_address(node), .op = op};
        if (PyErr_Occurred() || find_held(walk, root.address, &root.op) < 0) {
            return -1;
        }
        Node *pending = more_nodes(&walk->pending);
        if (pending == NULL) {
            return -1;
        }
        *pending = root;
        Py_INCREF(node);
    }
    return 0;
}

static PyObject *all_reached(const Walk *walk) {
    PyObject *found = PyDict_New();
    for (Py_ssize_t i = 0; found != NULL && i < walk->reached.length; i++) {
        const Node *node = &walk->reached.nodes[i];
        if (note_at(found, node->address, node_and_op(node)) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

static int make_names(void) {
    if (next_functions == NULL) {
        next_functions = PyUnicode_InternFromString("next_functions");
        name_method = PyUnicode_InternFromString("name");
        name_keys = PyDict_New();
    }
    return next_functions == NULL || name_method == NULL || name_keys == NULL
               ? -1
               : grad_address_begin();
}

/* Of type ``type``, or any where that is NULL; NULL and an exception where it fails. */
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
        make_names() < 0) {
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
        (walk.key_of_name = attribute(pool, "key_of_name", NULL)) != NULL) {
        int failed = begin(&walk, roots) < 0;
        while (!failed && walk.pending.length > 0) {
            failed = take_node(&walk) < 0;
        }
        if (!failed && record_all(&walk, roots, backward_call) == 0) {
            found = returns_reached ? all_reached(&walk) : PyDict_New();
        }
    }
    AddressTable_clear(&walk.positions);
    AddressTable_clear(&walk.source_positions);
    PyMem_Free(walk.links.links);
    PyMem_Free(walk.sources.sources);
    drop_nodes(&walk.pending);
    drop_nodes(&walk.reached);
    void *held[] = {walk.lineage,  walk.keys,      walk.rows, walk.edges,     walk.roots,
                    walk.next_key, walk.next_edge, walk.held, walk.leaf_keys, walk.key_of_name};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        Py_XDECREF((PyObject *)held[i]);
    }
    return found;
}
