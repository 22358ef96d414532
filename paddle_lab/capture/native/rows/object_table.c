/* A table from objects to numbers. A weak reference detects that an address was reused. */
#include "../native.h"
#include <string.h>

/* Objects are at least 16 bytes apart; the multiplier is 2^64 over the golden ratio. */
static size_t slot_of(uintptr_t identity, Py_ssize_t capacity) {
    return (size_t)(((uint64_t)identity >> 4) * 0x9E3779B97F4A7C15u >> 20) & (size_t)(capacity - 1);
}

static ObjectEntry *entry_of(ObjectEntry *entries, Py_ssize_t capacity, uintptr_t identity) {
    size_t slot = slot_of(identity, capacity);
    while (entries[slot].identity != 0 && entries[slot].identity != identity) {
        slot = (slot + 1) & (size_t)(capacity - 1);
    }
    return &entries[slot];
}

/* The object as a borrowed reference, or None if it has died. */
static PyObject *object_of(PyObject *reference) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *object;
    if (PyWeakref_GetRef(reference, &object) <= 0) {
        return Py_None;
    }
    Py_DECREF(object);
    return object;
#else
    return PyWeakref_GET_OBJECT(reference);
#endif
}

/* Whether an entry is the object's, not that of a dead object at the same address. An object keeps
 * its weak references in a list, and the one without a callback stands first. So the reference
 * itself, which is rarely in the cache, need not be read. */
static int is_entry_of(const ObjectEntry *entry, PyObject *object) {
    const Py_ssize_t offset = Py_TYPE(object)->tp_weaklistoffset;
    return entry->identity != 0 &&
           ((offset > 0 && *(PyObject **)((char *)object + offset) == entry->reference) ||
            object_of(entry->reference) == object);
}

int64_t ObjectTable_find_value(ObjectTable *table, PyObject *object) {
    if (table->capacity == 0) {
        return NO_KEY;
    }
    const ObjectEntry *entry = entry_of(table->entries, table->capacity, (uintptr_t)object);
    return is_entry_of(entry, object) ? entry->value : NO_KEY;
}

static int grow(ObjectTable *table) {
    Py_ssize_t capacity = table->capacity ? table->capacity * 2 : 256;
    ObjectEntry *entries = PyMem_Calloc((size_t)capacity, sizeof(ObjectEntry));
    if (entries == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < table->capacity; i++) {
        if (table->entries[i].identity != 0) {
            *entry_of(entries, capacity, table->entries[i].identity) = table->entries[i];
        }
    }
    PyMem_Free(table->entries);
    table->entries = entries;
    table->capacity = capacity;
    return 0;
}

int ObjectTable_note_value(ObjectTable *table, PyObject *object, int64_t value) {
    if (ObjectTable_find_value(table, object) != NO_KEY) {
        entry_of(table->entries, table->capacity, (uintptr_t)object)->value = value;
        return 0;
    }
    /* Do this first: making an object may run the garbage collector, and so code that uses this. */
    PyObject *reference = PyWeakref_NewRef(object, NULL);
    if (reference == NULL || (table->used * 3 >= table->capacity * 2 && grow(table) < 0)) {
        Py_XDECREF(reference);
        return -1;
    }
    ObjectEntry *entry = entry_of(table->entries, table->capacity, (uintptr_t)object);
    PyObject *before = entry->reference;
    table->used += entry->identity == 0;
    *entry = (ObjectEntry){(uintptr_t)object, reference, value};
    Py_XDECREF(before);
    return 0;
}

static PyObject *find(PyObject *self, PyObject *object) {
    return PyLong_FromLongLong(ObjectTable_find_value((ObjectTable *)self, object));
}

static PyObject *note(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "note() takes an object and its number");
        return NULL;
    }
    int64_t value = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred() || ObjectTable_note_value((ObjectTable *)self, args[0], value) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *living(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    ObjectTable *table = (ObjectTable *)self;
    PyObject *found = PyList_New(0);
    for (Py_ssize_t i = 0; found != NULL && i < table->capacity; i++) {
        ObjectEntry *entry = &table->entries[i];
        PyObject *object = entry->identity ? object_of(entry->reference) : Py_None;
        if (object == Py_None) {
            continue;
        }
        PyObject *pair = Py_BuildValue("(OL)", object, (long long)entry->value);
        if (pair == NULL || PyList_Append(found, pair) < 0) {
            Py_CLEAR(found);
        }
        Py_XDECREF(pair);
    }
    return found;
}

static PyObject *living_numbers(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    const ObjectTable *table = (const ObjectTable *)self;
    const Py_ssize_t width = (Py_ssize_t)sizeof(int64_t);
    PyObject *numbers = PyBytes_FromStringAndSize(NULL, table->used * width);
    char *end = numbers == NULL ? NULL : PyBytes_AS_STRING(numbers);
    for (Py_ssize_t i = 0; numbers != NULL && i < table->capacity; i++) {
        const ObjectEntry *entry = &table->entries[i];
        if (entry->identity != 0 && object_of(entry->reference) != Py_None) {
            memcpy(end, &entry->value, sizeof entry->value);
            end += width;
        }
    }
    if (numbers != NULL) {
        _PyBytes_Resize(&numbers, end - PyBytes_AS_STRING(numbers));
    }
    return numbers;
}

static void dealloc(PyObject *self) {
    ObjectTable *table = (ObjectTable *)self;
    for (Py_ssize_t i = 0; i < table->capacity; i++) {
        Py_XDECREF(table->entries[i].reference);
    }
    PyMem_Free(table->entries);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"find", find, METH_O, "Return the number noted for an object, or -1."},
    {"note", (PyCFunction)(void (*)(void))note, METH_FASTCALL, "Note an object's number."},
    {"living", living, METH_NOARGS, "Return the objects that are still alive, and their numbers."},
    {"living_numbers", living_numbers, METH_NOARGS,
     "Return the numbers of the objects that are still alive, 8 bytes each."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject ObjectTableType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.ObjectTable",
    .tp_basicsize = sizeof(ObjectTable),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
};
