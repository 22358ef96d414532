/* Rows of allocator events and of the grad nodes that ran. */
#include "event_tree.h"

#define EVENT_CELLS 9 /* COLUMNS of capture/memory/event_columns.py */
#define RUN_CELLS 3   /* start, end, thread */
#define RESERVED_ALLOCATE 2

static const char *GRAD_NODE = "Global_", *OWN_PART = "Local_", *HOST = "Place(cpu)";

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
    if (!walk->has_devices) {
        return FINE;
    }
    int32_t kind;
    if (layout->kind < 0) {
        return ODD;
    }
    memcpy(&kind, event + layout->kind, sizeof kind);
    row[1] = kind;
    const int is_host = size == (Py_ssize_t)strlen(HOST) && memcmp(place, HOST, (size_t)size) == 0;
    if (!is_host || kind >= RESERVED_ALLOCATE) {
        if (layout->reserved < 0) {
            return ODD;
        }
        row[5] = word_at(event, layout->reserved);
    }
    return FINE;
}

int take_events(Walk *walk, int64_t thread) {
    Py_ssize_t count;
    int went = copy_pointers(walk, walk->node, walk->layout.events, MOST_EVENTS, &count);
    int64_t *row = went == FINE && count > 0
                       ? Growing_add(&walk->events, count * EVENT_CELLS, sizeof(int64_t))
                       : NULL;
    if (went == FINE && count > 0 && row == NULL) {
        return FAILED;
    }
    const int64_t *pointers = walk->pointers.items;
    for (Py_ssize_t i = 0; went == FINE && i < count; i++, row += EVENT_CELLS) {
        went = take_event(walk, pointers[i], thread, row);
    }
    return went;
}

/* Take the present node, whose name counts; tells whether those of its children do. */
int take_run(Walk *walk, int64_t address, int64_t thread, int *has_names) {
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
        int64_t *row = failed ? NULL : Growing_add(&walk->runs, RUN_CELLS, sizeof(int64_t));
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
