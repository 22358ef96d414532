/* Shared by the parts of last_scope.c: the calls whose scopes are kept. */
#ifndef PADDLE_LAB_LAST_SCOPE_H
#define PADDLE_LAB_LAST_SCOPE_H

#include "../native.h"

#define UNKNOWN INT64_MIN
#define MOST_CALLS 16
#define ASK_PYTHON 2      /* in the table of codes, as in turns.py */
#define RUNS_CELLS 3      /* its callers are not the user's */
#define FIRST_SIMPLE 4    /* from here on: a function without loops, and its name */
#define MOST_VARIABLES 16 /* per call */
#define MOST_SUSPENDED 8

/* One call of a user's function. It does not hold its frame: that would keep variables alive. */
typedef struct {
    PyObject *mark;
    Py_buffer units;                  /* CodeLoops.units: three int per instruction */
    PyObject *names;                  /* a tuple: the variables of the enclosing loops */
    PyObject *values[MOST_VARIABLES]; /* only compared */
    PyObject *identities;             /* a tuple: the identity of each, as in variables.py */
    PyObject *called;                 /* the mark of the function that it calls; None: any */
    int unit;                         /* the instruction of the last op */
    int64_t scope;                    /* the innermost of its own scope and its iterations */
    int64_t outside;                  /* the same without the innermost iteration */
    int is_suspendable;               /* a generator's or coroutine's */
    int compared;                     /* for the op that is being checked */
    PyObject *next_called;            /* for this op; NULL: unchanged */
    int next_unit;
    PyObject *turn;           /* the innermost OpenTurn, or None */
    int own_first, own_count; /* the variables of its loop; 0: Python begins the next iteration */
    int stepped_after;        /* from this order on, a `while` has changed its counter; -1: none */
    int goes_on;              /* whether the next iteration can begin here, not in Python */
    long long name, key;      /* of the loop */
    PyObject *shown;          /* a tuple: variables whose values may be shown */
    long long number;         /* of the iteration */
    long long start, step;    /* of the loop's counter; step 0: the loop has no counter */
} Call;

struct LastScope {
    PyObject_HEAD AddressTable *codes;
    Tape *scopes, *turns; /* TurnTracker's tapes, counter and list */
    Counter *next_scope;
    PyObject *values;
    PyObject *mark_type, *serial;
    Call calls[MOST_CALLS];         /* outermost first */
    int count;                      /* 0: no result is kept */
    Call suspended[MOST_SUSPENDED]; /* calls that do not run now, but may continue */
    int suspended_count;
    uint64_t version; /* changes when calls are removed and when an iteration begins */
};

/* A running call of a user's function, and the frame that it called, or NULL. */
typedef struct {
    PyObject *frame, *called;
    int64_t watched; /* from the table of codes */
} Running;

enum { OTHER_VALUES, NEXT_VALUES, SAME_VALUES, BETWEEN };

static inline int order_of(const Call *call, int unit) {
    return ((const int *)call->units.buf)[3 * unit + 1];
}

static inline int is_header(const Call *call, int unit) {
    return ((const int *)call->units.buf)[3 * unit + 2] & IS_HEADER;
}

/* Tell whether an instruction is in the same loop as the call's last op. */
static inline int is_in_same_loop(const Call *call, int unit) {
    const int *units = call->units.buf;
    const Py_ssize_t count = call->units.len / (Py_ssize_t)(3 * sizeof(int));
    return unit >= 0 && unit < count && units[3 * unit] == units[3 * call->unit];
}

/* Tell whether an instruction is in the body of the same loop as the call's last op. */
static inline int is_in_same_body(const Call *call, int unit) {
    return is_in_same_loop(call, unit) && is_header(call, unit) == is_header(call, call->unit);
}

/* kept_calls.c. The names of attributes, and the getter of f_trace; NULL: it is read by its name.
 */
extern PyGetSetDef *f_trace_getter;
extern PyObject *f_trace, *order_name, *scope_name, *number_name, *seen_name, *tracker_name;
PyObject *trace_of(PyObject *frame);
int set_integer(PyObject *object, PyObject *name, long long value);
void forget_calls(LastScope *last, const PyObject *mark);
int is_suspendable(PyObject *frame);
PyObject *mark_of(const LastScope *last, PyObject *tracker, PyObject *frame);
void match_calls(LastScope *last, const Running *running, int count);

/* kept_values.c */
PyObject *identity_of(PyObject *value);
int compared_call(LastScope *last, Call *call, const Running *running, PyObject *tracker,
                  int64_t around);

/* next_turn.c */
void move_on(Call *call);
int64_t open_scope(LastScope *last, int kind, int64_t name, int64_t parent, long long thread);
int64_t next_turn(LastScope *last, Call *call, PyObject *tracker, const Running *running,
                  int64_t parent, long long thread);

#endif
