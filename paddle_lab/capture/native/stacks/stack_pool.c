/* Python stacks, deduplicated as soon as they are taken. */
#include "../native.h"
#include <string.h>

#define SHORT_STACK 64 /* signatures of up to this many frames need no allocation */

static uint64_t hash_of(const int64_t *signature, Py_ssize_t length) {
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (Py_ssize_t i = 0; i < length; i++) {
        hash = (hash ^ (uint64_t)signature[i]) * 0xFF51AFD7ED558CCDu;
        hash ^= hash >> 32;
    }
    return hash;
}

static StackEntry *entry_of(StackPool *pool, uint64_t hash, const int64_t *signature,
                            Py_ssize_t length) {
    size_t mask = (size_t)(pool->capacity - 1);
    size_t slot = (size_t)hash & mask;
    for (;; slot = (slot + 1) & mask) {
        StackEntry *entry = &pool->entries[slot];
        if (entry->start < 0 || (entry->hash == hash && entry->length == length &&
                                 memcmp(pool->arena + entry->start, signature,
                                        (size_t)length * sizeof(int64_t)) == 0)) {
            return entry;
        }
    }
}

static int grow(StackPool *pool) {
    Py_ssize_t before = pool->capacity, capacity = before ? before * 2 : 256;
    StackEntry *old = pool->entries;
    StackEntry *entries = PyMem_Malloc((size_t)capacity * sizeof(StackEntry));
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < capacity; i++) {
        entries[i].start = -1;
    }
    pool->entries = entries;
    pool->capacity = capacity;
    for (Py_ssize_t i = 0; i < before; i++) {
        if (old[i].start >= 0) {
            *entry_of(pool, old[i].hash, pool->arena + old[i].start, old[i].length) = old[i];
        }
    }
    PyMem_Free(old);
    return 0;
}

/* Hold a new stack's code objects, so that their addresses are not reused. Make no object that the
 * garbage collector tracks: a collection would run code that may take stacks. */
static int hold_codes(StackPool *pool, const int64_t *signature, Py_ssize_t length) {
    for (Py_ssize_t i = 1; i < length; i += 2) {
        PyObject *code =
            (PyObject *)(intptr_t)signature[i]; /* its frame or the caller has a reference */
        PyObject *identity = PyLong_FromVoidPtr(code);
        if (identity == NULL || PyDict_SetDefault(pool->codes, identity, code) == NULL) {
            Py_XDECREF(identity);
            return -1;
        }
        Py_DECREF(identity);
    }
    return 0;
}

static int64_t define(StackPool *pool, uint64_t hash, const int64_t *signature, Py_ssize_t length) {
    if (hold_codes(pool, signature, length) < 0) {
        return -1;
    }
    if (pool->arena_length + length > pool->arena_capacity) {
        const Py_ssize_t capacity = (pool->arena_capacity + length) * 2;
        int64_t *arena = PyMem_Realloc(pool->arena, (size_t)capacity * sizeof(int64_t));
        if (arena == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        pool->arena = arena;
        pool->arena_capacity = capacity;
    }
    memcpy(pool->arena + pool->arena_length, signature, (size_t)length * sizeof(int64_t));
    const int64_t key = pool->used;
    StackEntry *entry = entry_of(pool, hash, signature, length);
    *entry = (StackEntry){hash, pool->arena_length, length, key};
    pool->arena_length += length;
    pool->used++;
    return key;
}

static int64_t key_of_signature(StackPool *pool, const int64_t *signature, Py_ssize_t length) {
    if (pool->used * 3 >= pool->capacity * 2 && grow(pool) < 0) {
        return -1;
    }
    const uint64_t hash = hash_of(signature, length);
    const StackEntry *entry = entry_of(pool, hash, signature, length);
    return entry->start >= 0 ? entry->key : define(pool, hash, signature, length);
}

int64_t StackPool_key_of(StackPool *pool, PyObject *frame, PyObject *anchor, int64_t anchor_stack) {
    int64_t few[1 + 2 * SHORT_STACK];
    int64_t *signature = few;
    Py_ssize_t length = 1, capacity = 1 + 2 * SHORT_STACK;
    signature[0] = anchor_stack;
    PyObject *at = Py_NewRef(frame);
    while (at != Py_None && at != anchor) {
        if (length + 2 > capacity) {
            capacity *= 2;
            int64_t *longer = PyMem_Malloc((size_t)capacity * sizeof(int64_t));
            if (longer == NULL) {
                PyErr_NoMemory();
                break;
            }
            memcpy(longer, signature, (size_t)length * sizeof(int64_t));
            if (signature != few) {
                PyMem_Free(signature);
            }
            signature = longer;
        }
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)at);
        signature[length++] = (int64_t)(intptr_t)code;
        signature[length++] = frame_lasti(at);
        Py_DECREF(code); /* the frame still has a reference */
        PyObject *back = (PyObject *)PyFrame_GetBack((PyFrameObject *)at);
        Py_SETREF(at, back != NULL ? back : Py_NewRef(Py_None));
    }
    if (at != anchor) { /* for example, a coroutine that another frame resumed */
        signature[0] = NO_KEY;
    }
    Py_DECREF(at);
    int64_t key = PyErr_Occurred() ? -1 : key_of_signature(pool, signature, length);
    if (signature != few) {
        PyMem_Free(signature);
    }
    return key;
}

static PyObject *take(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "take() takes a frame, an anchor and the anchor's stack");
        return NULL;
    }
    int64_t anchor_stack = PyLong_AsLongLong(args[2]);
    if (anchor_stack == -1 && PyErr_Occurred()) {
        return NULL;
    }
    int64_t key = StackPool_key_of((StackPool *)self, args[0], args[1], anchor_stack);
    return key < 0 && PyErr_Occurred() ? NULL : PyLong_FromLongLong(key);
}

static PyObject *put(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 3 || !PyCode_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "put() takes code, an offset and the caller's stack");
        return NULL;
    }
    const int64_t offset = PyLong_AsLongLong(args[1]);
    const int64_t caller_stack = PyErr_Occurred() ? -1 : PyLong_AsLongLong(args[2]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    const int64_t signature[] = {caller_stack, (int64_t)(intptr_t)args[0], offset};
    int64_t key = key_of_signature((StackPool *)self, signature, 3);
    return key < 0 && PyErr_Occurred() ? NULL : PyLong_FromLongLong(key);
}

static PyObject *new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs)) {
    StackPool *pool = (StackPool *)type->tp_alloc(type, 0);
    if (pool != NULL && (pool->codes = PyDict_New()) == NULL) {
        Py_CLEAR(pool);
    }
    return (PyObject *)pool;
}

static void dealloc(PyObject *self) {
    StackPool *pool = (StackPool *)self;
    PyMem_Free(pool->entries);
    PyMem_Free(pool->arena);
    Py_XDECREF(pool->codes);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *taken(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    StackPool *pool = (StackPool *)self;
    const Py_ssize_t width = (Py_ssize_t)sizeof(int64_t);
    const char *arena = pool->arena_length ? (const char *)pool->arena : "";
    PyObject *starts = PyBytes_FromStringAndSize(NULL, (pool->used + 1) * width);
    PyObject *cells = PyBytes_FromStringAndSize(arena, pool->arena_length * width);
    if (starts == NULL || cells == NULL) {
        Py_XDECREF(starts);
        Py_XDECREF(cells);
        return NULL;
    }
    char *start = PyBytes_AS_STRING(starts);
    for (Py_ssize_t i = 0; i < pool->capacity; i++) {
        const StackEntry *entry = &pool->entries[i];
        if (entry->start >= 0) {
            const int64_t position = entry->start;
            memcpy(start + entry->key * width, &position, sizeof position);
        }
    }
    const int64_t end = pool->arena_length;
    memcpy(start + pool->used * width, &end, sizeof end);
    return Py_BuildValue("(NN)", cells, starts);
}

static PyObject *get_codes(PyObject *self, void *Py_UNUSED(closure)) {
    return Py_NewRef(((StackPool *)self)->codes);
}

static PyGetSetDef properties[] = {
    {"codes", get_codes, NULL, "The code objects that stacks pass through, by id.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef methods[] = {
    {"take", (PyCFunction)(void (*)(void))take, METH_FASTCALL,
     "Return the key of the stack from a frame out to, and without, an anchor."},
    {"put", (PyCFunction)(void (*)(void))put, METH_FASTCALL,
     "Return the key of a stack for code without a frame, below its caller's stack."},
    {"taken", taken, METH_NOARGS, "Return all stacks by key, and where each begins."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject StackPoolType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.StackPool",
    .tp_basicsize = sizeof(StackPool),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_getset = properties,
};
