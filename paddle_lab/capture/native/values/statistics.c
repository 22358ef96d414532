/* Statistics of an array of floats, in one pass: capture/evidence/values/scan.py. */
#include "../native.h"
#include <math.h>
#include <string.h>

/* Values that are not finite are removed before anything is summed, and floats are compared as
 * integers. So the compiler may reorder operations and use vector instructions. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "associative-math", "no-signed-zeros", "no-trapping-math")
#endif

#define BLOCK 1024
#define MANY_ELEMENTS 16384 /* from this count on the GIL is released */
#define TABLES 4            /* with one table, equal exponents would wait for each other */
#define UPPER_BITS 512      /* sign and exponent of a float */
#define STRANGE 0x7f800000u /* the exponent of infinities and NaNs */
#define WITHOUT_SIGN 0x7fffffffu
#define SUBNORMALS 23  /* exponents that only subnormal floats have, from -149 on */
#define EXPONENTS 2304 /* of doubles: from -1074 to 1023 */
#define LEAST_EXPONENT (-1100)

typedef struct {
    int64_t zeros, nans, infs;
    double smallest, largest, total, squares;
    double finite, mean, squared_deviations; /* of the finite values so far */
    int counts_exponents;
    uint32_t tables[TABLES][UPPER_BITS];
    int64_t floats[UPPER_BITS]; /* sums of the tables so far */
    int64_t subnormals[2][SUBNORMALS];
    int64_t (*doubles)[EXPONENTS]; /* by sign and exponent, or NULL */
} Found;

/* Maps the bits of a float to an integer of the same order; a second call maps it back. */
static int32_t ordered(uint32_t bits) { return (int32_t)(bits ^ ((0u - (bits >> 31)) >> 1)); }

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int32_t least(int32_t one, int32_t other) { return one < other ? one : other; }

static int32_t most(int32_t one, int32_t other) { return one > other ? one : other; }

/* A block of finite values: their count, the first one, and sums of the differences from it. */
typedef struct {
    double count, first, differences, squares;
} Shifted;

/* Adds the squared deviations of a block. Differences from a value in the block stay precise even
 * if the mean is large. Chan, Golub, LeVeque 1983, equations 2.1 and 1.5. */
static void add_deviations(Found *found, Shifted block) {
    if (block.count == 0) {
        return;
    }
    double offset = block.differences / block.count;
    double squared = block.squares - block.differences * offset;
    double delta = block.first + offset - found->mean;
    double share = block.count / (found->finite + block.count);
    found->squared_deviations +=
        (squared < 0 ? 0 : squared) + delta * delta * found->finite * share;
    found->mean += delta * share;
    found->finite += block.count;
}

/* Measures finite floats. The compiler can vectorize each of the loops. */
FOR_THIS_MACHINE
static void measure_floats(const uint32_t *block, int count, Found *found) {
    int32_t smallest = INT32_MAX, largest = INT32_MIN, zeros = 0;
    for (int i = 0; i < count; i++) {
        zeros += (block[i] & WITHOUT_SIGN) == 0;
        smallest = least(smallest, ordered(block[i]));
        largest = most(largest, ordered(block[i]));
    }
    double differences = 0, squared_differences = 0;
    const double first = (double)float_of(block[0]);
    for (int i = 0; i < count; i++) {
        double difference = (double)float_of(block[i]) - first;
        differences += difference;
        squared_differences += difference * difference;
    }
    add_deviations(found, (Shifted){count, first, differences, squared_differences});
    /* The block contains the first value, so the sums lose no more digits than they would have. */
    double total = count * first + differences;
    double low = (double)float_of((uint32_t)ordered((uint32_t)smallest));
    double high = (double)float_of((uint32_t)ordered((uint32_t)largest));
    found->smallest = low < found->smallest ? low : found->smallest;
    found->largest = high > found->largest ? high : found->largest;
    found->zeros += zeros;
    found->total += total;
    found->squares += squared_differences + first * (differences + total);
}

FOR_THIS_MACHINE
static int count_strange(const uint32_t *block, int count) {
    int32_t strange = 0;
    for (int i = 0; i < count; i++) {
        strange += (block[i] & STRANGE) == STRANGE;
    }
    return strange;
}

static void count_exponents(const uint32_t *block, int count, Found *found) {
    int i = 0;
    for (; i + TABLES <= count; i += TABLES) {
        for (int table = 0; table < TABLES; table++) {
            found->tables[table][block[i + table] >> 23]++;
        }
    }
    for (; i < count; i++) {
        found->tables[0][block[i] >> 23]++;
    }
}

static void add_up_tables(Found *found) {
    for (int upper = 0; upper < UPPER_BITS; upper++) {
        uint32_t sum = 0;
        for (int table = 0; table < TABLES; table++) {
            sum += found->tables[table][upper];
        }
        found->floats[upper] += sum;
    }
    memset(found->tables, 0, sizeof found->tables);
}

/* Scan one block of at most BLOCK floats. */
static void scan_floats(const uint32_t *block, int count, Found *found) {
    uint32_t finite[BLOCK];
    if (count_strange(block, count) > 0) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            uint32_t size = block[i] & WITHOUT_SIGN;
            found->nans += size > STRANGE;
            found->infs += size == STRANGE;
            if (size < STRANGE) {
                finite[kept++] = block[i];
            }
        }
        block = finite;
        count = kept;
        if (count == 0) {
            return;
        }
    }
    int64_t zeros_before = found->zeros;
    measure_floats(block, count, found);
    if (!found->counts_exponents) {
        return;
    }
    count_exponents(block, count, found);
    int64_t tiny = zeros_before - found->zeros;
    for (int table = 0; table < TABLES; table++) {
        tiny += found->tables[table][0] + found->tables[table][UPPER_BITS / 2];
        found->tables[table][0] = found->tables[table][UPPER_BITS / 2] = 0;
    }
    for (int i = 0; tiny > 0 && i < count; i++) { /* subnormals: upper bits hold no exponent */
        uint32_t size = block[i] & WITHOUT_SIGN;
        if (size != 0 && size < 1u << 23) {
            found->subnormals[block[i] >> 31][ilogb((double)size)]++;
        }
    }
}

/* Scan one block of doubles. */
static void scan_doubles(const double *block, int count, Found *found) {
    Shifted shifted = {0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        double value = block[i];
        if (isfinite(value)) {
            found->smallest = value < found->smallest ? value : found->smallest;
            found->largest = value > found->largest ? value : found->largest;
            found->total += value;
            found->squares += value * value;
            shifted.first = shifted.count++ == 0 ? value : shifted.first;
            shifted.differences += value - shifted.first;
            shifted.squares += (value - shifted.first) * (value - shifted.first);
            if (value == 0) {
                found->zeros++;
            } else if (found->doubles != NULL) {
                found->doubles[value < 0][ilogb(value) - LEAST_EXPONENT]++;
            }
        } else if (isnan(value)) {
            found->nans++;
        } else {
            found->infs++;
        }
    }
    add_deviations(found, shifted);
}

static uint32_t float_bits_of_half(uint16_t half) {
    /* A subnormal half is a multiple of 2**-24. The bits of other halves are only shifted. */
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half & 0x7c00;
    uint32_t bits =
        ((uint32_t)(half & 0x7fff) << 13) + (exponent == 0x7c00 ? 224u << 23 : 112u << 23);
    float subnormal = (float)(half & 0x3ff) * 0x1p-24f;
    uint32_t subnormal_bits;
    memcpy(&subnormal_bits, &subnormal, sizeof subnormal_bits);
    return sign | (exponent == 0 ? subnormal_bits : bits);
}

FOR_THIS_MACHINE
static void widen_halves(const uint16_t *halves, int count, int kind, uint32_t *block) {
    for (int i = 0; i < count; i++) {
        block[i] =
            kind == ELEMENT_FLOAT16 ? float_bits_of_half(halves[i]) : (uint32_t)halves[i] << 16;
    }
}

/* Scans integers as doubles. */
#define WIDENED(type)                                                                              \
    for (int i = 0; i < size; i++) {                                                               \
        doubles[i] = (double)((const type *)values)[i];                                            \
    }                                                                                              \
    scan_doubles(doubles, size, found);                                                            \
    break

/* Scans the magnitudes of complex numbers. */
#define MAGNITUDES(type)                                                                           \
    for (int i = 0; i < size; i++) {                                                               \
        const type *parts = (const type *)values + 2 * i;                                          \
        doubles[i] = hypot((double)parts[0], (double)parts[1]);                                    \
    }                                                                                              \
    scan_doubles(doubles, size, found);                                                            \
    break

/* Each block is read from memory once, for the statistics and for the digest, if there is one. */
static void scan(const char *data, Py_ssize_t count, int kind, Found *found, Digest *digest) {
    uint32_t floats[BLOCK];
    double doubles[BLOCK];
    const int is_half = kind == ELEMENT_FLOAT16 || kind == ELEMENT_BFLOAT16;
    for (Py_ssize_t start = 0; start < count; start += BLOCK) {
        int size = count - start < BLOCK ? (int)(count - start) : BLOCK;
        const void *values = data + start * element_bytes[kind];
        if (is_half) {
            widen_halves(values, size, kind, floats);
        }
        if (digest != NULL && is_half && digest->is_rounded) {
            digest_more(digest, (const char *)floats, size, ELEMENT_FLOAT32);
        } else if (digest != NULL) {
            digest_more(digest, values, size, kind);
        }
        switch (kind) {
        case ELEMENT_FLOAT16:
        case ELEMENT_BFLOAT16:
            scan_floats(floats, size, found);
            break;
        case ELEMENT_FLOAT32:
            scan_floats(values, size, found);
            break;
        case ELEMENT_FLOAT64:
            scan_doubles(values, size, found);
            break;
        case ELEMENT_COMPLEX64:
            MAGNITUDES(float);
        case ELEMENT_COMPLEX128:
            MAGNITUDES(double);
        case ELEMENT_INT8:
            WIDENED(int8_t);
        case ELEMENT_INT16:
            WIDENED(int16_t);
        case ELEMENT_INT32:
            WIDENED(int32_t);
        case ELEMENT_INT64:
            WIDENED(int64_t);
        default: /* bool, uint8 */
            WIDENED(uint8_t);
        }
        if ((start + BLOCK) % (1 << 30) == 0) {
            add_up_tables(found); /* long before their counters overflow */
        }
    }
}

/* Rows of exponent, sign and count. */
typedef struct {
    int64_t cells[2 * EXPONENTS][3];
    Py_ssize_t filled;
} Rows;

static void add_rows(Rows *rows, const int64_t *counts, int size, int64_t exponent, int negative) {
    for (int i = 0; i < size; i++) {
        if (counts[i] != 0) {
            int64_t *row = rows->cells[rows->filled++];
            row[0] = exponent + i;
            row[1] = negative;
            row[2] = counts[i];
        }
    }
}

/* Returns the rows of the histogram, those of negative values first. */
static PyObject *histogram(Found *found) {
    Rows rows;
    rows.filled = 0;
    add_up_tables(found);
    for (int negative = 1; negative >= 0; negative--) {
        if (found->doubles != NULL) {
            add_rows(&rows, found->doubles[negative], EXPONENTS, LEAST_EXPONENT, negative);
        } else {
            add_rows(&rows, found->subnormals[negative], SUBNORMALS, -149, negative);
            add_rows(&rows, found->floats + negative * (UPPER_BITS / 2) + 1, 254, -126, negative);
        }
    }
    return PyBytes_FromStringAndSize((const char *)rows.cells,
                                     rows.filled * (Py_ssize_t)sizeof *rows.cells);
}

static PyObject *statistics(const char *data, Py_ssize_t count, int kind, int with_histogram,
                            Digest *digest) {
    int64_t doubles[2][EXPONENTS];
    Found found;
    memset(&found, 0, sizeof found);
    found.smallest = INFINITY;
    found.largest = -INFINITY;
    found.counts_exponents = with_histogram;
    if (with_histogram && kind >= ELEMENT_FLOAT64) {
        memset(doubles, 0, sizeof doubles);
        found.doubles = doubles;
    }
    if (count >= MANY_ELEMENTS) {
        Py_BEGIN_ALLOW_THREADS;
        scan(data, count, kind, &found, digest);
        Py_END_ALLOW_THREADS;
    } else {
        scan(data, count, kind, &found, digest);
    }
    if (found.smallest > found.largest) { /* nothing finite */
        found.smallest = found.largest = 0;
    }
    if (isnan(found.squared_deviations)) { /* beyond the largest double */
        found.squared_deviations = INFINITY;
    }
    PyObject *rows = with_histogram ? histogram(&found) : PyBytes_FromStringAndSize(NULL, 0);
    if (rows == NULL) {
        return NULL;
    }
    PyObject *code =
        digest != NULL ? PyLong_FromLongLong(digest_end(digest, count)) : Py_NewRef(Py_None);
    return Py_BuildValue("LLLddddNdN", (long long)found.zeros, (long long)found.nans,
                         (long long)found.infs, found.smallest, found.largest, found.total,
                         found.squares, rows, found.squared_deviations, code);
}

PyObject *scan_array(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 4 && given != 5) {
        return PyErr_Format(PyExc_TypeError,
                            "scan() takes address, elements, kind, with_histogram, decimals");
    }
    const char *data = PyLong_AsVoidPtr(args[0]);
    Py_ssize_t count = PyLong_AsSsize_t(args[1]);
    long kind = PyLong_AsLong(args[2]);
    int with_histogram = PyObject_IsTrue(args[3]), has_digest = given == 5 && args[4] != Py_None;
    long decimals = has_digest ? PyLong_AsLong(args[4]) : 0;
    if (PyErr_Occurred()) {
        return NULL;
    }
    if (kind < 0 || kind >= ELEMENTS || count < 0 || (count > 0 && data == NULL)) {
        return PyErr_Format(PyExc_ValueError, "scan() was given no such array");
    }
    Digest digest = digest_begin((int)kind, decimals);
    return statistics(data, count, (int)kind, with_histogram, has_digest ? &digest : NULL);
}
