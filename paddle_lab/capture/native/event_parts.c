/* Texts and vectors of Paddle's C++ objects, out of copies of them. */
#include "event_tree.h"

/* Find the characters of a std::string in an object at ``address``, of which ``copy`` has ``size``
 * bytes; ``text`` takes those that are not in it. */
int find_text(Walk *walk, const char *copy, Py_ssize_t size, int64_t address, Py_ssize_t offset,
              char *text, const char **found, Py_ssize_t *length) {
    const int64_t start = word_at(copy, offset), count = word_at(copy, offset + WORD);
    *length = (Py_ssize_t)count;
    if (count < 0 || count > LONGEST_NAME) {
        return ODD;
    }
    if (start >= address && start + count <= address + size) {
        *found = copy + (start - address);
        return FINE;
    }
    *found = text;
    return ForeignBlocks_copy(walk->blocks, start, text, *length) ? FINE : ODD;
}

/* Copy a std::vector of pointers. */
int copy_pointers(Walk *walk, const char *copy, Py_ssize_t offset, Py_ssize_t most,
                  Py_ssize_t *count) {
    const int64_t begin = word_at(copy, offset), end = word_at(copy, offset + WORD);
    const int64_t size = (int64_t)((uint64_t)end - (uint64_t)begin);
    *count = (Py_ssize_t)(size / WORD);
    if (begin < 0 || end < begin || size % WORD != 0 || begin % WORD != 0 || *count > most) {
        return ODD;
    }
    walk->pointers.length = 0;
    if (*count == 0) {
        return FINE;
    }
    int64_t *pointers = Growing_add(&walk->pointers, *count, sizeof(int64_t));
    if (pointers == NULL) {
        return FAILED;
    }
    return ForeignBlocks_copy(walk->blocks, begin, pointers, (Py_ssize_t)size) ? FINE : ODD;
}
