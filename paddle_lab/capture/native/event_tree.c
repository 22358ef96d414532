/* Allocator events and grad nodes out of Paddle's event tree: capture/memory/event_walk.py, read
 * where the C++ objects lie, without making a Python object for each.
 *
 * Where they keep what they tell has been learned: capture/memory/event_layout.py. Nothing is
 * trusted for that: memory is copied by the system, which says where there is none, and whatever
 * cannot be right ends the walk.
 */
#include "native.h"
#include <string.h>

#define EVENT_CELLS 9 /* COLUMNS of capture/memory/event_columns.py */
#define RUN_CELLS 3   /* start, end, thread */
#define WORD ((Py_ssize_t)sizeof(int64_t))
#define TEXT_BYTES 32 /* of a std::string, with the characters of a short one */
/* More than there are: an odd guess ends here. */
#define MOST_NODES (1 << 24)
#define MOST_EVENTS (1 << 27)
#define LONGEST_NAME 1024

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
    int64_t node;
    int has_name; /* whether its name counts */
} Pending;

typedef struct {
    Pending *nodes;
    Py_ssize_t length;
    Py_ssize_t capacity;
} Stack;

typedef struct {
    Layout layout;
    int has_devices;
    Py_ssize_t node_bytes;  /* of a node that are looked at */
    Py_ssize_t event_bytes; /* of an event */
    Cells events;
    Cells runs;
    Cells pointers;
    Stack stack;
    Py_ssize_t nodes;
    ForeignBlocks *blocks;
    char *node;       /* a copy of the one that is taken */
    char *event;      /* likewise */
    PyObject *places; /* a list of what places are called */
    PyObject *names;  /* a list: of each run */
} Walk;

/* What a step comes to. */
enum { FAILED = -1, ODD, FINE }; /* an exception; something that cannot be; neither */

static const char *GRAD_NODE = "Global_", *OWN_PART = "Local_", *HOST = "Place(cpu)";

static int64_t word_at(const char *object, Py_ssize_t offset) {
    int64_t word;
    memcpy(&word, object + offset, sizeof word);
    return word;
}

static int64_t *more_cells(Cells *cells, Py_ssize_t count) {
    if (cells->length + count > cells->capacity) {
        const Py_ssize_t capacity = (cells->length + count) * 2;
        int64_t *larger = PyMem_Realloc(cells->cells, (size_t)(capacity * WORD));
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

/* Find the characters of a std::string in an object at ``address``, of which ``copy`` has ``size``
 * bytes; ``text`` takes those that are not in it. */
static int find_text(Walk *walk, const char *copy, Py_ssize_t size, int64_t address,
                     Py_ssize_t offset, char *text, const char **found, Py_ssize_t *length) {
    const int64_t start = word_at(copy, offset), count = word_at(copy, offset + WORD);
    *length = (Py_ssize_t)count;
    if (count < 0 || count > LONGEST_NAME) {
        return ODD;
    }
    if (start >= address && start + count <= address + size) {
        *found = copy + (start - address);
        return FINE;
    }
    *found = text;
    return ForeignBlocks_copy(walk->blocks, start, text, *length) ? FINE : ODD;
}

/* Copy a std::vector of pointers. */
static int copy_pointers(Walk *walk, const char *copy, Py_ssize_t offset, Py_ssize_t most,
                         Py_ssize_t *count) {
    const int64_t begin = word_at(copy, offset), end = word_at(copy, offset + WORD);
    const int64_t size = (int64_t)((uint64_t)end - (uint64_t)begin);
    *count = (Py_ssize_t)(size / WORD);
    if (begin < 0 || end < begin || size % WORD != 0 || begin % WORD != 0 || *count > most) {
        return ODD;
    }
    walk->pointers.length = 0;
    if (*count == 0) {
        return FINE;
    }
    int64_t *pointers = more_cells(&walk->pointers, *count);
    if (pointers == NULL) {
        return FAILED;
    }
    return ForeignBlocks_copy(walk->blocks, begin, pointers, (Py_ssize_t)size) ? FINE : ODD;
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
    PyObject *name = PyUnicode_DecodeUTF8(text, size, "replace");
    const int failed = name == NULL || PyList_Append(walk->places, name) < 0;
    Py_XDECREF(name);
    return failed ? -1 : known;
}

static int take_event(Walk *walk, int64_t its_address, int64_t thread, int64_t *row) {
    const Layout *layout = &walk->layout;
    const char *event = walk->event;
    if (!ForeignBlocks_copy(walk->blocks, its_address, walk->event, walk->event_bytes)) {
        return ODD;
    }
    const int64_t change = word_at(event, layout->change);
    Py_ssize_t size = (Py_ssize_t)strlen(HOST);
    const char *place = HOST;
    char text[LONGEST_NAME];
    if (walk->has_devices && find_text(walk, event, walk->event_bytes, its_address, layout->place,
                                       text, &place, &size) != FINE) {
        return ODD;
    }
    const Py_ssize_t number = place_number(walk, place, size);
    if (number < 0) {
        return FAILED;
    }
    row[0] = word_at(event, layout->time_ns);
    row[1] = change > 0 ? 0 : 1;
    row[2] = word_at(event, layout->address);
    row[3] = change < 0 ? (int64_t)(0 - (uint64_t)change) : change;
    row[4] = word_at(event, layout->allocated);
    row[5] = 0;
    row[6] = number;
    row[7] = thread;
    row[8] = 0;
    if (size != (Py_ssize_t)strlen(HOST) || memcmp(place, HOST, (size_t)size) != 0) {
        if (layout->kind < 0 || layout->reserved < 0) {
            return ODD;
        }
        int32_t kind;
        memcpy(&kind, event + layout->kind, sizeof kind);
        row[1] = kind;
        row[5] = word_at(event, layout->reserved);
    }
    return FINE;
}

static int take_events(Walk *walk, int64_t thread) {
    Py_ssize_t count;
    int went = copy_pointers(walk, walk->node, walk->layout.events, MOST_EVENTS, &count);
    int64_t *row =
        went == FINE && count > 0 ? more_cells(&walk->events, count * EVENT_CELLS) : NULL;
    if (went == FINE && count > 0 && row == NULL) {
        return FAILED;
    }
    for (Py_ssize_t i = 0; went == FINE && i < count; i++, row += EVENT_CELLS) {
        went = take_event(walk, walk->pointers.cells[i], thread, row);
    }
    return went;
}

/* Take the present node, whose name counts; tells whether those of its children do. */
static int take_run(Walk *walk, int64_t address, int64_t thread, int *has_names) {
    const Layout *layout = &walk->layout;
    const Py_ssize_t prefix = (Py_ssize_t)strlen(GRAD_NODE), own = (Py_ssize_t)strlen(OWN_PART);
    Py_ssize_t size;
    const char *name;
    char text[LONGEST_NAME];
    if (find_text(walk, walk->node, walk->node_bytes, address, layout->name, text, &name, &size) !=
        FINE) {
        return ODD;
    }
    if (size >= prefix && memcmp(name, GRAD_NODE, (size_t)prefix) == 0) {
        name += prefix;
        size -= prefix;
        PyObject *run = PyUnicode_DecodeUTF8(name, size, "replace");
        const int failed = run == NULL || PyList_Append(walk->names, run) < 0;
        Py_XDECREF(run);
        int64_t *row = failed ? NULL : more_cells(&walk->runs, RUN_CELLS);
        if (row == NULL) {
            return FAILED;
        }
        row[0] = word_at(walk->node, layout->start_ns);
        row[1] = word_at(walk->node, layout->end_ns);
        row[2] = thread;
    }
    /* What stands in a grad node's own part are kernels. */
    *has_names = size < own || memcmp(name, OWN_PART, (size_t)own) != 0;
    return FINE;
}

static int push_all(Walk *walk, const int64_t *nodes, Py_ssize_t count, int has_names) {
    Stack *stack = &walk->stack;
    walk->nodes += count;
    if (walk->nodes > MOST_NODES) {
        return ODD;
    }
    if (stack->length + count > stack->capacity) {
        const Py_ssize_t capacity = (stack->length + count) * 2;
        Pending *larger = PyMem_Realloc(stack->nodes, (size_t)capacity * sizeof(Pending));
        if (larger == NULL) {
            PyErr_NoMemory();
            return FAILED;
        }
        stack->nodes = larger;
        stack->capacity = capacity;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        stack->nodes[stack->length++] = (Pending){nodes[i], has_names};
    }
    return FINE;
}

static int take_tree(Walk *walk, int64_t root, int64_t thread) {
    int went = push_all(walk, &root, 1, 0);
    while (went == FINE && walk->stack.length > 0) {
        const Pending pending = walk->stack.nodes[--walk->stack.length];
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
            went = push_all(walk, walk->pointers.cells, count, has_names);
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

static PyObject *as_bytes(const Cells *cells) {
    return PyByteArray_FromStringAndSize((const char *)cells->cells, cells->length * WORD);
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
    PyMem_Free(walk.events.cells);
    PyMem_Free(walk.runs.cells);
    PyMem_Free(walk.pointers.cells);
    PyMem_Free(walk.stack.nodes);
    PyMem_Free(walk.node);
    PyMem_Free(walk.event);
    ForeignBlocks_give_back(walk.blocks);
    Py_XDECREF(walk.places);
    Py_XDECREF(walk.names);
    return found;
}
