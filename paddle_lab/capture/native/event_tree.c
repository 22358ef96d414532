/* Allocator events and grad nodes out of Paddle's event trees: capture/memory/event_walk.py, read
 * where the C++ objects lie, without making a Python object for each.
 */
#include "event_tree.h"

typedef struct {
    int64_t node;
    int has_name; /* whether its name counts */
} Pending;

static int push_all(Walk *walk, const int64_t *nodes, Py_ssize_t count, int has_names) {
    walk->nodes += count;
    if (walk->nodes > MOST_NODES) {
        return ODD;
    }
    Pending *pending = Growing_add(&walk->stack, count, sizeof(Pending));
    for (Py_ssize_t i = 0; pending != NULL && i < count; i++) {
        pending[i] = (Pending){nodes[i], has_names};
    }
    return pending == NULL ? FAILED : FINE;
}

static int take_tree(Walk *walk, int64_t root, int64_t thread) {
    int went = push_all(walk, &root, 1, 0);
    while (went == FINE && walk->stack.length > 0) {
        const Pending pending = ((Pending *)walk->stack.items)[--walk->stack.length];
        if (!ForeignBlocks_copy(walk->blocks, pending.node, walk->node, walk->node_bytes)) {
            return ODD;
        }
        went = take_events(walk, thread);
        if (went != FINE || walk->layout.children < 0) {
            continue;
        }
        int has_names = 1;
        if (pending.has_name) {
            went = take_run(walk, pending.node, thread, &has_names);
        }
        Py_ssize_t count = 0;
        if (went == FINE) {
            went = copy_pointers(walk, walk->node, walk->layout.children, MOST_NODES, &count);
        }
        if (went == FINE && count > 0) {
            went = push_all(walk, walk->pointers.items, count, has_names);
        }
    }
    return went;
}

static Py_ssize_t greater(Py_ssize_t one, Py_ssize_t other) { return one > other ? one : other; }

/* Make room for copies of what is looked at; -1 and an exception where it fails. */
static int begin(Walk *walk) {
    const Layout *at = &walk->layout;
    walk->node_bytes = greater(greater(at->children, at->events) + 2 * WORD, at->name + TEXT_BYTES);
    walk->node_bytes = greater(walk->node_bytes, greater(at->start_ns, at->end_ns) + WORD);
    walk->event_bytes = greater(at->place + TEXT_BYTES, greater(at->time_ns, at->address) + WORD);
    walk->event_bytes = greater(walk->event_bytes, greater(at->change, at->allocated) + WORD);
    walk->event_bytes = greater(walk->event_bytes, greater(at->kind, at->reserved) + WORD);
    walk->node = PyMem_Malloc((size_t)walk->node_bytes);
    walk->event = PyMem_Malloc((size_t)walk->event_bytes);
    walk->blocks = ForeignBlocks_take();
    if (walk->node == NULL || walk->event == NULL || walk->blocks == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return (walk->places = PyList_New(0)) == NULL || (walk->names = PyList_New(0)) == NULL ? -1 : 0;
}

static PyObject *as_bytes(const Growing *cells) {
    return PyByteArray_FromStringAndSize(cells->items, cells->length * WORD);
}

PyObject *read_event_trees(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *roots;
    Walk walk = {0};
    Layout *at = &walk.layout;
    if (!PyArg_ParseTuple(args, "O!(nnnnnnnnnnnn)p", &PyDict_Type, &roots, &at->children,
                          &at->events, &at->name, &at->start_ns, &at->end_ns, &at->time_ns,
                          &at->address, &at->change, &at->allocated, &at->kind, &at->place,
                          &at->reserved, &walk.has_devices)) {
        return NULL;
    }
    PyObject *found = NULL, *thread, *root;
    Py_ssize_t position = 0;
    int went = begin(&walk) < 0 ? FAILED : FINE;
    while (went == FINE && PyDict_Next(roots, &position, &thread, &root)) {
        const int64_t number = PyLong_AsLongLong(thread);
        went = number == -1 && PyErr_Occurred() ? FAILED
                                                : take_tree(&walk, foreign_address(root), number);
    }
    if (went == ODD) {
        found = Py_NewRef(Py_None);
    } else if (went == FINE) {
        PyObject *events = as_bytes(&walk.events), *runs = as_bytes(&walk.runs);
        found = events == NULL || runs == NULL
                    ? NULL
                    : PyTuple_Pack(4, events, walk.places, walk.names, runs);
        Py_XDECREF(events);
        Py_XDECREF(runs);
    }
    Growing_drop(&walk.events);
    Growing_drop(&walk.runs);
    Growing_drop(&walk.pointers);
    Growing_drop(&walk.stack);
    PyMem_Free(walk.node);
    PyMem_Free(walk.event);
    ForeignBlocks_give_back(walk.blocks);
    Py_XDECREF(walk.places);
    Py_XDECREF(walk.names);
    return found;
}
