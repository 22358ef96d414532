/* The address of the grad node that a tensor hangs on: capture/grad_fn.py, natively.
 *
 * Reading tensor.grad_fn makes a Python object for the node and drops it again, which is a third of
 * what recording an op costs. So the place where tensors keep the node is learned: of the words in
 * a tensor that point somewhere, those behind which the address was found, every time. Once that is
 * sure, the place is read, and compared with grad_fn now and then.
 */
#include "native.h"
#include <string.h>

#define WORDS_BEHIND 8  /* of what a tensor's word points to, which is more than 64 bytes long */
#define LESSONS 16      /* reads that must agree before the place is trusted */
#define CHECK_EVERY 128 /* reads of the place, of which one is compared with grad_fn */

/* GRAD_FN of capture/grad_fn.py, and what it has found out about this Paddle. */
static PyObject *grad_fn_reader;
static PyObject *node_ptr_name, *address_name, *leaking_name;
static enum { UNKNOWN, YES, NO } is_leaking = UNKNOWN, holds_pointer = UNKNOWN;

/* The place: a word of the tensor, and one of what that points to. */
static enum { LEARNING, LEARNED, NOT_THERE } place = LEARNING;
static Py_ssize_t word, word_behind;
static int lessons;
static unsigned reads;
static int64_t last_lesson;

int grad_address_begin(void) {
    if (grad_fn_reader != NULL) {
        return 0;
    }
    node_ptr_name = PyUnicode_InternFromString("node_ptr");
    address_name = PyUnicode_InternFromString("address");
    leaking_name = PyUnicode_InternFromString("is_leaking");
    PyObject *module =
        PyErr_Occurred() ? NULL : PyImport_ImportModule("paddle_lab.capture.grad_fn");
    grad_fn_reader = module == NULL ? NULL : PyObject_GetAttrString(module, "GRAD_FN");
    Py_XDECREF(module);
    return grad_fn_reader == NULL ? -1 : 0;
}

/* The first address is read in Python, which finds out whether ``grad_fn`` leaks in this Paddle. */
static int64_t first_address(PyObject *tensor) {
    PyObject *known = PyObject_GetAttr(grad_fn_reader, leaking_name);
    if (known == NULL) {
        return -1;
    }
    is_leaking = known == Py_None ? UNKNOWN : known == Py_True ? YES : NO;
    Py_DECREF(known);
    PyObject *address = PyObject_CallMethodObjArgs(grad_fn_reader, address_name, tensor, NULL);
    if (address == Py_None) {
        Py_DECREF(address);
        return 0;
    }
    return taken_integer(address);
}

int64_t grad_node_address(PyObject *node) {
    if (holds_pointer == YES) {
        return foreign_address(node);
    }
    const int64_t address = taken_integer(PyObject_CallMethodNoArgs(node, node_ptr_name));
    if (holds_pointer == UNKNOWN && !PyErr_Occurred()) {
        holds_pointer = foreign_address(node) == address ? YES : NO;
    }
    return address;
}

static int64_t address_by_grad_fn(PyObject *tensor) {
    if (is_leaking == UNKNOWN) {
        return first_address(tensor);
    }
    PyObject *node = tensor_grad_fn(tensor);
    if (node == NULL || node == Py_None) {
        Py_XDECREF(node);
        return node == NULL ? -1 : 0;
    }
    const int64_t address = grad_node_address(node);
    if (is_leaking == YES) {
        Py_DECREF(node);
    }
    Py_DECREF(node);
    return address;
}

static int64_t word_of(PyObject *tensor, Py_ssize_t number) {
    int64_t value;
    memcpy(&value, (char *)tensor + number * (Py_ssize_t)sizeof value, sizeof value);
    return value;
}

/* Find the first place where the address stands; 0 if there is none. */
static int is_found(PyObject *tensor, int64_t address) {
    const Py_ssize_t words = Py_TYPE(tensor)->tp_basicsize / (Py_ssize_t)sizeof(int64_t);
    int64_t behind[WORDS_BEHIND];
    for (word = (Py_ssize_t)(sizeof(PyObject) / sizeof(int64_t)); word < words; word++) {
        int64_t pointer = word_of(tensor, word);
        if (pointer == 0 || pointer % (int64_t)sizeof(int64_t) != 0 ||
            !foreign_copied(pointer, behind, sizeof behind)) {
            continue;
        }
        for (word_behind = 0; word_behind < WORDS_BEHIND; word_behind++) {
            if (behind[word_behind] == address) {
                return 1;
            }
        }
    }
    return 0;
}

static void learn(PyObject *tensor, int64_t address) {
    const Py_ssize_t word_before = word, behind_before = word_behind;
    if (address == last_lesson) {
        return; /* tells nothing new */
    }
    last_lesson = address;
    if (!is_found(tensor, address) ||
        (lessons > 0 && (word != word_before || word_behind != behind_before))) {
        place = NOT_THERE;
    } else if (++lessons == LESSONS) {
        place = LEARNED;
    }
}

int64_t tensor_grad_address(PyObject *tensor) {
    if (place == LEARNED) {
        const int64_t pointer = word_of(tensor, word);
        const int64_t found = pointer == 0 ? 0 : ((int64_t *)(intptr_t)pointer)[word_behind];
        if (++reads % CHECK_EVERY != 0) {
            return found;
        }
        const int64_t address = address_by_grad_fn(tensor);
        if (address != found && !PyErr_Occurred()) {
            place = NOT_THERE;
            PyErr_SetString(PyExc_RuntimeError,
                            "tensors do not keep their grad nodes in one place");
            return -1;
        }
        return address;
    }
    const int64_t address = address_by_grad_fn(tensor);
    if (place == LEARNING && address != 0 && !PyErr_Occurred()) {
        learn(tensor, address);
    }
    return address;
}
