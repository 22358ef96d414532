/* Rows of the input and output tensors of ops: TensorPool.key_of() and produce() of
 * capture/recorder/tensors.py in C. */
#include "../native.h"
#include <string.h>

int is_known_kind(const Owner *owner, PyObject *value) {
    return Py_IS_TYPE(value, owner->tensor_type) || Py_IS_TYPE(value, owner->parameter_type);
}

/* Add a tensor's row. Returns its key; NO_KEY and an exception if it fails. */
static int64_t add_row(Owner *owner, PyObject *tensor, const int64_t cells[TENSOR_CELLS],
                       int64_t version) {
    const int64_t value = cells[0] << VERSION_BITS | (version & LARGEST_VERSION);
    if (ObjectTable_note_value(owner->known, tensor, value) < 0) {
        return NO_KEY;
    }
    int64_t *row = Tape_reserve(owner->tensor_rows, TENSOR_CELLS);
    if (row == NULL) {
        return NO_KEY;
    }
    memcpy(row, cells, TENSOR_CELLS * sizeof *cells);
    return cells[0];
}

/* Call the listeners with a tensor and its key. */
static int tell(PyObject *listeners, PyObject *tensor, int64_t key) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(listeners); i++) {
        PyObject *done =
            PyObject_CallFunction(PyList_GET_ITEM(listeners, i), "OL", tensor, (long long)key);
        if (done == NULL) {
            return -1;
        }
        Py_DECREF(done);
    }
    return 0;
}

/* Make the row of a tensor that no op made, such as a parameter or data. Returns the row's key;
 * NO_KEY, perhaps with an exception, if Python must do it. */
static int64_t meet(Owner *owner, PyObject *tensor, int64_t *version) {
    /* Check this first: reading other properties of an undefined tensor crashes the process. */
    if (tensor_is_initialized(tensor) != 1) {
        return NO_KEY;
    }
    const int is_constant = tensor_stop_gradient(tensor);
    const int is_leaf = tensor_is_leaf(tensor);
    const int is_persistable = tensor_is_persistable(tensor);
    const int has_node = !is_constant && !is_leaf;
    if (PyErr_Occurred() || (has_node && !is_persistable)) {
        return NO_KEY; /* perhaps a new object for a known tensor */
    }
    const int64_t kind = !is_persistable                             ? TENSOR_KIND_EXTERNAL
                         : Py_IS_TYPE(tensor, owner->parameter_type) ? TENSOR_KIND_PARAMETER
                                                                     : TENSOR_KIND_BUFFER;
    const int64_t key = owner->next_tensor->next++;
    int is_dense;
    *version = tensor_first_version(tensor, &is_dense);
    const int64_t cells[TENSOR_CELLS] = {
        [TENSOR_KEY] = key,
        [TENSOR_SHAPE] = tensor_shape_key(owner, tensor),
        [TENSOR_DTYPE] = tensor_dtype_key(owner, tensor),
        [TENSOR_PLACE] = owner->reads_place ? tensor_place_key(owner, tensor) : 0,
        [TENSOR_STOP_GRADIENT] = is_constant,
        [TENSOR_VERSION] = *version == NO_VERSION ? 0 : *version,
        [TENSOR_KIND] = kind,
        [TENSOR_PRODUCER] = NO_KEY,
        [TENSOR_PREVIOUS] = NO_KEY,
        [TENSOR_DETACHED_FROM] = NO_KEY,
        [TENSOR_NAME] = is_persistable ? tensor_name_key(owner, tensor) : 0,
        [TENSOR_IDENTITY] = (int64_t)(intptr_t)tensor,
        [TENSOR_GRAD_NODE] = has_node && owner->reads_grad_nodes ? tensor_grad_address(tensor) : 0,
    };
    if (PyErr_Occurred() || add_row(owner, tensor, cells, *version) == NO_KEY) {
        return NO_KEY;
    }
    if (tell(owner->meeting_listeners, tensor, key) < 0) {
        return NO_KEY;
    }
    const ThreadState *state = Owner_thread(owner);
    const int is_data =
        state != NULL && kind == TENSOR_KIND_EXTERNAL && state->phase != PHASE_OPTIMIZER;
    return state == NULL || (is_data && tell(owner->data_listeners, tensor, key) < 0) ? NO_KEY
                                                                                      : key;
}

int64_t tensor_row_of(Owner *owner, PyObject *tensor, int64_t *version) {
    const int64_t known = ObjectTable_find_value(owner->known, tensor);
    int64_t key = NO_KEY;
    *version = UNREAD;
    if (known != NO_KEY) {
        *version = (known & LARGEST_VERSION) == NO_VERSION ? NO_VERSION : tensor_version(tensor);
        if ((known & LARGEST_VERSION) == *version) {
            return known >> VERSION_BITS;
        }
    } else {
        key = meet(owner, tensor, version);
    }
    return key != NO_KEY || PyErr_Occurred()
               ? key
               : taken_integer(PyObject_CallMethod(owner->tensor_pool, "key_of", "O", tensor));
}

/* The row with a key, or NULL. Keys are consecutive, but other threads also take keys, and a limit
 * removes rows. */
static const int64_t *row_of(const Tape *rows, int64_t key) {
    const int64_t at = rows->length == 0 ? -1 : (key - rows->cells[TENSOR_KEY]) * TENSOR_CELLS;
    const int is_there = at >= 0 && at < rows->length && rows->cells[at + TENSOR_KEY] == key;
    return is_there ? rows->cells + at : NULL;
}

/* Copy the row of a tensor that an optimizer's op has overwritten, and change a few cells. */
static int64_t update_row(Owner *owner, PyObject *tensor, const int64_t *before, int64_t op,
                          MadeTensor *made) {
    int64_t cells[TENSOR_CELLS];
    memcpy(cells, before, sizeof cells);
    made->version = tensor_first_version(tensor, &made->is_dense);
    made->has_node = !before[TENSOR_STOP_GRADIENT] && !tensor_is_leaf(tensor);
    cells[TENSOR_KEY] = owner->next_tensor->next++;
    cells[TENSOR_PREVIOUS] = before[TENSOR_KEY];
    cells[TENSOR_PRODUCER] = op;
    cells[TENSOR_DETACHED_FROM] = NO_KEY;
    cells[TENSOR_VERSION] = made->version;
    return PyErr_Occurred() ? NO_KEY : add_row(owner, tensor, cells, made->version);
}

/* Make the row of an initialized tensor that an op returned. */
static int64_t made_row(Owner *owner, PyObject *tensor, int64_t op, int is_update,
                        MadeTensor *made) {
    const int64_t known = ObjectTable_find_value(owner->known, tensor);
    const int is_constant = tensor_stop_gradient(tensor);
    if (is_update && known != NO_KEY && (known & LARGEST_VERSION) != NO_VERSION &&
        !owner->reads_place) {
        const int64_t *before = row_of(owner->tensor_rows, known >> VERSION_BITS);
        /* Between two ops the program may freeze a parameter, or change its dtype. Reading the
         * dtype takes long, so it is not read for an optimizer's state, which keeps its dtype. */
        if (before != NULL && is_constant == before[TENSOR_STOP_GRADIENT] &&
            (before[TENSOR_KIND] == TENSOR_KIND_BUFFER ||
             (before[TENSOR_KIND] == TENSOR_KIND_PARAMETER &&
              tensor_dtype_key(owner, tensor) == before[TENSOR_DTYPE]))) {
            return update_row(owner, tensor, before, op, made);
        }
    }
    const int is_parameter = Py_IS_TYPE(tensor, owner->parameter_type);
    const int is_named = is_parameter || (known != NO_KEY && tensor_is_persistable(tensor));
    /* A new tensor is a leaf if it has no grad node, so is_leaf need not be read. */
    const int is_old = known != NO_KEY || is_parameter || !owner->reads_grad_nodes;
    made->has_node = !is_constant && !(is_old && tensor_is_leaf(tensor));
    const int64_t grad_node =
        made->has_node && owner->reads_grad_nodes ? tensor_grad_address(tensor) : 0;
    made->has_node = made->has_node && !(owner->reads_grad_nodes && grad_node == 0);
    made->version = tensor_first_version(tensor, &made->is_dense);
    const int64_t cells[TENSOR_CELLS] = {
        [TENSOR_KEY] = owner->next_tensor->next++,
        [TENSOR_SHAPE] = tensor_shape_key(owner, tensor),
        [TENSOR_DTYPE] = tensor_dtype_key(owner, tensor),
        [TENSOR_PLACE] = owner->reads_place ? tensor_place_key(owner, tensor) : 0,
        [TENSOR_STOP_GRADIENT] = is_constant,
        [TENSOR_VERSION] = made->version == NO_VERSION ? 0 : made->version,
        [TENSOR_KIND] = is_parameter ? TENSOR_KIND_PARAMETER
                        : is_named   ? TENSOR_KIND_BUFFER
                                     : TENSOR_KIND_ACTIVATION,
        [TENSOR_PRODUCER] = op,
        [TENSOR_PREVIOUS] = known == NO_KEY ? NO_KEY : known >> VERSION_BITS,
        [TENSOR_DETACHED_FROM] = NO_KEY,
        [TENSOR_NAME] = is_named ? tensor_name_key(owner, tensor) : 0,
        [TENSOR_IDENTITY] = (int64_t)(intptr_t)tensor,
        [TENSOR_GRAD_NODE] = grad_node,
    };
    return PyErr_Occurred() ? NO_KEY : add_row(owner, tensor, cells, made->version);
}

int tensor_row_made(Owner *owner, PyObject *tensor, int64_t op, int is_update, MadeTensor *made) {
    /* Check this first: reading other properties of an undefined tensor crashes the process. */
    made->is_initialized = tensor_is_initialized(tensor);
    made->key = made->is_initialized < 0 ? NO_KEY
                : made->is_initialized == 1
                    ? made_row(owner, tensor, op, is_update, made)
                    : taken_integer(PyObject_CallMethod(owner->tensor_pool, "produce", "OL", tensor,
                                                        (long long)op));
    return made->key < 0 ? -1 : 0;
}
