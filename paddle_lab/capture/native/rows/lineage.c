/* The op that made a tensor, and the op's inputs: capture/rows/lineage.py in C. */
#include "../native.h"
#include <string.h>

/* Positions of rows, sorted by key. Most keys are consecutive. */
typedef struct {
    int64_t key;
    int64_t position;
} Place;
typedef struct {
    Place *places;
    Py_ssize_t length;
    Py_ssize_t capacity;
    int64_t start;   /* the tape's start when it was indexed */
    int64_t indexed; /* the position up to which rows are indexed */
} Index;

struct Lineage {
    PyObject_HEAD Tape *ops;
    Tape *tensors;
    Index op_index;
    Index tensor_index;
    AddressTable rows_at;
};

static int append(Index *index, int64_t key, int64_t position) {
    if (index->length == index->capacity) {
        Py_ssize_t capacity = index->capacity ? index->capacity * 2 : 1024;
        Place *places = PyMem_Realloc(index->places, (size_t)capacity * sizeof(Place));
        if (places == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        index->places = places;
        index->capacity = capacity;
    }
    /* Rows are in the order of their keys, except if several threads write them. */
    Py_ssize_t at = index->length++;
    for (; at > 0 && index->places[at - 1].key > key; at--) {
        index->places[at] = index->places[at - 1];
    }
    index->places[at] = (Place){key, position};
    return 0;
}

/* The cells of the row with a key, NULL if there is none. */
static const int64_t *row_of(const Index *index, const Tape *tape, int64_t key) {
    if (index->length == 0 || key < index->places[0].key) {
        return NULL;
    }
    Py_ssize_t low = 0, high = index->length;
    const int64_t likely = key - index->places[0].key;
    if (likely < index->length && index->places[likely].key == key) {
        low = (Py_ssize_t)likely;
    } else {
        while (low < high) {
            const Py_ssize_t middle = low + (high - low) / 2;
            if (index->places[middle].key < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == index->length || index->places[low].key != key) {
            return NULL;
        }
    }
    return tape->cells + (index->places[low].position - tape->start);
}

static void begin(Index *index, const Tape *tape) {
    index->length = 0;
    index->start = index->indexed = tape->start;
}

/* Index the new rows of the tapes; -1 and an exception if it fails. */
static int update(Lineage *self) {
    const Tape *ops = self->ops, *tensors = self->tensors;
    if (self->op_index.start != ops->start || self->tensor_index.start != tensors->start) {
        begin(&self->op_index, ops);
        begin(&self->tensor_index, tensors);
        AddressTable_clear(&self->rows_at);
    }
    Index *index = &self->op_index;
    while (index->indexed - ops->start < ops->length) {
        const int64_t *row = ops->cells + (index->indexed - ops->start);
        if (append(index, row[OP_KEY], index->indexed) < 0) {
            return -1;
        }
        index->indexed += OP_CELLS + row[OP_INPUT_CELLS] + row[OP_OUTPUTS];
    }
    index = &self->tensor_index;
    while (index->indexed - tensors->start < tensors->length) {
        const int64_t *row = tensors->cells + (index->indexed - tensors->start);
        if (append(index, row[TENSOR_KEY], index->indexed) < 0 ||
            (row[TENSOR_GRAD_NODE] != 0 &&
             AddressTable_set(&self->rows_at, row[TENSOR_GRAD_NODE], 0, row[TENSOR_KEY]) < 0)) {
            return -1;
        }
        index->indexed += TENSOR_CELLS;
    }
    return 0;
}

static const int64_t *op_row(const Lineage *self, int64_t op) {
    return op == NO_KEY ? NULL : row_of(&self->op_index, self->ops, op);
}

static int64_t address_of(const Lineage *self, int64_t tensor) {
    const int64_t *row = row_of(&self->tensor_index, self->tensors, tensor);
    return row == NULL ? 0 : row[TENSOR_GRAD_NODE];
}

static int64_t find_maker(const Lineage *self, int64_t *tensor) {
    const int64_t *row = row_of(&self->tensor_index, self->tensors, *tensor);
    const int64_t address = row == NULL ? 0 : row[TENSOR_GRAD_NODE];
    if (address == 0) {
        return NO_KEY;
    }
    for (;;) {
        const int64_t producer = row[TENSOR_PRODUCER];
        const int64_t *op = op_row(self, producer);
        int64_t same = NO_KEY;
        for (int64_t i = 1; op != NULL && i < op[OP_INPUT_CELLS] && same == NO_KEY; i += 2) {
            if (address_of(self, op[OP_CELLS + i]) == address) {
                same = op[OP_CELLS + i];
            }
        }
        if (same == NO_KEY || same >= *tensor) {
            return producer;
        }
        *tensor = same;
        row = row_of(&self->tensor_index, self->tensors, same);
    }
}

int Lineage_sources(Lineage *self, int64_t op, Sources *sources) {
    if (update(self) < 0) {
        return -1;
    }
    const int64_t *row = op_row(self, op);
    const int64_t count = row == NULL ? 0 : row[OP_INPUT_CELLS];
    const Py_ssize_t most = sources->length + (Py_ssize_t)count / 2;
    if (most > sources->capacity) {
        Source *larger = PyMem_Realloc(sources->sources, (size_t)most * sizeof(Source));
        if (larger == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        sources->sources = larger;
        sources->capacity = most;
    }
    for (int64_t i = 1; i < count; i += 2) {
        const int64_t tensor = row[OP_CELLS + i], address = address_of(self, tensor);
        if (address != 0) {
            sources->sources[sources->length++] = (Source){address, tensor};
        }
    }
    return 0;
}

int Lineage_maker(Lineage *self, int64_t tensor, int64_t *op) {
    if (update(self) < 0) {
        return -1;
    }
    *op = find_maker(self, &tensor);
    return 0;
}

/* Read a key and update the index; 0 and an exception if it fails. */
static int take_key(Lineage *self, PyObject *number, int64_t *key) {
    *key = PyLong_AsLongLong(number);
    return !PyErr_Occurred() && update(self) == 0;
}

static PyObject *inputs(PyObject *object, PyObject *number) {
    Lineage *self = (Lineage *)object;
    int64_t key;
    if (!take_key(self, number, &key)) {
        return NULL;
    }
    const int64_t *row = op_row(self, key);
    const Py_ssize_t count = row == NULL ? 0 : (Py_ssize_t)row[OP_INPUT_CELLS];
    const int64_t position = row == NULL ? 0 : row - self->ops->cells;
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *cell = PyLong_FromLongLong(self->ops->cells[position + OP_CELLS + i]);
        if (cell == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, cell);
    }
    return list;
}

static PyObject *name_key(PyObject *object, PyObject *number) {
    Lineage *self = (Lineage *)object;
    int64_t key;
    if (!take_key(self, number, &key)) {
        return NULL;
    }
    const int64_t *row = op_row(self, key);
    return PyLong_FromLongLong(row == NULL ? NO_KEY : row[OP_NAME]);
}

static PyObject *grad_address(PyObject *object, PyObject *number) {
    Lineage *self = (Lineage *)object;
    int64_t key;
    return take_key(self, number, &key) ? PyLong_FromLongLong(address_of(self, key)) : NULL;
}

static PyObject *row_at(PyObject *object, PyObject *number) {
    Lineage *self = (Lineage *)object;
    int64_t address;
    return take_key(self, number, &address)
               ? PyLong_FromLongLong(address == 0 ? NO_KEY
                                                  : AddressTable_get(&self->rows_at, address, 0))
               : NULL;
}

static PyObject *maker(PyObject *object, PyObject *number) {
    Lineage *self = (Lineage *)object;
    int64_t tensor;
    if (!take_key(self, number, &tensor)) {
        return NULL;
    }
    const int64_t op = find_maker(self, &tensor);
    return Py_BuildValue("(LL)", (long long)op, (long long)tensor);
}

static PyObject *upstream(PyObject *object, PyObject *number) {
    Lineage *self = (Lineage *)object;
    int64_t key;
    if (!take_key(self, number, &key)) {
        return NULL;
    }
    const int64_t *row = op_row(self, key);
    const int64_t position = row == NULL ? 0 : row - self->ops->cells;
    const int64_t count = row == NULL ? 0 : row[OP_INPUT_CELLS];
    PyObject *found = PyDict_New();
    for (int64_t i = 1; found != NULL && i < count; i += 2) {
        /* Making objects may run Python code, which may reallocate the tape. */
        const int64_t tensor = self->ops->cells[position + OP_CELLS + i];
        const int64_t address = address_of(self, tensor);
        if (address == 0) {
            continue;
        }
        int64_t made_with = tensor;
        const int64_t op = find_maker(self, &made_with);
        PyObject *source = Py_BuildValue("(LL)", (long long)op, (long long)tensor);
        PyObject *at = source == NULL ? NULL : PyLong_FromLongLong(address);
        if (at == NULL || PyDict_SetItem(found, at, source) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(at);
        Py_XDECREF(source);
    }
    return found;
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *ops, *tensors;
    if (!PyArg_ParseTuple(args, "O!O!", &TapeType, &ops, &TapeType, &tensors)) {
        return NULL;
    }
    Lineage *self = (Lineage *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->ops = (Tape *)Py_NewRef(ops);
        self->tensors = (Tape *)Py_NewRef(tensors);
        begin(&self->op_index, self->ops);
        begin(&self->tensor_index, self->tensors);
    }
    return (PyObject *)self;
}

static void dealloc(PyObject *object) {
    Lineage *self = (Lineage *)object;
    Py_XDECREF(self->ops);
    Py_XDECREF(self->tensors);
    PyMem_Free(self->op_index.places);
    PyMem_Free(self->tensor_index.places);
    AddressTable_clear(&self->rows_at);
    Py_TYPE(object)->tp_free(object);
}

static PyMethodDef methods[] = {
    {"inputs", inputs, METH_O, "Return argument position and tensor of an op's inputs in turn."},
    {"name_key", name_key, METH_O, "Return the key of an op's name, -1 for no op."},
    {"grad_address", grad_address, METH_O, "Return the address of a row's grad node, or 0."},
    {"row_at", row_at, METH_O, "Return the latest row that came with a grad node, or -1."},
    {"maker", maker, METH_O, "Return the op that made a row's grad node, and with which row."},
    {"upstream", upstream, METH_O, "Return where gradients of an op's inputs go."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject LineageType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.Lineage",
    .tp_basicsize = sizeof(Lineage),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
};
