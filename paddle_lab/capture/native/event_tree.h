/* What the parts of the walk over Paddle's event trees share: capture/memory/event_walk.py.
 *
 * Where the C++ objects keep what they tell has been learned: capture/memory/event_layout.py.
 * Nothing is trusted for that: memory is copied by the system, which says where there is none, and
 * whatever cannot be right ends the walk.
 */
#ifndef PADDLE_LAB_EVENT_TREE_H
#define PADDLE_LAB_EVENT_TREE_H

#include "growing.h"
#include "native.h"
#include <string.h>

#define WORD ((Py_ssize_t)sizeof(int64_t))
#define TEXT_BYTES 32 /* of a std::string, with the characters of a short one */
#define LONGEST_NAME 1024
/* More than there are: an odd guess ends here. */
#define MOST_NODES (1 << 24)
#define MOST_EVENTS (1 << 27)

/* Bytes from where an object begins; -1 where that is not known. */
typedef struct {
    Py_ssize_t children, events; /* vectors of pointers */
    Py_ssize_t name, start_ns, end_ns;
    Py_ssize_t time_ns, address, change, allocated, kind, place, reserved;
} Layout;

typedef struct {
    Layout layout;
    int has_devices;
    Py_ssize_t node_bytes;  /* of a node that are looked at */
    Py_ssize_t event_bytes; /* of an event */
    Growing events;         /* of int64_t, as all but the stack */
    Growing runs;
    Growing pointers;
    Growing stack; /* of what is still to be taken */
    Py_ssize_t nodes;
    ForeignBlocks *blocks;
    char *node;       /* a copy of the one that is taken */
    char *event;      /* likewise */
    PyObject *places; /* a list of what places are called */
    PyObject *names;  /* a list: of each run */
} Walk;

/* What a step comes to. */
enum { FAILED = -1, ODD, FINE }; /* an exception; something that cannot be; neither */

static inline int64_t word_at(const char *object, Py_ssize_t offset) {
    int64_t word;
    memcpy(&word, object + offset, sizeof word);
    return word;
}

/* event_parts.c: texts and vectors of C++ objects. */
int find_text(Walk *walk, const char *copy, Py_ssize_t size, int64_t address, Py_ssize_t offset,
              char *text, const char **found, Py_ssize_t *length);
int copy_pointers(Walk *walk, const char *copy, Py_ssize_t offset, Py_ssize_t most,
                  Py_ssize_t *count);

/* event_rows.c: rows of one node's events, and of the grad node that it may tell of. */
int take_events(Walk *walk, int64_t thread);
int take_run(Walk *walk, int64_t address, int64_t thread, int *has_names);

#endif
