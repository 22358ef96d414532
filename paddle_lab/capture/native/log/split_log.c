/* Splits the text of Paddle's log: split_log() in trace/log_text.py. */
#include "../native.h"
#include <string.h>

static int is_digit(char one) { return one >= '0' && one <= '9'; }

/* Return the end of a number that fits into 64 bits, if a certain character follows; else NULL. */
static const char *number_end(const char *begin, char next) {
    const char *at = begin;
    while (is_digit(*at)) {
        at++;
    }
    return at > begin && at - begin <= 18 && *at == next ? at : NULL;
}

/* Return where the header that begins here ends, or NULL. A byte 0 ends the log. */
static const char *header_end(const char *at) {
    if (memchr("IWEF", *at, 4) == NULL) {
        return NULL;
    }
    for (const char *sign = "0000 00:00:00.000000 "; *sign != '\0'; sign++) {
        at++;
        if (*sign == '0' ? !is_digit(*at) : *at != *sign) {
            return NULL;
        }
    }
    at = number_end(at + strspn(at, " "), ' ');
    const char *file = at == NULL ? "" : at + 1;
    at = file + strcspn(file, " :\n]");
    return at > file && *at == ':' ? number_end(at + 1, ']') : NULL;
}

/* Append a part of the log. Returns -1 and an exception if it fails. */
static int add_part(PyObject *parts, const char *begin, const char *end) {
    PyObject *part = PyUnicode_DecodeUTF8(begin, end - begin, "replace");
    const int failed = part == NULL ? -1 : PyList_Append(parts, part);
    Py_XDECREF(part);
    return failed;
}

PyObject *split_log(PyObject *Py_UNUSED(module), PyObject *log) {
    char *line;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(log, &line, &size) < 0) {
        return NULL;
    }
    PyObject *parts = PyList_New(0);
    const char *end = line + size, *text = NULL;
    int failed = parts == NULL;
    while (!failed && line != NULL) {
        const char *header = line + strspn(line, "\t"), *bracket = header_end(header);
        if (bracket != NULL) {
            failed = (text != NULL && add_part(parts, text, line - 1) < 0) ||
                     add_part(parts, header, bracket) < 0;
            text = bracket[1] == ' ' ? bracket + 2 : bracket + 1;
        }
        char *newline = memchr(line, '\n', (size_t)(end - line));
        line = newline == NULL ? NULL : newline + 1;
    }
    if (failed || (text != NULL && add_part(parts, text, end) < 0)) {
        Py_CLEAR(parts);
    }
    return parts;
}
