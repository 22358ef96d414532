/* Memory of objects that other libraries made, copied without trusting that it is there. */
#include "native.h"
#include <string.h>
#if defined(__linux__)
#include <sys/uio.h>
#include <unistd.h>
#endif

int foreign_copied(int64_t address, void *here, Py_ssize_t size) {
#if defined(__linux__)
    struct iovec to = {here, (size_t)size}, from = {(void *)(intptr_t)address, (size_t)size};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
#else
    (void)address, (void)here, (void)size;
    return 0;
#endif
}

/* The system takes as long for a word as for a page, so whole pages are copied and kept. */
#define BLOCK_BITS 12
#define BLOCK_BYTES ((int64_t)1 << BLOCK_BITS)

int ForeignBlocks_copy(ForeignBlocks *blocks, int64_t address, void *here, Py_ssize_t size) {
    if (address <= 0 || size < 0 || address > INT64_MAX - size) {
        return 0;
    }
    char *next = here;
    while (size > 0) {
        const int64_t number = address >> BLOCK_BITS, first = number << BLOCK_BITS;
        const int64_t left = first + BLOCK_BYTES - address;
        const Py_ssize_t part = size < left ? size : (Py_ssize_t)left;
        ForeignBlock *block = &blocks->blocks[number % FOREIGN_BLOCKS];
        if (block->bytes == NULL && (block->bytes = PyMem_Malloc((size_t)BLOCK_BYTES)) == NULL) {
            return 0;
        }
        if (block->number != number) {
            block->number = foreign_copied(first, block->bytes, BLOCK_BYTES) ? number : 0;
        }
        if (block->number == number) {
            memcpy(next, block->bytes + (address - first), (size_t)part);
        } else if (!foreign_copied(address, next, part)) { /* not all of the block is there */
            return 0;
        }
        next += part;
        address += part;
        size -= part;
    }
    return 1;
}

/* Kept for the next who asks, for fresh memory takes longer than what is done with it. */
static ForeignBlocks *spare;

ForeignBlocks *ForeignBlocks_take(void) {
    ForeignBlocks *blocks = spare;
    spare = NULL;
    if (blocks == NULL) {
        return PyMem_Calloc(1, sizeof(ForeignBlocks));
    }
    for (Py_ssize_t i = 0; i < FOREIGN_BLOCKS; i++) {
        blocks->blocks[i].number = 0;
    }
    return blocks;
}

void ForeignBlocks_give_back(ForeignBlocks *blocks) {
    if (blocks == NULL) {
        return;
    }
    if (spare == NULL) {
        spare = blocks;
        return;
    }
    for (Py_ssize_t i = 0; i < FOREIGN_BLOCKS; i++) {
        PyMem_Free(blocks->blocks[i].bytes);
    }
    PyMem_Free(blocks);
}

/* pybind11 keeps the address of the C++ object right behind the head of its Python object. */
int64_t foreign_address(PyObject *object) {
    if (Py_TYPE(object)->tp_basicsize < (Py_ssize_t)sizeof(PyObject) * 2) {
        return 0;
    }
    void *held;
    memcpy(&held, (char *)object + sizeof(PyObject), sizeof held);
    return (int64_t)(intptr_t)held;
}

PyObject *held_address(PyObject *Py_UNUSED(module), PyObject *object) {
    return PyLong_FromLongLong(foreign_address(object));
}

PyObject *copied_memory(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 2) {
        return PyErr_Format(PyExc_TypeError, "copied_memory() takes an address and a size");
    }
    const int64_t address = PyLong_AsLongLong(args[0]);
    const Py_ssize_t size = PyErr_Occurred() ? -1 : PyLong_AsSsize_t(args[1]);
    if (size < 0) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "a size is not negative");
    }
    PyObject *copy = PyBytes_FromStringAndSize(NULL, size);
    if (copy == NULL) {
        return NULL;
    }
    /* In parts, for what lies behind an object may end anywhere. */
    const Py_ssize_t part = 64;
    Py_ssize_t copied = 0;
    while (copied < size) {
        const Py_ssize_t next = size - copied < part ? size - copied : part;
        if (!foreign_copied(address + copied, PyBytes_AS_STRING(copy) + copied, next)) {
            break;
        }
        copied += next;
    }
    return copied < size && _PyBytes_Resize(&copy, copied) < 0 ? NULL : copy;
}
