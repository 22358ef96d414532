/* A table from an address and an op to a number. */
#include "../native.h"

static size_t slot_of(int64_t address, int64_t op, Py_ssize_t capacity) {
    uint64_t hash = ((uint64_t)address >> 4) ^ ((uint64_t)op * 0xC2B2AE3D27D4EB4Fu);
    return (size_t)(hash * 0x9E3779B97F4A7C15u >> 20) & (size_t)(capacity - 1);
}

static AddressEntry *entry_of(const AddressTable *table, int64_t address, int64_t op) {
    size_t slot = slot_of(address, op, table->capacity);
    AddressEntry *entry = &table->entries[slot];
    while (entry->address != 0 && (entry->address != address || entry->op != op)) {
        slot = (slot + 1) & (size_t)(table->capacity - 1);
        entry = &table->entries[slot];
    }
    return entry;
}

int64_t AddressTable_get(const AddressTable *table, int64_t address, int64_t op) {
    if (table->capacity == 0) {
        return NO_KEY;
    }
    const AddressEntry *entry = entry_of(table, address, op);
    return entry->address == 0 ? NO_KEY : entry->number;
}

static int grow(AddressTable *table) {
    const Py_ssize_t before = table->capacity, capacity = before ? before * 2 : 256;
    AddressEntry *old = table->entries;
    AddressEntry *entries = PyMem_Calloc((size_t)capacity, sizeof(AddressEntry));
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    table->entries = entries;
    table->capacity = capacity;
    for (Py_ssize_t i = 0; i < before; i++) {
        if (old[i].address != 0) {
            *entry_of(table, old[i].address, old[i].op) = old[i];
        }
    }
    PyMem_Free(old);
    return 0;
}

int AddressTable_set(AddressTable *table, int64_t address, int64_t op, int64_t number) {
    if (table->used * 3 >= table->capacity * 2 && grow(table) < 0) {
        return -1;
    }
    AddressEntry *entry = entry_of(table, address, op);
    table->used += entry->address == 0;
    *entry = (AddressEntry){address, op, number};
    return 0;
}

void AddressTable_clear(AddressTable *table) {
    PyMem_Free(table->entries);
    table->entries = NULL;
    table->used = table->capacity = 0;
}

static PyObject *find(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "find() takes an address and an op");
        return NULL;
    }
    const int64_t address = PyLong_AsLongLong(args[0]), op = PyLong_AsLongLong(args[1]);
    return PyErr_Occurred()
               ? NULL
               : PyLong_FromLongLong(AddressTable_get((AddressTable *)self, address, op));
}

static PyObject *note(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "note() takes an address, an op and a number");
        return NULL;
    }
    const int64_t address = PyLong_AsLongLong(args[0]), op = PyLong_AsLongLong(args[1]);
    const int64_t number = PyLong_AsLongLong(args[2]);
    if (PyErr_Occurred() || AddressTable_set((AddressTable *)self, address, op, number) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *drop(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    AddressTable *table = (AddressTable *)self;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "drop() takes an address and an op");
        return NULL;
    }
    const int64_t address = PyLong_AsLongLong(args[0]), op = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    AddressEntry *entry = table->capacity == 0 ? NULL : entry_of(table, address, op);
    if (entry == NULL || entry->address == 0) {
        Py_RETURN_NONE;
    }
    /* Fill the gap: move up later entries that were not stored in their own slot. */
    const size_t mask = (size_t)(table->capacity - 1);
    size_t hole = (size_t)(entry - table->entries), slot = hole;
    for (;;) {
        slot = (slot + 1) & mask;
        const AddressEntry *next = &table->entries[slot];
        if (next->address == 0) {
            break;
        }
        const size_t home = slot_of(next->address, next->op, table->capacity);
        if (((slot - home) & mask) >= ((slot - hole) & mask)) {
            table->entries[hole] = *next;
            hole = slot;
        }
    }
    table->entries[hole] = (AddressEntry){0, 0, 0};
    table->used--;
    Py_RETURN_NONE;
}

static Py_ssize_t length(PyObject *self) { return ((AddressTable *)self)->used; }

static void dealloc(PyObject *self) {
    PyMem_Free(((AddressTable *)self)->entries);
    Py_TYPE(self)->tp_free(self);
}

static PySequenceMethods sequence = {.sq_length = length};
static PyMethodDef methods[] = {
    {"find", (PyCFunction)(void (*)(void))find, METH_FASTCALL, "Return the number noted, or -1."},
    {"note", (PyCFunction)(void (*)(void))note, METH_FASTCALL, "Note a number."},
    {"drop", (PyCFunction)(void (*)(void))drop, METH_FASTCALL, "Forget a number."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject AddressTableType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.AddressTable",
    .tp_basicsize = sizeof(AddressTable),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_as_sequence = &sequence,
};
