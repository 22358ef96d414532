/* Pairs of integers, numbered in the order of their first use. */
#include "native.h"
#include <string.h>

typedef struct {
    int64_t first, second;
} Pair;
typedef struct {
    PyObject_HEAD Pair *pairs; /* by number; there is room for two of three slots */
    int64_t *slots;            /* numbers; -1: free */
    Py_ssize_t used;
    Py_ssize_t capacity; /* a power of two */
} PairTable;

static size_t slot_of(const PairTable *table, int64_t first, int64_t second) {
    uint64_t hash = (uint64_t)first * 0x9E3779B97F4A7C15u;
    hash = (hash ^ (hash >> 29) ^ (uint64_t)second) * 0xFF51AFD7ED558CCDu;
    const size_t mask = (size_t)(table->capacity - 1);
    size_t slot = (size_t)(hash >> 20) & mask;
    for (int64_t number; (number = table->slots[slot]) >= 0; slot = (slot + 1) & mask) {
        if (table->pairs[number].first == first && table->pairs[number].second == second) {
            break;
        }
    }
    return slot;
}

static int grow(PairTable *table) {
    const Py_ssize_t capacity = table->capacity ? table->capacity * 2 : 256;
    Pair *pairs = PyMem_Realloc(table->pairs, (size_t)(capacity * 2 / 3 + 1) * sizeof(Pair));
    if (pairs != NULL) {
        table->pairs = pairs;
    }
    int64_t *slots = pairs == NULL ? NULL : PyMem_Malloc((size_t)capacity * sizeof(int64_t));
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(slots, -1, (size_t)capacity * sizeof(int64_t));
    PyMem_Free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    for (int64_t number = 0; number < table->used; number++) {
        slots[slot_of(table, pairs[number].first, pairs[number].second)] = number;
    }
    return 0;
}

static int64_t number_of(PairTable *table, int64_t first, int64_t second) {
    if (table->used * 3 >= table->capacity * 2 && grow(table) < 0) {
        return -1;
    }
    const size_t slot = slot_of(table, first, second);
    if (table->slots[slot] < 0) {
        table->pairs[table->used] = (Pair){first, second};
        table->slots[slot] = table->used++;
    }
    return table->slots[slot];
}

static PyObject *number(PyObject *self, PyObject *args) {
    Py_buffer first, second;
    if (!PyArg_ParseTuple(args, "y*y*", &first, &second)) {
        return NULL;
    }
    PyObject *numbers = NULL;
    if (first.len != second.len) {
        PyErr_SetString(PyExc_ValueError, "a pair has a first and a second");
    } else if ((numbers = PyBytes_FromStringAndSize(NULL, first.len)) != NULL) {
        const int64_t *left = first.buf, *right = second.buf;
        char *target = PyBytes_AS_STRING(numbers);
        for (Py_ssize_t i = 0; i < first.len / (Py_ssize_t)sizeof(int64_t); i++) {
            const int64_t found = number_of((PairTable *)self, left[i], right[i]);
            if (found < 0) {
                Py_CLEAR(numbers);
                break;
            }
            memcpy(target + i * (Py_ssize_t)sizeof found, &found, sizeof found);
        }
    }
    PyBuffer_Release(&first);
    PyBuffer_Release(&second);
    return numbers;
}

/* Number the pairs along chains; -1 and an exception where it fails. */
static int follow(PairTable *table, Py_buffer *const given, const Py_buffer *ends) {
    const int64_t *chains = given[0].buf, *befores = given[1].buf, *starts = given[2].buf;
    const int64_t *links = given[3].buf;
    int64_t *found = ends->buf;
    const int64_t width = (int64_t)sizeof(int64_t);
    const int64_t count = given[0].len / width, all = ends->len / width;
    const int64_t link_count = given[3].len / width;
    if (given[1].len != given[0].len || given[2].len != given[0].len + width) {
        PyErr_SetString(PyExc_ValueError, "each chain begins somewhere and has a first link");
        return -1;
    }
    for (int64_t i = 0; i < count; i++) {
        if (chains[i] < 0 || chains[i] >= all || befores[i] >= all || starts[i] < 0 ||
            starts[i + 1] < starts[i] || starts[i + 1] > link_count) {
            PyErr_SetString(PyExc_IndexError, "there is no such chain or link");
            return -1;
        }
        int64_t number = befores[i] < 0 ? NO_KEY : found[befores[i]];
        for (int64_t at = starts[i]; at < starts[i + 1]; at++) {
            number = number_of(table, links[at], number);
            if (number < 0) {
                return -1;
            }
        }
        found[chains[i]] = number;
    }
    return 0;
}

static PyObject *chain(PyObject *self, PyObject *args) {
    Py_buffer given[4], ends;
    if (!PyArg_ParseTuple(args, "y*y*y*y*w*", &given[0], &given[1], &given[2], &given[3], &ends)) {
        return NULL;
    }
    const int failed = follow((PairTable *)self, given, &ends) < 0;
    for (int i = 0; i < 4; i++) {
        PyBuffer_Release(&given[i]);
    }
    PyBuffer_Release(&ends);
    if (failed) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *to_bytes(PyObject *self, PyObject *Py_UNUSED(nothing)) {
    PairTable *table = (PairTable *)self;
    const char *pairs = table->used ? (const char *)table->pairs : "";
    return PyBytes_FromStringAndSize(pairs, table->used * (Py_ssize_t)sizeof(Pair));
}

static Py_ssize_t length(PyObject *self) { return ((PairTable *)self)->used; }

static PyObject *new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs)) {
    return type->tp_alloc(type, 0);
}

static void dealloc(PyObject *self) {
    PyMem_Free(((PairTable *)self)->pairs);
    PyMem_Free(((PairTable *)self)->slots);
    Py_TYPE(self)->tp_free(self);
}

static PySequenceMethods sequence = {.sq_length = length};
static PyMethodDef methods[] = {
    {"number", number, METH_VARARGS, "Return the number of each pair, 8 bytes each."},
    {"chain", chain, METH_VARARGS, "Number the pairs along chains."},
    {"to_bytes", to_bytes, METH_NOARGS, "Return the pairs by number, 16 bytes each."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject PairTableType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.PairTable",
    .tp_basicsize = sizeof(PairTable),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_as_sequence = &sequence,
};
