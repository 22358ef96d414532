/* The row of an op that returned tensors: Recorder.end_op() of recorder/recorder.py in C. */
#include "../native.h"
#include <string.h>

#define FEW_OUTPUTS 16

PyObject *present_frame(void) {
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    return frame == NULL ? Py_None : frame;
}

/* Return a value in a form that can be hashed: a slice cannot before Python 3.12. */
static PyObject *form_of(PyObject *value) {
    if (PySlice_Check(value)) {
        const PySliceObject *slice = (PySliceObject *)value;
        PyObject *bounds = PyTuple_Pack(3, slice->start, slice->stop, slice->step);
        PyObject *form = bounds == NULL ? NULL : form_of(bounds);
        Py_XDECREF(bounds);
        return form == NULL ? NULL : Py_BuildValue("(ON)", &PySlice_Type, form);
    }
    if (!PyTuple_CheckExact(value)) {
        return PyTuple_Pack(2, Py_TYPE(value), value); /* 1, 1.0 and True are equal */
    }
    PyObject *form = PyTuple_New(PyTuple_GET_SIZE(value));
    for (Py_ssize_t i = 0; form != NULL && i < PyTuple_GET_SIZE(value); i++) {
        PyObject *item = form_of(PyTuple_GET_ITEM(value, i));
        if (item == NULL) {
            Py_CLEAR(form);
        } else {
            PyTuple_SET_ITEM(form, i, item);
        }
    }
    return form;
}

/* Return the key of attributes of which some cannot be hashed. Python makes it at the first use. */
static int64_t form_key(Owner *owner, PyObject *attributes) {
    PyObject *values = PyList_AsTuple(attributes);
    PyObject *form = values == NULL ? NULL : form_of(values);
    Py_XDECREF(values);
    PyObject *known = form == NULL ? NULL : PyDict_GetItemWithError(owner->attribute_forms, form);
    Py_XINCREF(known);
    int is_hashable = form != NULL;
    if (known == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        is_hashable = 0;
        PyErr_Clear();
    }
    if (known == NULL && !PyErr_Occurred()) {
        known = PyObject_CallMethod(owner->recorder, "attributes_key", "O", attributes);
        if (known != NULL && is_hashable &&
            PyDict_SetItem(owner->attribute_forms, form, known) < 0) {
            Py_CLEAR(known);
        }
    }
    Py_XDECREF(form);
    return taken_integer(known);
}

/* Recorder.attributes_key(). Python handles attributes that are not known yet. */
static int64_t attributes_key(Owner *owner, PyObject *attributes) {
    const Py_ssize_t count = attributes == NULL ? 0 : PyList_GET_SIZE(attributes);
    if (count == 0) {
        return 0;
    }
    PyObject *signature = PyTuple_New(2 * count);
    if (signature == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = PyList_GET_ITEM(attributes, i);
        PyTuple_SET_ITEM(signature, i, Py_NewRef(value));
        PyTuple_SET_ITEM(signature, count + i, Py_NewRef((PyObject *)Py_TYPE(value)));
    }
    PyObject *known = PyDict_GetItemWithError(owner->attributes, signature);
    Py_DECREF(signature);
    if (known != NULL) {
        return PyLong_AsLongLong(known);
    }
    if (PyErr_Occurred()) { /* an attribute that cannot be hashed */
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return -1;
        }
        PyErr_Clear();
        return form_key(owner, attributes);
    }
    return taken_integer(PyObject_CallMethod(owner->recorder, "attributes_key", "O", attributes));
}

PyObject *Made_modified(Owner *owner, PyObject *const *args, Py_ssize_t count,
                        const Resolved *resolved) {
    if (resolved->has_rare || resolved->length == 0) {
        return NULL;
    }
    PyObject *modified = PyList_New(0);
    for (Py_ssize_t i = 0; modified != NULL && i < count; i++) {
        const int64_t known =
            is_known_kind(owner, args[i]) ? ObjectTable_find_value(owner->known, args[i]) : NO_KEY;
        if (known != NO_KEY && (known & LARGEST_VERSION) != NO_VERSION &&
            (known & LARGEST_VERSION) != tensor_version(args[i]) &&
            (PyErr_Occurred() || PyList_Append(modified, args[i]) < 0)) {
            Py_CLEAR(modified);
        }
    }
    return modified;
}

int Made_find(const Owner *owner, PyObject *const *result, Made *made) {
    if (is_known_kind(owner, *result)) {
        *made = (Made){result, 1, 1};
        return 1;
    }
    if (!PyTuple_Check(*result) && !PyList_CheckExact(*result)) {
        return 0;
    }
    *made = (Made){PySequence_Fast_ITEMS(*result), PySequence_Fast_GET_SIZE(*result), 0};
    for (Py_ssize_t i = 0; i < made->count; i++) {
        if (is_known_kind(owner, made->values[i])) {
            made->tensors++;
        } else if (made->values[i] != Py_None) {
            return 0;
        }
    }
    return made->tensors > 0;
}

/* Append the tensors of nested lists and tuples. Returns 0 if there are other values, too, -1 and
 * an exception if it fails. */
static int add_tensors(const Owner *owner, PyObject *value, PyObject *found) {
    if (value == Py_None) {
        return 1;
    }
    if (is_known_kind(owner, value)) {
        return PyList_Append(found, value) < 0 ? -1 : 1;
    }
    if (!PyTuple_CheckExact(value) && !PyList_CheckExact(value)) {
        return 0;
    }
    int is_added = 1;
    for (Py_ssize_t i = 0; is_added == 1 && i < PySequence_Fast_GET_SIZE(value); i++) {
        is_added = add_tensors(owner, PySequence_Fast_GET_ITEM(value, i), found);
    }
    return is_added;
}

PyObject *Made_nested(const Owner *owner, PyObject *result) {
    PyObject *found =
        PyTuple_CheckExact(result) || PyList_CheckExact(result) ? PyList_New(0) : NULL;
    if (found != NULL && (add_tensors(owner, result, found) != 1 || PyList_GET_SIZE(found) == 0)) {
        Py_CLEAR(found);
    }
    return found;
}

/* Make the rows of an op's output tensors. */
static int produce_all(Owner *owner, const Made *made, int64_t op, int is_update,
                       MadeTensor *tensors) {
    for (Py_ssize_t i = 0; i < made->count; i++) {
        if (made->values[i] != Py_None &&
            tensor_row_made(owner, made->values[i], op, is_update, tensors++) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Call the listener for ops; forget ops if this one has reached the limit. */
static int tell_of_op(Owner *owner, int64_t key, PyObject *result) {
    if (owner->on_op != Py_None) {
        PyObject *done = PyObject_CallFunction(owner->on_op, "LO", (long long)key, result);
        Py_XDECREF(done);
        if (done == NULL) {
            return -1;
        }
    }
    if (key >= owner->next_op->alarm) {
        PyObject *done = PyObject_CallMethod(owner->recorder, "reach_limit", NULL);
        Py_XDECREF(done);
        return done == NULL ? -1 : 0;
    }
    return 0;
}

int record_op(Owner *owner, int64_t name_key, int is_update, const Resolved *resolved,
              PyObject *result, const Made *made, OpTimes times) {
    ThreadState *state = Owner_thread(owner);
    if (state == NULL) {
        return -1;
    }
    Py_INCREF(state);
    state->own_ns += times.start_ns - times.begun_ns;
    MadeTensor few[FEW_OUTPUTS];
    MadeTensor *outputs = few;
    if (made->tensors > FEW_OUTPUTS &&
        (outputs = PyMem_Malloc((size_t)made->tensors * sizeof *outputs)) == NULL) {
        PyErr_NoMemory();
        Py_DECREF(state);
        return -1;
    }
    const int64_t key = owner->next_op->next++;
    int failed = produce_all(owner, made, key, is_update, outputs) < 0;
    int64_t attributes = 0, scope = 0;
    if (!failed) {
        attributes = attributes_key(owner, resolved->attributes);
        scope = PyErr_Occurred() ? -1 : scope_at(owner, present_frame(), state);
        failed = PyErr_Occurred() != NULL;
    }
    int64_t *row =
        failed ? NULL : Tape_reserve(owner->ops, OP_CELLS + resolved->length + made->tensors);
    if (row != NULL) {
        const int64_t op_cells[OP_CELLS] = {
            [OP_KEY] = key,
            [OP_INPUT_CELLS] = resolved->length,
            [OP_OUTPUTS] = made->tensors,
            [OP_NAME] = name_key,
            [OP_SCOPE] = scope,
            [OP_STACK] = times.stack,
            [OP_THREAD] = state->number,
            [OP_START] = times.start_ns,
            [OP_DURATION] = times.end_ns - times.start_ns,
            [OP_PHASE] = state->phase,
            [OP_ATTRIBUTES] = attributes,
            [OP_OWN] = state->own_ns,
        };
        memcpy(row, op_cells, sizeof op_cells);
        memcpy(row + OP_CELLS, resolved->cells, (size_t)resolved->length * sizeof(int64_t));
        row += OP_CELLS + resolved->length;
        for (Py_ssize_t i = 0; i < made->tensors; i++) {
            row[i] = outputs[i].key;
        }
    }
    failed = row == NULL ||
             (times.call >= 0 &&
              CallTape_end((CallTape *)owner->call_tape, key, times.call, made, outputs) < 0) ||
             tell_of_op(owner, key, result) < 0;
    if (outputs != few) {
        PyMem_Free(outputs);
    }
    state->own_ns += now_ns() - times.end_ns;
    Py_DECREF(state);
    return failed ? -1 : 0;
}
