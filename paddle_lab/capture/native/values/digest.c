/* A 64-bit digest of an array: capture/evidence/values/scan.py. */
#include "../native.h"
#include <math.h>
#include <string.h>

/* The loop over words becomes one of vectors where the processor can multiply vectors of 64 bits.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define STEP 0x9e3779b97f4a7c15u
#define FIRST 0xbf58476d1ce4e5b9u
#define SECOND 0x94d049bb133111ebu
#define LARGEST 0x1p62    /* rounded values beyond it count as this value */
#define NOT_A_NUMBER (-1) /* cannot be a multiple of two, as all rounded values are */

const int element_bytes[] = {2, 2, 4, 8, 8, 16, 1, 1, 1, 2, 4, 8};

static uint64_t mixed(uint64_t word, uint64_t place) {
    word = (word ^ place) * FIRST;
    return (word ^ word >> 32) * SECOND;
}

FOR_THIS_MACHINE
static void digest_bytes(Digest *digest, const char *data, Py_ssize_t size) {
    uint64_t sum = 0, place = digest->place, word;
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
    digest->sum += sum;
    digest->place = place;
}

static void digest_rounded(Digest *digest, const void *data, Py_ssize_t count, int is_double) {
    for (Py_ssize_t at = 0; at < count; at++, digest->place += STEP) {
        double value = is_double ? ((const double *)data)[at] : (double)((const float *)data)[at];
        value = rint(value * digest->scale);
        value = value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : value;
        int64_t whole = isnan(value) ? NOT_A_NUMBER : (int64_t)value * 2;
        digest->sum += mixed((uint64_t)whole, digest->place);
    }
}

Digest digest_begin(int kind, long decimals) {
    int is_rounded = decimals >= 0 && kind <= ELEMENT_COMPLEX128;
    return (Digest){is_rounded, pow(10, (double)decimals), 0, STEP};
}

void digest_more(Digest *digest, const char *data, Py_ssize_t count, int kind) {
    int is_complex = kind == ELEMENT_COMPLEX64 || kind == ELEMENT_COMPLEX128;
    if (digest->is_rounded) {
        int is_double = kind == ELEMENT_FLOAT64 || kind == ELEMENT_COMPLEX128;
        digest_rounded(digest, data, is_complex ? 2 * count : count, is_double);
    } else {
        digest_bytes(digest, data, count * element_bytes[kind]);
    }
}

int64_t digest_end(const Digest *digest, Py_ssize_t count) {
    return (int64_t)mixed(digest->sum, (uint64_t)count);
}
