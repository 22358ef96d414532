/* Declarations that the parts of the native hot path share.
 *
 * Everything here has a twin in Python, which runs if this was not built. The docstrings of the
 * twin explain each part. All code except scans and digests of large arrays holds the GIL. It calls
 * Python only where a comment says so: between two such calls it is atomic.
 */
#ifndef PADDLE_LAB_NATIVE_H
#define PADDLE_LAB_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdint.h>

#include "constants.h"

/* A list of 64-bit integers: capture/rows/tape.py. */
typedef struct {
    PyObject_HEAD int64_t *cells;
    Py_ssize_t length;
    Py_ssize_t capacity;
    int64_t start; /* position of the first cell: how many cells were dropped */
} Tape;
extern PyTypeObject TapeType;
int64_t *Tape_reserve(Tape *tape, Py_ssize_t count); /* NULL and MemoryError if there is none */

/* A table from objects to numbers: capture/rows/object_table.py. */
typedef struct {
    uintptr_t identity; /* 0: free */
    PyObject *reference;
    int64_t value;
} ObjectEntry;
typedef struct {
    PyObject_HEAD ObjectEntry *entries;
    Py_ssize_t used;
    Py_ssize_t capacity; /* a power of two */
} ObjectTable;
extern PyTypeObject ObjectTableType;
int64_t ObjectTable_find_value(ObjectTable *table, PyObject *object); /* NO_KEY if unknown */
int ObjectTable_note_value(ObjectTable *table, PyObject *object, int64_t value);

/* A table from an address and an op to a number: capture/rows/address_table.py. */
typedef struct {
    int64_t address; /* 0: free */
    int64_t op;
    int64_t number;
} AddressEntry;
typedef struct {
    PyObject_HEAD AddressEntry *entries;
    Py_ssize_t used;
    Py_ssize_t capacity; /* a power of two */
} AddressTable;
extern PyTypeObject AddressTableType;
int64_t AddressTable_get(const AddressTable *table, int64_t address, int64_t op); /* NO_KEY */
int AddressTable_set(AddressTable *table, int64_t address, int64_t op, int64_t number);
void AddressTable_clear(AddressTable *table);

/* The op that made a tensor, and the op's inputs: capture/rows/lineage.py. */
typedef struct Lineage Lineage;
extern PyTypeObject LineageType;
typedef struct {
    int64_t address; /* of the input's grad node */
    int64_t tensor;
} Source;
typedef struct {
    Source *sources;
    Py_ssize_t length;
    Py_ssize_t capacity;
} Sources;
/* Append the inputs of an op that have a grad node; -1 and an exception if it fails. */
int Lineage_sources(Lineage *lineage, int64_t op, Sources *sources);
int Lineage_maker(Lineage *lineage, int64_t tensor, int64_t *op); /* likewise */

/* Numbers from 0 on, like itertools.count().__next__ in Python. */
typedef struct {
    PyObject_HEAD int64_t next;
    int64_t alarm; /* the number at which the call does some rare work */
} Counter;
extern PyTypeObject CounterType;

/* Distinct stacks: capture/stacks/stack_pool.py. */
typedef struct {
    uint64_t hash;
    Py_ssize_t start; /* where the signature begins in the arena; -1: free */
    Py_ssize_t length;
    int64_t key;
} StackEntry;
typedef struct {
    PyObject_HEAD StackEntry *entries;
    Py_ssize_t used;
    Py_ssize_t capacity;
    int64_t *arena;
    Py_ssize_t arena_length;
    Py_ssize_t arena_capacity;
    PyObject *codes; /* by id; keeps the code objects of signatures alive */
} StackPool;
extern PyTypeObject StackPoolType;
int64_t StackPool_key_of(StackPool *pool, PyObject *frame, PyObject *anchor, int64_t anchor_stack);

/* variable.c: reads a frame's variable. Returns a new reference, or NULL without an exception. */
PyObject *frame_variable(PyObject *frame, PyObject *name);
int frame_lasti(PyObject *frame); /* -1 and an exception if it fails */

/* The last result of capture/turns/turns.py. */
typedef struct LastScope LastScope;
extern PyTypeObject LastScopeType;

/* The state of one thread: capture/recorder/thread_state.py. */
typedef struct {
    PyObject_HEAD int64_t number;
    int64_t scope;
    int64_t layer;
    int64_t phase;
    int64_t anchor_stack;
    int64_t own_ns;
    PyObject *anchor;
    PyObject *closed_regions;
    PyObject *pylayers;
} ThreadState;
extern PyTypeObject ThreadCellsType;

/* Which recorders are listening: capture/recorder/recorder.py. */
typedef struct {
    PyObject_HEAD PyObject *active;
} Sinks;
extern PyTypeObject SinksType;

/* The calls of a trace that can run again: capture/replay/call_tape.py. */
typedef struct {
    PyObject_HEAD PyTypeObject *tensor_type;
    PyTypeObject *array_type;
    PyObject *mark;
    PyObject *listener;
    PyObject *special; /* dict: whether the op with a name needs the listener */
    PyObject *all_marks;
    ObjectTable *numbers;
    AddressTable *stale;
    Tape *calls;
    Tape *results;
    Tape *storages;
    PyObject *objects;
    char is_open;
} CallTape;
extern PyTypeObject CallTapeType;
/* Note an op that is about to run. Returns -1 and an exception if interrupted. After a fault,
 * ``at`` is -1. */
int CallTape_begin(CallTape *tape, PyObject *function, PyObject *name, PyObject *const *args,
                   Py_ssize_t count, PyObject *names, const int64_t *versions, int64_t *at);

/* The one recorder that listens, and its parts: see listen_for() in owner.c. Code that uses an
 * Owner must hold a reference to it, because Python code that it calls may let another thread end
 * the trace. */
typedef struct {
    PyObject_HEAD PyObject *recorder;
    PyObject *alone; /* sinks->active while no other recorder listens */
    Sinks *sinks;
    PyTypeObject *tensor_type;
    PyTypeObject *parameter_type;
    ObjectTable *known;
    Tape *tensor_rows;
    PyObject *shapes;
    PyObject *dtypes;
    PyObject *names;
    PyObject *meeting_listeners;
    PyObject *data_listeners;
    PyObject *tensor_pool;
    int reads_place;
    int reads_grad_nodes;
    int writes_flight_only;
    Counter *next_tensor;
    Tape *ops;
    Counter *next_op;
    StackPool *stacks;
    PyObject *turns;
    LastScope *last_scope;
    PyObject *threads;
    unsigned long thread_identity;
    ThreadState *thread; /* the state of thread_identity, borrowed from threads */
    ObjectTable *known_layers;
    PyObject *layer_pool;
    Tape *scopes;
    Counter *next_scope;
    Tape *eval_scopes;
    PyObject *attributes;
    PyObject *attribute_forms;
    PyObject *call_tape; /* None, or a CallTape */
    PyObject *on_op;     /* None, or called with each op's key and result */
} Owner;
extern PyTypeObject OwnerType;
extern Owner *present_owner; /* NULL while nothing listens */
int Owner_listens_alone(const Owner *owner);
ThreadState *Owner_thread(Owner *owner);
int Owner_abandon(Owner *owner); /* 0: the exception was recorded and cleared; -1: raise it */
int64_t now_ns(void);
/* The innermost scope that is open at a frame; -1 and an exception if it fails: last_scope.c. */
int64_t scope_at(Owner *owner, PyObject *frame, const ThreadState *state);

/* Rows of tensors: tensor_rows.c. */
/* A tensor that an op returned: what its row and the CallTape need. */
typedef struct {
    int64_t key;
    int is_initialized; /* if not, the other properties are not read */
    int is_dense;
    int has_node;    /* a grad node that an op made */
    int64_t version; /* NO_VERSION if sparse */
} MadeTensor;
/* The tensor's key; -1 and an exception if it fails. ``version`` may remain UNREAD. */
int64_t tensor_row_of(Owner *owner, PyObject *tensor, int64_t *version);
int MadeTensor_read(MadeTensor *made, PyObject *tensor); /* all but the key */
int tensor_row_made(Owner *owner, PyObject *tensor, int64_t op, int is_update, MadeTensor *made);
int is_known_kind(const Owner *owner, PyObject *value); /* a tensor that C code can handle */

/* An op's inputs and attributes: resolved.c. */
#define FEW_INPUTS 32
#define FEW_ARGUMENTS 8
#define UNREAD (-1)
typedef struct {
    int64_t versions[FEW_ARGUMENTS]; /* of the first positional arguments that are tensors */
    int64_t few[2 * FEW_INPUTS];
    int64_t *cells; /* for each input: argument position, tensor */
    Py_ssize_t length;
    Py_ssize_t capacity;
    PyObject *attributes; /* a list, or NULL for an empty one */
    int has_rare;         /* whether Python resolved an argument */
} Resolved;
void Resolved_begin(Resolved *resolved);
/* -1 and an exception if it fails. */
int Resolved_take(Owner *owner, Resolved *resolved, PyObject *const *args, Py_ssize_t count,
                  PyObject *names);
int Resolved_has_attributes(Resolved *resolved); /* makes an empty list if needed; 0 if it fails */
PyObject *keyword_dict(PyObject *const *values, PyObject *names);
PyObject *arguments_tuple(PyObject *const *args, Py_ssize_t count);
void Resolved_drop(Resolved *resolved);

/* Rows of ops: op_row.c. */
typedef struct {
    PyObject *const *values; /* tensors, and None */
    Py_ssize_t count;
    Py_ssize_t tensors; /* how many of the values are tensors */
} Made;
typedef struct {
    int64_t begun_ns; /* when the wrapper was called */
    int64_t start_ns; /* when the op began and ended */
    int64_t end_ns;
    int64_t stack;  /* taken before the op began */
    int64_t flight; /* the op's number in the flight record; 0 for none */
    int64_t call;   /* the op's position in the CallTape; -1 for none */
} OpTimes;
/* Return a list of the arguments that an op without a result has modified. NULL without an
 * exception if Python must find them. */
PyObject *Made_modified(Owner *owner, PyObject *const *args, Py_ssize_t count,
                        const Resolved *resolved);
/* Return a list of the tensors in nested lists. NULL, perhaps with an exception, if Python must
 * find them. */
PyObject *Made_nested(const Owner *owner, PyObject *result);
/* Read an op's result. 0 if it is neither a tensor nor a tuple or list of tensors; then Python
 * reads the result. */
int Made_find(const Owner *owner, PyObject *const *result, Made *made);
/* ``tensors``: one for each tensor of ``made``. Like CallTape_begin. */
int CallTape_end(CallTape *tape, int64_t key, int64_t at, const Made *made,
                 const MadeTensor *tensors);
/* -1 and an exception if it fails. */
int record_op(Owner *owner, int64_t name_key, int is_update, const Resolved *resolved,
              PyObject *result, const Made *made, OpTimes times);
PyObject *present_frame(void); /* borrowed; None if no Python runs */

/* One op in the flight record: flight.c. */
typedef struct {
    int64_t number; /* from 1 on; 0 for an empty row */
    int64_t start_ns;
    int64_t duration_ns; /* -1 while the op runs */
    int32_t name;
    int32_t stack;
    int32_t layer;
    int32_t thread;
} FlightRow;
/* Write that an op begins, and set times->start_ns; -1 and an exception if interrupted. */
int flight_begin(int64_t name, int64_t stack, const ThreadState *state, PyObject *frame,
                 OpTimes *times);
void flight_end(int64_t number, int64_t end_ns);

/* Return the value of an integer and decref it; -1 for NULL, which has set an exception. */
int64_t taken_integer(PyObject *number);

/* A tensor's properties, read without a lookup by name: tensor_properties.c. */
int properties_find(PyTypeObject *tensor_type);
int64_t tensor_version(PyObject *tensor); /* -1 and an exception if it fails */
/* Whether a tensor is dense, and its version: NO_VERSION if sparse. -1 and an exception if it
 * fails.
 */
int64_t tensor_first_version(PyObject *tensor, int *is_dense);
int tensor_stop_gradient(PyObject *tensor);  /* -1 and an exception if it fails */
int tensor_is_persistable(PyObject *tensor); /* -1 and an exception if it fails */
int tensor_is_leaf(PyObject *tensor);        /* -1 and an exception if it fails */
int tensor_is_initialized(PyObject *tensor); /* -1 and an exception if it fails */
int tensor_is_dense(PyObject *tensor);       /* -1 and an exception if it fails */
int64_t tensor_storage(PyObject *tensor);    /* its address; -1 and an exception if it fails */
int64_t tensor_name_key(Owner *owner, PyObject *tensor);  /* -1 and an exception if it fails */
int64_t tensor_shape_key(Owner *owner, PyObject *tensor); /* -1 and an exception if it fails */
int64_t tensor_dtype_key(Owner *owner, PyObject *tensor); /* -1 and an exception if it fails */
int64_t tensor_place_key(Owner *owner, PyObject *tensor); /* -1 and an exception if it fails */
PyObject *tensor_grad_fn(PyObject *tensor); /* leaves a reference too many: capture/grad_fn.py */

/* The address of a tensor's grad node: grad_address.c. */
int grad_address_begin(void);                  /* -1 and an exception if it fails */
int64_t tensor_grad_address(PyObject *tensor); /* 0: none; -1 and an exception if it fails */
int64_t grad_node_address(PyObject *node);     /* -1 and an exception if it fails */

/* A loop over an array, compiled for several kinds of processor: it runs for the one that is there.
 */
#if __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define FOR_THIS_MACHINE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#elif defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define FOR_THIS_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define FOR_THIS_MACHINE
#endif

/* A digest of the elements of an array so far: digest.c. */
typedef struct {
    int is_rounded;
    double scale; /* by which elements are multiplied before they are rounded */
    uint64_t sum, place;
} Digest;
Digest digest_begin(int kind, long decimals);
/* The number of elements must be a multiple of 8, except at the end of the array. */
void digest_more(Digest *digest, const char *data, Py_ssize_t count, int kind);
int64_t digest_end(const Digest *digest, Py_ssize_t count);
extern const int element_bytes[]; /* by kind */

/* For wrappers of functions: they bind like functions, and have attributes: binding.c. */
PyObject *wrapper_bind(PyObject *self, PyObject *instance, PyObject *type);
extern PyGetSetDef wrapper_properties[];

extern PyTypeObject OpFunctionType;
extern PyTypeObject OpMethodType;
extern PyTypeObject LayerCallType;

#endif
