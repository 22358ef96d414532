/* A 64-bit digest of an array: capture/evidence/values/digest.py. */
#include "../native.h"
#include <math.h>
#include <string.h>

#define STEP 0x9e3779b97f4a7c15u
#define FIRST 0xbf58476d1ce4e5b9u
#define SECOND 0x94d049bb133111ebu
#define MANY_BYTES 65536  /* from this size on the GIL is released */
#define LARGEST 0x1p62    /* rounded values beyond it count as this value */
#define NOT_A_NUMBER (-1) /* cannot be a multiple of two, as all rounded values are */

static const int ITEM_BYTES[] = {2, 2, 4, 8, 8, 16, 1, 1, 1, 2, 4, 8}; /* by kind */

static uint64_t mixed(uint64_t word, uint64_t place) {
    word = (word ^ place) * FIRST;
    return (word ^ word >> 32) * SECOND;
}

static uint64_t digest_bytes(const char *data, Py_ssize_t size) {
    uint64_t sum = 0, place = STEP, word;
    Py_ssize_t at = 0;
    for (; at + 8 <= size; at += 8, place += STEP) {
        memcpy(&word, data + at, 8);
        sum += mixed(word, place);
    }
    if (at < size) {
        word = 0;
        memcpy(&word, data + at, (size_t)(size - at));
        sum += mixed(word, place);
    }
    return sum;
}

static double value_at(const char *data, Py_ssize_t at, int kind) {
    uint32_t bits;
    float value;
    switch (kind) {
    case ELEMENT_FLOAT16:
    case ELEMENT_BFLOAT16:
        bits = ((const uint16_t *)data)[at];
        bits = kind == ELEMENT_FLOAT16 ? float_bits_of_half((uint16_t)bits) : bits << 16;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    case ELEMENT_FLOAT32:
    case ELEMENT_COMPLEX64:
        return (double)((const float *)data)[at];
    default: /* float64, complex128 */
        return ((const double *)data)[at];
    }
}

static uint64_t digest_rounded(const char *data, Py_ssize_t count, int kind, double scale) {
    uint64_t sum = 0, place = STEP;
    for (Py_ssize_t at = 0; at < count; at++, place += STEP) {
        double value = rint(value_at(data, at, kind) * scale);
        value = value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value;
        int64_t whole = isnan(value) ? NOT_A_NUMBER : (int64_t)value * 2;
        sum += mixed((uint64_t)whole, place);
    }
    return sum;
}

PyObject *digest_array(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 4) {
        return PyErr_Format(PyExc_TypeError, "digest() takes address, elements, kind, decimals");
    }
    const char *data = PyLong_AsVoidPtr(args[0]);
    Py_ssize_t count = PyLong_AsSsize_t(args[1]);
    long kind = PyLong_AsLong(args[2]), decimals = PyLong_AsLong(args[3]);
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (kind < 0 || kind >= ELEMENTS || count < 0 || (count > 0 && data == NULL)) {
        return PyErr_Format(PyExc_ValueError, "digest() was given no such array");
    }
    int is_complex = kind == ELEMENT_COMPLEX64 || kind == ELEMENT_COMPLEX128;
    int is_rounded = decimals >= 0 && kind <= ELEMENT_COMPLEX128;
    double scale = pow(10, (double)decimals);
    Py_ssize_t size = count * ITEM_BYTES[kind];
    PyThreadState *state = size >= MANY_BYTES ? PyEval_SaveThread() : NULL;
    uint64_t sum = is_rounded
                       ? digest_rounded(data, is_complex ? 2 * count : count, (int)kind, scale)
                       : digest_bytes(data, size);
    if (state != NULL) {
        PyEval_RestoreThread(state);
    }
    return PyLong_FromLongLong((int64_t)mixed(sum, (uint64_t)count));
}
