/* Growing arrays, in memory from PyMem. */
#ifndef PADDLE_LAB_GROWING_H
#define PADDLE_LAB_GROWING_H

#include <Python.h>

#define FIRST_CAPACITY 256

typedef struct {
    void *items;
    Py_ssize_t length;
    Py_ssize_t capacity;
} Growing;

/* Return memory for at least ``needed`` items, with the contents of ``items``, and set
 * ``capacity``. NULL and MemoryError if there is no memory; then ``items`` does not change. */
static inline void *grown(void *items, Py_ssize_t *capacity, Py_ssize_t needed, size_t size) {
    if (items != NULL && needed <= *capacity) {
        return items;
    }
    Py_ssize_t larger = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    while (larger < needed) {
        larger *= 2;
    }
    void *moved = PyMem_Realloc(items, (size_t)larger * size);
    if (moved == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    *capacity = larger;
    return moved;
}

/* Append ``count`` uninitialized items and return the first; NULL and MemoryError if it fails. */
static inline void *Growing_add(Growing *array, Py_ssize_t count, size_t size) {
    void *items = grown(array->items, &array->capacity, array->length + count, size);
    if (items == NULL) {
        return NULL;
    }
    array->items = items;
    char *added = (char *)items + (size_t)array->length * size;
    array->length += count;
    return added;
}

static inline void Growing_drop(Growing *array) {
    PyMem_Free(array->items);
    *array = (Growing){0};
}

#endif
