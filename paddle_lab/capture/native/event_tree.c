/* Allocator events and grad nodes out of Paddle's event tree: capture/memory/event_walk.py, read
 * where the C++ objects lie, without making a Python object for each.
 *
 * Where they keep what they tell has been learned: capture/memory/event_layout.py. They live as
 * long as the profiler's result, which the caller holds.
 */
#include "native.h"
#include <string.h>

#define EVENT_CELLS 9 /* COLUMNS of capture/memory/event_columns.py */
#define RUN_CELLS 3   /* start, end, thread */

/* Bytes from where an object begins; -1 where that is not known. */
typedef struct {
    Py_ssize_t children, events; /* vectors of pointers */
    Py_ssize_t name, start_ns, end_ns;
    Py_ssize_t time_ns, address, change, allocated, kind, place, reserved;
} Layout;

typedef struct {
    int64_t *cells;
    Py_ssize_t length;
    Py_ssize_t capacity;
} Cells;

typedef struct {
    const char *node;
    int has_name;
} Pending;

typedef struct {
    Pending *nodes;
    Py_ssize_t length;
    Py_ssize_t capacity;
} Stack;

typedef struct {
    Layout layout;
    int has_devices;
    Cells events;
    Cells runs;
    Stack stack;
    PyObject *places; /* a list of what places are called */
    PyObject *names;  /* a list: of each run */
    int is_lost;      /* something was met whose place in memory is not known */
} Walk;

static const char *GRAD_NODE = "Global_", *OWN_PART = "Local_";

static int64_t word_at(const char *object, Py_ssize_t offset) {
    int64_t word;
    memcpy(&word, object + offset, sizeof word);
    return word;
}

/* A std::string: where its characters are, and how many. */
static const char *text_at(const char *object, Py_ssize_t offset, Py_ssize_t *size) {
    *size = (Py_ssize_t)word_at(object, offset + (Py_ssize_t)sizeof(int64_t));
    return (const char *)(intptr_t)word_at(object, offset);
}

/* A std::vector of pointers: where they are, and how many. */
static const char *pointers_at(const char *object, Py_ssize_t offset, Py_ssize_t *count) {
    const int64_t begin = word_at(object, offset);
    const int64_t end = word_at(object, offset + (Py_ssize_t)sizeof(int64_t));
    *count = (Py_ssize_t)((end - begin) / (int64_t)sizeof(int64_t));
    return (const char *)(intptr_t)begin;
}

static const char *pointer_in(const char *pointers, Py_ssize_t position) {
    return (const char *)(intptr_t)word_at(pointers, position * (Py_ssize_t)sizeof(int64_t));
}

static int64_t *more_cells(Cells *cells, Py_ssize_t count) {
    if (cells->length + count > cells->capacity) {
        const Py_ssize_t capacity = (cells->length + count) * 2;
        int64_t *larger = PyMem_Realloc(cells->cells, (size_t)capacity * sizeof(int64_t));
        if (larger == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        cells->cells = larger;
        cells->capacity = capacity;
    }
    int64_t *at = cells->cells + cells->length;
    cells->length += count;
    return at;
}

static int push(Stack *stack, const char *node, int has_name) {
    if (stack->length == stack->capacity) {
        const Py_ssize_t capacity = stack->capacity ? stack->capacity * 2 : 256;
        Pending *larger = PyMem_Realloc(stack->nodes, (size_t)capacity * sizeof(Pending));
        if (larger == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        stack->nodes = larger;
        stack->capacity = capacity;
    }
    stack->nodes[stack->length++] = (Pending){node, has_name};
    return 0;
}

/* The number of a place; -1 and an exception where it fails. */
static Py_ssize_t place_number(Walk *walk, const char *text, Py_ssize_t size) {
    const Py_ssize_t known = PyList_GET_SIZE(walk->places);
    for (Py_ssize_t number = 0; number < known; number++) {
        Py_ssize_t its_size;
        const char *its = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(walk->places, number), &its_size);
        if (its == NULL) {
            return -1;
        }
        if (its_size == size && memcmp(its, text, (size_t)size) == 0) {
            return number;
        }
    }
    PyObject *name = PyUnicode_DecodeUTF8(text, size, NULL);
    const int failed = name == NULL || PyList_Append(walk->places, name) < 0;
    Py_XDECREF(name);
    return failed ? -1 : known;
}

/* -1 and an exception where it fails. */
static int take_events(Walk *walk, const char *node, int64_t thread) {
    static const char *host = "Place(cpu)";
    const Layout *layout = &walk->layout;
    Py_ssize_t count;
    const char *events = pointers_at(node, layout->events, &count);
    int64_t *row = count == 0 ? NULL : more_cells(&walk->events, count * EVENT_CELLS);
    if (count != 0 && row == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++, row += EVENT_CELLS) {
        const char *event = pointer_in(events, i);
        const int64_t change = word_at(event, layout->change);
        Py_ssize_t size = (Py_ssize_t)strlen(host), number;
        const char *place = host;
        if (walk->has_devices) {
            place = text_at(event, layout->place, &size);
        }
        if ((number = place_number(walk, place, size)) < 0) {
            return -1;
        }
        row[0] = word_at(event, layout->time_ns);
        row[1] = change > 0 ? 0 : 1;
        row[2] = word_at(event, layout->address);
        row[3] = change < 0 ? -change : change;
        row[4] = word_at(event, layout->allocated);
        row[5] = 0;
        row[6] = number;
        row[7] = thread;
        row[8] = 0;
        if (size != (Py_ssize_t)strlen(host) || memcmp(place, host, (size_t)size) != 0) {
            if (layout->kind < 0 || layout->reserved < 0) {
                walk->is_lost = 1;
                return 0;
            }
            int32_t kind;
            memcpy(&kind, event + layout->kind, sizeof kind);
            row[1] = kind;
            row[5] = word_at(event, layout->reserved);
        }
    }
    return 0;
}

/* Take a node whose name counts; returns whether those of its children do, -1 where it fails. */
static int take_run(Walk *walk, const char *node, int64_t thread) {
    const Layout *layout = &walk->layout;
    const Py_ssize_t prefix = (Py_ssize_t)strlen(GRAD_NODE);
    Py_ssize_t size;
    const char *name = text_at(node, layout->name, &size);
    if (size >= prefix && memcmp(name, GRAD_NODE, (size_t)prefix) == 0) {
        PyObject *text = PyUnicode_DecodeUTF8(name + prefix, size - prefix, NULL);
        const int failed = text == NULL || PyList_Append(walk->names, text) < 0;
        Py_XDECREF(text);
        int64_t *row = failed ? NULL : more_cells(&walk->runs, RUN_CELLS);
        if (row == NULL) {
            return -1;
        }
        row[0] = word_at(node, layout->start_ns);
        row[1] = word_at(node, layout->end_ns);
        row[2] = thread;
        name += prefix;
        size -= prefix;
    }
    /* What stands in a grad node's own part are kernels. */
    const Py_ssize_t own = (Py_ssize_t)strlen(OWN_PART);
    return size < own || memcmp(name, OWN_PART, (size_t)own) != 0;
}

/* -1 and an exception where it fails. */
static int take_tree(Walk *walk, const char *root, int64_t thread) {
    const Layout *layout = &walk->layout;
    if (push(&walk->stack, root, 0) < 0) {
        return -1;
    }
    while (walk->stack.length > 0 && !walk->is_lost) {
        const Pending pending = walk->stack.nodes[--walk->stack.length];
        if (take_events(walk, pending.node, thread) < 0) {
            return -1;
        }
        if (layout->children < 0) {
            continue;
        }
        const int has_names = pending.has_name ? take_run(walk, pending.node, thread) : 1;
        Py_ssize_t count;
        const char *children = pointers_at(pending.node, layout->children, &count);
        for (Py_ssize_t i = 0; has_names >= 0 && i < count; i++) {
            if (push(&walk->stack, pointer_in(children, i), has_names) < 0) {
                return -1;
            }
        }
        if (has_names < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *as_bytes(const Cells *cells) {
    return PyByteArray_FromStringAndSize((const char *)cells->cells,
                                         cells->length * (Py_ssize_t)sizeof(int64_t));
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
    walk.places = PyList_New(0);
    walk.names = walk.places == NULL ? NULL : PyList_New(0);
    PyObject *found = NULL, *thread, *root;
    Py_ssize_t position = 0;
    int failed = walk.names == NULL;
    while (!failed && !walk.is_lost && PyDict_Next(roots, &position, &thread, &root)) {
        const int64_t number = PyLong_AsLongLong(thread);
        const char *node = (const char *)(intptr_t)foreign_address(root);
        failed = (number == -1 && PyErr_Occurred()) ||
                 (node != NULL && take_tree(&walk, node, number) < 0);
    }
    if (walk.is_lost) {
        found = Py_NewRef(Py_None);
    } else if (!failed) {
        PyObject *events = as_bytes(&walk.events), *runs = as_bytes(&walk.runs);
        found = events == NULL || runs == NULL
                    ? NULL
                    : PyTuple_Pack(4, events, walk.places, walk.names, runs);
        Py_XDECREF(events);
        Py_XDECREF(runs);
    }
    PyMem_Free(walk.events.cells);
    PyMem_Free(walk.runs.cells);
    PyMem_Free(walk.stack.nodes);
    Py_XDECREF(walk.places);
    Py_XDECREF(walk.names);
    return found;
}
