/* Calls of the user's functions and turns of their loops: capture/turns/turns.py, natively. */
#include "../native.h"
#include <string.h>
#include <structmember.h>

#define BEGAN_BEFORE (-2)
#define MOST_LEVELS 6
#define MOST_NAMES 3
#define MOST_FRAMES 64
#define SUSPENDS (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)

typedef struct {
    int64_t key, name;
    int parent, level, order;
    PyObject *names[MOST_NAMES], *shown[MOST_NAMES], *around[MOST_NAMES];
    int name_count, shown_count, around_count;
    int counts, has_start;
    int64_t start, step;
    int stepped_after;
} Loop;

/* What is known of a code object before it runs. */
typedef struct {
    PyObject *code; /* held: its address is the key; NULL: free */
    int is_watched;
    int64_t name;
    Py_ssize_t length;
    int *loop, *order, *flags;
    Loop *loops;
    int loop_count;
} CodeEntry;

typedef struct {
    const Loop *loop;
    int64_t scope, number, start;
    int has_start, order, is_waiting, seen_count;
    PyObject *seen[MOST_NAMES], *around[MOST_NAMES]; /* compared, never used */
} OpenTurn;

typedef struct TurnTracker {
    PyObject_HEAD Tape *scopes;
    Counter *next_scope;
    Tape *rows;
    PyObject *values;
    PyObject *describe;
    CodeEntry **entries; /* each of its own, as its address is kept while others come */
    Py_ssize_t used, capacity;
    int64_t serial;
} Tracker;

/* The mark of a call: the frame's attribute f_trace. */
typedef struct CallMark {
    PyObject_HEAD int64_t tracker; /* its serial number: a mark may live longer */
    struct CallMark *next_mark;
    int64_t scope;
    int hidden_levels, level_count;
    OpenTurn turns[MOST_LEVELS];
} CallMark;

typedef struct {
    PyObject *frame, *inner; /* both run while the op's wrapper does */
    const CodeEntry *entry;
} Watched;

static PyObject *f_trace;
static int64_t latest_serial;

/* -- code objects ---------------------------------------------------------------------------- */

static size_t slot_of(const Tracker *tracker, PyObject *code) {
    const size_t mask = (size_t)tracker->capacity - 1;
    size_t slot = ((uintptr_t)code >> 4) * 0x9E3779B97F4A7C15u >> 20 & mask;
    while (tracker->entries[slot] != NULL && tracker->entries[slot]->code != code) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static int grow(Tracker *tracker) {
    const Py_ssize_t before = tracker->capacity;
    CodeEntry **old = tracker->entries;
    CodeEntry **entries = PyMem_Calloc((size_t)(before ? before * 2 : 256), sizeof *entries);
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    tracker->entries = entries;
    tracker->capacity = before ? before * 2 : 256;
    for (Py_ssize_t i = 0; i < before; i++) {
        if (old[i] != NULL) {
            entries[slot_of(tracker, old[i]->code)] = old[i];
        }
    }
    PyMem_Free(old);
    return 0;
}

static void free_entry(CodeEntry *entry) {
    if (entry == NULL) {
        return;
    }
    for (int i = 0; i < entry->loop_count; i++) {
        for (int n = 0; n < MOST_NAMES; n++) {
            Py_XDECREF(entry->loops[i].names[n]);
            Py_XDECREF(entry->loops[i].shown[n]);
            Py_XDECREF(entry->loops[i].around[n]);
        }
    }
    PyMem_Free(entry->loop);
    PyMem_Free(entry->loops);
    Py_XDECREF(entry->code);
    PyMem_Free(entry);
}

static int64_t integer_attribute(PyObject *object, const char *name) {
    return taken_integer(PyObject_GetAttrString(object, name));
}

static int read_names(PyObject *loop, const char *attribute, PyObject **names) {
    PyObject *tuple = PyObject_GetAttrString(loop, attribute);
    int count = tuple == NULL || !PyTuple_Check(tuple) ? 0 : (int)PyTuple_GET_SIZE(tuple);
    count = count > MOST_NAMES ? MOST_NAMES : count;
    for (int i = 0; i < count; i++) {
        names[i] = Py_NewRef(PyTuple_GET_ITEM(tuple, i));
    }
    Py_XDECREF(tuple);
    return count;
}

static void read_loop(PyObject *described, Loop *loop) {
    loop->key = integer_attribute(described, "key");
    loop->name = integer_attribute(described, "name");
    loop->parent = (int)integer_attribute(described, "parent");
    loop->level = (int)integer_attribute(described, "level");
    loop->order = (int)integer_attribute(described, "order");
    loop->step = integer_attribute(described, "step");
    loop->stepped_after = (int)integer_attribute(described, "stepped_after");
    loop->counts = (int)integer_attribute(described, "counts");
    PyObject *start = PyObject_GetAttrString(described, "start");
    loop->has_start = start != NULL && start != Py_None;
    if (loop->has_start) {
        loop->start = PyLong_AsLongLong(start);
    }
    Py_XDECREF(start);
    loop->name_count = read_names(described, "names", loop->names);
    loop->shown_count = read_names(described, "shown", loop->shown);
    loop->around_count = read_names(described, "around", loop->around);
}

static int read_units(PyObject *described, CodeEntry *entry) {
    const char *names[] = {"loop", "order", "flags"};
    Py_buffer views[3];
    int taken = 0;
    for (; taken < 3; taken++) {
        PyObject *units = PyObject_GetAttrString(described, names[taken]);
        const int failed =
            units == NULL || PyObject_GetBuffer(units, &views[taken], PyBUF_SIMPLE) < 0;
        Py_XDECREF(units);
        if (failed) {
            break;
        }
    }
    if (taken == 3) {
        const Py_ssize_t bytes = views[0].len;
        entry->length = bytes / (Py_ssize_t)sizeof(int);
        if (views[1].len != bytes || views[2].len != bytes) {
            PyErr_SetString(PyExc_ValueError, "an entry an instruction");
        } else if ((entry->loop = PyMem_Malloc((size_t)(3 * bytes + 1))) == NULL) {
            PyErr_NoMemory();
        } else {
            entry->order = entry->loop + entry->length;
            entry->flags = entry->order + entry->length;
            memcpy(entry->loop, views[0].buf, (size_t)bytes);
            memcpy(entry->order, views[1].buf, (size_t)bytes);
            memcpy(entry->flags, views[2].buf, (size_t)bytes);
        }
    }
    while (taken-- > 0) {
        PyBuffer_Release(&views[taken]);
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int read_description(PyObject *described, CodeEntry *entry) {
    entry->is_watched = 1;
    entry->name = integer_attribute(described, "name");
    PyObject *loops = PyObject_GetAttrString(described, "loops");
    if (loops == NULL || !PyList_Check(loops) || PyErr_Occurred() ||
        read_units(described, entry) < 0) {
        Py_XDECREF(loops);
        return -1;
    }
    const Py_ssize_t count = PyList_GET_SIZE(loops);
    entry->loops = PyMem_Calloc((size_t)count + 1, sizeof(Loop));
    if (entry->loops == NULL) {
        PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        read_loop(PyList_GET_ITEM(loops, i), &entry->loops[i]);
        entry->loop_count++;
    }
    Py_DECREF(loops);
    return PyErr_Occurred() ? -1 : 0;
}

/* Return what is known of a code object; asks Python the first time. */
static const CodeEntry *entry_of(Tracker *tracker, PyObject *code) {
    if (tracker->capacity > 0) {
        const CodeEntry *known = tracker->entries[slot_of(tracker, code)];
        if (known != NULL) {
            return known;
        }
    }
    CodeEntry *entry = PyMem_Calloc(1, sizeof *entry);
    if (entry == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    entry->code = Py_NewRef(code);
    entry->name = NO_KEY;
    PyObject *described = PyObject_CallOneArg(tracker->describe, code);
    if (described == NULL || (described != Py_None && read_description(described, entry) < 0)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "a description has loops");
        }
        free_entry(entry);
        Py_XDECREF(described);
        return NULL;
    }
    Py_DECREF(described);
    if (tracker->used * 3 >= tracker->capacity * 2 && grow(tracker) < 0) {
        free_entry(entry);
        return NULL;
    }
    /* What was asked may have run code that came here itself. */
    CodeEntry **place = &tracker->entries[slot_of(tracker, code)];
    if (*place != NULL) {
        free_entry(entry);
    } else {
        *place = entry;
        tracker->used++;
    }
    return *place;
}

/* -- marks ----------------------------------------------------------------------------------- */

static CallMark *own_mark(PyObject *first, const Tracker *tracker) {
    if (first == NULL || !Py_IS_TYPE(first, &CallMarkType)) {
        return NULL;
    }
    CallMark *mark = (CallMark *)first;
    while (mark != NULL && mark->tracker != tracker->serial) {
        mark = mark->next_mark;
    }
    return mark;
}

/* Return the mark of a call, which the frame holds; NULL without an exception where a debugger has
 * its own there. */
static CallMark *mark_of(Tracker *tracker, PyObject *frame, int *is_new) {
    *is_new = 0;
    PyObject *first = PyObject_GetAttr(frame, f_trace);
    if (first == NULL) {
        return NULL;
    }
    CallMark *mark = own_mark(first, tracker);
    if (mark != NULL || (first != Py_None && !Py_IS_TYPE(first, &CallMarkType))) {
        Py_DECREF(first);
        return mark;
    }
    mark = PyObject_New(CallMark, &CallMarkType);
    if (mark == NULL) {
        Py_DECREF(first);
        return NULL;
    }
    mark->tracker = tracker->serial;
    mark->next_mark = first == Py_None ? NULL : (CallMark *)Py_NewRef(first);
    mark->scope = NO_KEY;
    mark->hidden_levels = mark->level_count = 0;
    Py_DECREF(first);
    const int failed = PyObject_SetAttr(frame, f_trace, (PyObject *)mark) < 0;
    Py_DECREF(mark); /* the frame has it */
    *is_new = !failed;
    return failed ? NULL : mark;
}

/* Tell whether a call is seen for the first time; of what is no Python, each is new. */
static int is_new_call(Tracker *tracker, PyObject *frame) {
    int is_new = frame == NULL;
    if (frame != NULL && mark_of(tracker, frame, &is_new) == NULL) {
        PyErr_Clear();
    }
    return is_new;
}

/* -- turns ----------------------------------------------------------------------------------- */

static int64_t open_scope(Tracker *tracker, int64_t kind, int64_t name, int64_t parent,
                          int64_t thread) {
    int64_t *row = Tape_reserve(tracker->scopes, SCOPE_CELLS);
    if (row == NULL) {
        return NO_KEY;
    }
    const int64_t scope = tracker->next_scope->next++;
    const int64_t cells[SCOPE_CELLS] = {
        [SCOPE_KEY] = scope,     [SCOPE_KIND] = kind,    [SCOPE_NAME] = name,
        [SCOPE_PARENT] = parent, [SCOPE_LAYER] = NO_KEY, [SCOPE_BACKWARD_CALL] = NO_KEY,
        [SCOPE_THREAD] = thread,
    };
    memcpy(row, cells, sizeof cells);
    return scope;
}

/* Read a loop's variables, as new references; return how many, 0 where none tells a turn. */
static int read_variables(const Watched *at, const Loop *loop, PyObject **now) {
    for (int i = 0; i < loop->name_count; i++) {
        now[i] = frame_variable(at->frame, (PyCodeObject *)at->entry->code, loop->names[i]);
        if (i == 0 && now[0] == NULL) {
            return 0;
        }
    }
    return loop->name_count;
}

static void drop_variables(PyObject **now, int count) {
    while (count-- > 0) {
        Py_XDECREF(now[count]);
    }
}

/* Read what changes only around a loop, to be compared. */
static void read_around(const Watched *at, const Loop *loop, PyObject **around) {
    for (int i = 0; i < loop->around_count; i++) {
        around[i] = frame_variable(at->frame, (PyCodeObject *)at->entry->code, loop->around[i]);
        Py_XDECREF(around[i]);
    }
}

/* Tell whether a loop was left and begun anew since its last turn. */
static int was_left(const OpenTurn *inner, const Watched *at, const Loop *loop) {
    PyObject *around[MOST_NAMES];
    if (inner->loop != loop || loop->around_count == 0) {
        return 0;
    }
    read_around(at, loop, around);
    return memcmp(around, inner->around, (size_t)loop->around_count * sizeof *around) != 0;
}

static int64_t floor_division(int64_t a, int64_t b) {
    const int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int is_stepped(const Loop *loop, int order) {
    return loop->stepped_after >= 0 && order >= loop->stepped_after;
}

/* Return whether a counter's value is an integer, and it. */
static int counter_value(const Loop *loop, PyObject *const *now, int count, int64_t *value) {
    if (!loop->counts || count == 0 || !PyLong_CheckExact(now[0])) {
        return 0;
    }
    int overflow;
    *value = PyLong_AsLongLongAndOverflow(now[0], &overflow);
    return overflow == 0;
}

/* Return whether a counter tells the turn, and which it is. */
static int counted(const OpenTurn *turn, PyObject *const *now, int count, int order,
                   int64_t *number) {
    const Loop *loop = turn->loop;
    int64_t value;
    if (!turn->has_start || !counter_value(loop, now, count, &value)) {
        return 0;
    }
    const int64_t distance = value - turn->start - (is_stepped(loop, order) ? loop->step : 0);
    *number = floor_division(distance, loop->step) + 1;
    return distance % loop->step == 0;
}

/* Return the first of a loop's variables that is a number or text: a new reference, or NULL. */
static PyObject *shown_value(const Watched *at, const Loop *loop) {
    for (int i = 0; i < loop->shown_count; i++) {
        PyObject *value =
            frame_variable(at->frame, (PyCodeObject *)at->entry->code, loop->shown[i]);
        if (value != NULL && (PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
                              PyUnicode_CheckExact(value) || PyBool_Check(value))) {
            return value;
        }
        Py_XDECREF(value);
    }
    return NULL;
}

/* Note that a turn's body runs, and what its variables are. */
static int enter(Tracker *tracker, OpenTurn *turn, const Watched *at, int order) {
    const Loop *loop = turn->loop;
    turn->is_waiting = 0;
    turn->order = order;
    PyObject *now[MOST_NAMES];
    const int count = read_variables(at, loop, now);
    memcpy(turn->seen, now, (size_t)count * sizeof *now);
    turn->seen_count = count;
    turn->number++;
    PyObject *shown = shown_value(at, loop);
    int64_t value, number;
    if (counter_value(loop, now, count, &value)) {
        value -= is_stepped(loop, order) ? loop->step : 0;
        if (loop->shown_count > 0) {
            Py_XSETREF(shown, PyLong_FromLongLong(value));
        }
        if (!turn->has_start) {
            turn->has_start = 1;
            turn->start = loop->has_start ? loop->start : value - loop->step * (turn->number - 1);
        }
        if (counted(turn, now, count, order, &number)) {
            turn->number = number > 1 ? number : 1;
        }
    }
    drop_variables(now, count);
    int64_t position = NO_KEY;
    if (shown != NULL) {
        position = PyList_GET_SIZE(tracker->values);
        const int failed = PyList_Append(tracker->values, shown) < 0;
        Py_DECREF(shown);
        if (failed) {
            return -1;
        }
    }
    int64_t *row = Tape_reserve(tracker->rows, TURN_CELLS);
    if (row == NULL) {
        return -1;
    }
    const int64_t cells[TURN_CELLS] = {
        [TURN_SCOPE] = turn->scope,
        [TURN_LOOP] = loop->key,
        [TURN_NUMBER] = turn->number,
        [TURN_VALUE] = position,
    };
    memcpy(row, cells, sizeof cells);
    return 0;
}

enum { SAME, NEXT, RESTARTED };

static int told(Tracker *tracker, OpenTurn *turn, const Watched *at, int order, int is_last,
                int is_repeating) {
    PyObject *now[MOST_NAMES];
    const int count = read_variables(at, turn->loop, now);
    int64_t number;
    const int is_counted = counted(turn, now, count, order, &number);
    drop_variables(now, count); /* from here on they are compared only */
    if (is_counted) {
        return number == turn->number ? SAME : number < turn->number ? RESTARTED : NEXT;
    }
    if (count > 0 &&
        (count != turn->seen_count || memcmp(now, turn->seen, (size_t)count * sizeof *now) != 0)) {
        return NEXT;
    }
    if (order < turn->order) {
        return NEXT;
    }
    if (is_last && count == 0 && is_new_call(tracker, at->inner) && order == turn->order &&
        !is_repeating) {
        return NEXT;
    }
    return SAME;
}

/* Return the innermost scope after the turns of one call; NO_KEY with an exception. */
static int64_t turn_at(Tracker *tracker, CallMark *mark, const Watched *at, int unit, int64_t scope,
                       int64_t thread) {
    const CodeEntry *entry = at->entry;
    const Loop *path[MOST_LEVELS];
    int innermost = entry->loop[unit];
    int flags = entry->flags[unit];
    int depth = innermost < 0 ? 0 : entry->loops[innermost].level + 1;
    while (depth > mark->hidden_levels + MOST_LEVELS) { /* deeper ones are not told apart */
        innermost = entry->loops[innermost].parent;
        depth--;
        flags = IS_REPEATING;
    }
    const int count = depth > mark->hidden_levels ? depth - mark->hidden_levels : 0;
    for (int i = count - 1; i >= 0; i--) {
        path[i] = &entry->loops[innermost];
        innermost = path[i]->parent;
    }
    const int is_header = count > 0 && (flags & IS_HEADER);
    if (is_header && at->inner != NULL) {
        PyCodeObject *inner = PyFrame_GetCode((PyFrameObject *)at->inner);
        const int suspends = inner->co_flags & SUSPENDS;
        Py_DECREF(inner);
        if (suspends) {
            /* What a generator computes for the next turn is its own. */
            const int has_outer = 1 < count && count <= mark->level_count;
            const int64_t outer = has_outer ? mark->turns[count - 2].scope : NO_KEY;
            return outer > scope ? outer : scope;
        }
    }
    if (mark->level_count > count) {
        mark->level_count = count;
    }
    int level = 0, is_broken = 0;
    int64_t number = 0, start = 0;
    int has_start = 0;
    while (level < mark->level_count && mark->turns[level].loop == path[level]) {
        OpenTurn *turn = &mark->turns[level];
        const int is_last = level == count - 1;
        const int order = is_last ? entry->order[unit] : path[level + 1]->order;
        if (is_last && is_header) {
            is_broken = !turn->is_waiting;
        } else if (turn->is_waiting) {
            if (enter(tracker, turn, at, order) < 0) {
                return NO_KEY;
            }
        } else if (!is_last && level + 1 < mark->level_count &&
                   was_left(turn + 1, at, path[level + 1])) {
            is_broken = 1;
        } else {
            const int what = told(tracker, turn, at, order, is_last, flags & IS_REPEATING);
            is_broken = what != SAME;
            if (what == RESTARTED && level > 0) {
                /* It began anew, so the loop around it is in its next turn. */
                turn = &mark->turns[--level];
            }
            if (!is_broken) {
                turn->order = order;
            }
        }
        if (is_broken) {
            number = turn->number;
            start = turn->start;
            has_start = turn->has_start;
            break;
        }
        level++;
    }
    if (level > 0 && mark->turns[level - 1].scope > scope) {
        scope = mark->turns[level - 1].scope;
    }
    mark->level_count = level;
    for (; level < count; level++) {
        const int is_last = level == count - 1;
        const int64_t opened =
            open_scope(tracker, SCOPE_KIND_TURN, path[level]->name, scope, thread);
        if (opened == NO_KEY) {
            return NO_KEY;
        }
        scope = opened;
        mark->turns[level] = (OpenTurn){.loop = path[level],
                                        .scope = scope,
                                        .number = number,
                                        .start = start,
                                        .has_start = has_start,
                                        .order = NO_KEY,
                                        .is_waiting = 1};
        read_around(at, path[level], mark->turns[level].around);
        mark->level_count = level + 1;
        number = has_start = 0;
        if (is_last && is_header) {
            break;
        }
        const int order = is_last ? entry->order[unit] : path[level + 1]->order;
        if (enter(tracker, &mark->turns[level], at, order) < 0) {
            return NO_KEY;
        }
        if (is_last && mark->turns[level].seen_count == 0) {
            is_new_call(tracker, at->inner);
        }
    }
    return scope;
}

/* -- the tracker ----------------------------------------------------------------------------- */

int64_t TurnTracker_scope_at(TurnTracker *tracker, PyObject *frame, PyObject *anchor, int64_t scope,
                             int64_t thread) {
    if (PyThreadState_Get()->c_tracefunc != NULL) { /* a debugger, which needs the attribute */
        return scope;
    }
    Watched watched[MOST_FRAMES];
    int count = 0;
    PyObject *inner = NULL, *at = Py_NewRef(frame);
    while (at != Py_None && at != anchor) {
        PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)at);
        const CodeEntry *entry = entry_of(tracker, (PyObject *)code);
        Py_DECREF(code); /* the frame holds it */
        if (entry == NULL) {
            Py_DECREF(at);
            return NO_KEY;
        }
        if (entry->is_watched) {
            if (count == MOST_FRAMES) { /* a deep recursion: its innermost calls are one */
                memmove(watched, watched + 1, sizeof watched - sizeof *watched);
                count--;
            }
            watched[count++] = (Watched){at, inner, entry};
        }
        inner = at;
        PyObject *back = (PyObject *)PyFrame_GetBack((PyFrameObject *)at);
        Py_SETREF(at, back != NULL ? back : Py_NewRef(Py_None));
    }
    Py_DECREF(at);
    while (count-- > 0) {
        const Watched *one = &watched[count];
        int is_new;
        CallMark *mark = mark_of(tracker, one->frame, &is_new);
        if (mark == NULL) {
            if (PyErr_Occurred()) {
                return NO_KEY;
            }
            continue;
        }
        if (mark->scope == NO_KEY && one->entry->name >= 0) {
            mark->scope = open_scope(tracker, SCOPE_KIND_CALL, one->entry->name, scope, thread);
            if (mark->scope == NO_KEY) {
                return NO_KEY;
            }
        }
        scope = mark->scope > scope ? mark->scope : scope;
#if PY_VERSION_HEX >= 0x030B0000
        const int unit = PyFrame_GetLasti((PyFrameObject *)one->frame) / 2;
#else
        const int unit = (int)taken_integer(PyObject_GetAttrString(one->frame, "f_lasti")) / 2;
#endif
        if (one->entry->loop_count > 0 && unit >= 0 && unit < one->entry->length) {
            scope = turn_at(tracker, mark, one, unit, scope, thread);
            if (PyErr_Occurred()) {
                return NO_KEY;
            }
        }
    }
    return scope;
}

static PyObject *scope_at(PyObject *self, PyObject *const *args, Py_ssize_t given) {
    if (given != 4) {
        PyErr_SetString(PyExc_TypeError, "scope_at() takes a frame, an anchor, a scope, a thread");
        return NULL;
    }
    const int64_t scope = PyLong_AsLongLong(args[2]), thread = PyLong_AsLongLong(args[3]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    const int64_t found =
        TurnTracker_scope_at((TurnTracker *)self, args[0], args[1], scope, thread);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(found);
}

static PyObject *begin(PyObject *self, PyObject *frame) {
    Tracker *tracker = (Tracker *)self;
    PyObject *code = PyObject_GetAttrString(frame, "f_code");
    const CodeEntry *entry = code == NULL ? NULL : entry_of(tracker, code);
    Py_XDECREF(code);
    if (entry == NULL) {
        return NULL;
    }
    int is_new;
    if (entry->is_watched && PyThreadState_Get()->c_tracefunc == NULL) {
        CallMark *mark = mark_of(tracker, frame, &is_new);
        const int64_t unit = taken_integer(PyObject_GetAttrString(frame, "f_lasti")) / 2;
        if (PyErr_Occurred()) {
            return NULL;
        }
        if (mark != NULL) {
            mark->scope = BEGAN_BEFORE;
            if (entry->loop_count > 0 && unit >= 0 && unit < entry->length) {
                const int innermost = entry->loop[unit];
                mark->hidden_levels = innermost < 0 ? 0 : entry->loops[innermost].level + 1;
            }
        }
    }
    Py_RETURN_NONE;
}

/* Take this tracker's mark from among those of one call; what is left is returned, or NULL. */
static CallMark *without(CallMark *first, const Tracker *tracker) {
    if (first->tracker == tracker->serial) {
        return first->next_mark;
    }
    for (CallMark *mark = first; mark->next_mark != NULL; mark = mark->next_mark) {
        CallMark *next = mark->next_mark;
        if (next->tracker == tracker->serial) {
            mark->next_mark = (CallMark *)Py_XNewRef((PyObject *)next->next_mark);
            Py_DECREF(next);
            break;
        }
    }
    return first;
}

static PyObject *end(PyObject *self, PyObject *frame) {
    PyObject *at = Py_NewRef(frame);
    while (at != Py_None) {
        PyObject *first = PyObject_GetAttr(at, f_trace);
        if (first != NULL && Py_IS_TYPE(first, &CallMarkType)) {
            CallMark *left = without((CallMark *)first, (Tracker *)self);
            if (PyObject_SetAttr(at, f_trace, left == NULL ? Py_None : (PyObject *)left) < 0) {
                PyErr_Clear();
            }
        }
        Py_XDECREF(first);
        PyErr_Clear();
        PyObject *back = (PyObject *)PyFrame_GetBack((PyFrameObject *)at);
        Py_SETREF(at, back != NULL ? back : Py_NewRef(Py_None));
    }
    Py_DECREF(at);
    Py_RETURN_NONE;
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *scopes, *next_scope, *rows, *values, *describe;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O", &TapeType, &scopes, &CounterType, &next_scope,
                          &TapeType, &rows, &PyList_Type, &values, &describe)) {
        return NULL;
    }
    if (f_trace == NULL && (f_trace = PyUnicode_InternFromString("f_trace")) == NULL) {
        return NULL;
    }
    Tracker *tracker = (Tracker *)type->tp_alloc(type, 0);
    if (tracker != NULL) {
        tracker->scopes = (Tape *)Py_NewRef(scopes);
        tracker->next_scope = (Counter *)Py_NewRef(next_scope);
        tracker->rows = (Tape *)Py_NewRef(rows);
        tracker->values = Py_NewRef(values);
        tracker->describe = Py_NewRef(describe);
        tracker->serial = ++latest_serial;
    }
    return (PyObject *)tracker;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Tracker *tracker = (Tracker *)self;
    Py_VISIT(tracker->values);
    Py_VISIT(tracker->describe);
    return 0;
}

static int clear(PyObject *self) {
    Tracker *tracker = (Tracker *)self;
    Py_CLEAR(tracker->describe);
    return 0;
}

static void dealloc(PyObject *self) {
    Tracker *tracker = (Tracker *)self;
    PyObject_GC_UnTrack(self);
    for (Py_ssize_t i = 0; i < tracker->capacity; i++) {
        free_entry(tracker->entries[i]);
    }
    PyMem_Free(tracker->entries);
    Py_XDECREF(tracker->scopes);
    Py_XDECREF(tracker->next_scope);
    Py_XDECREF(tracker->rows);
    Py_XDECREF(tracker->values);
    Py_XDECREF(tracker->describe);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"scope_at", (PyCFunction)(void (*)(void))scope_at, METH_FASTCALL,
     "Return the innermost scope that is open at a frame."},
    {"begin", begin, METH_O, "Let the loops that a frame is in be none of the trace's."},
    {"end", end, METH_O, "Take the marks from the calls that go on after the trace."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject TurnTrackerType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.TurnTracker",
    .tp_basicsize = sizeof(Tracker),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_methods = methods,
};

/* A debugger that is switched on during a call asks the mark about each line. */
static PyObject *mark_call(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args),
                           PyObject *Py_UNUSED(kwargs)) {
    Py_RETURN_NONE;
}

static void mark_dealloc(PyObject *self) {
    CallMark *mark = (CallMark *)self;
    Py_XDECREF(mark->next_mark);
    PyObject_Free(self);
}

PyTypeObject CallMarkType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.CallMark",
    .tp_basicsize = sizeof(CallMark),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = mark_dealloc,
    .tp_call = mark_call,
};
