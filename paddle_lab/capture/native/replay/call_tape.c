/* Notes calls of ops with what they need to run again: capture/replay/call_tape.py in C. */
#include "../growing.h"
#include "../native.h"
#include <string.h>
#include <structmember.h>

#define FEW_READS 64

/* The tensors among the arguments of a call, as the cells of its row. */
typedef struct {
    int64_t few[FEW_READS];
    Growing more; /* used instead of ``few`` once that is full */
    Py_ssize_t length;
} Reads;

static int add_read(Reads *reads, int64_t read) {
    if (reads->length < FEW_READS) {
        reads->few[reads->length++] = read;
        return 0;
    }
    int64_t *added = Growing_add(&reads->more, 1, sizeof read);
    if (added == NULL) {
        return -1;
    }
    *added = read;
    reads->length++;
    return 0;
}

/* The tensor's number; NO_KEY and an exception if it fails. ``version`` may be UNREAD. */
static int64_t number_of(CallTape *tape, PyObject *tensor, int64_t version) {
    const int64_t packed = ObjectTable_find_value(tape->numbers, tensor);
    if (packed >= 0) {
        if ((packed & LARGEST_VERSION) == NO_VERSION) {
            version = NO_VERSION;
        } else if (version == UNREAD) {
            version = tensor_version(tensor);
        }
        if (version < 0 && PyErr_Occurred()) {
            return NO_KEY;
        }
        const int64_t number = packed >> VERSION_BITS;
        if ((packed & LARGEST_VERSION) == (version & LARGEST_VERSION) &&
            number >= AddressTable_get(tape->stale, tape->storages->cells[number], 0)) {
            return number;
        }
    }
    return taken_integer(PyObject_CallMethod(tape->listener, "hold", "O", tensor));
}

static PyObject *frozen(CallTape *tape, PyObject *value, Reads *reads);

/* A copy of ``count`` values as a tuple, or as a list. */
static PyObject *frozen_all(CallTape *tape, PyObject *const *values, Py_ssize_t count, int is_list,
                            Reads *reads) {
    PyObject *copy = is_list ? PyList_New(count) : PyTuple_New(count);
    for (Py_ssize_t i = 0; copy != NULL && i < count; i++) {
        PyObject *one = frozen(tape, values[i], reads);
        if (one == NULL) {
            Py_CLEAR(copy);
        } else if (is_list) {
            PyList_SET_ITEM(copy, i, one);
        } else {
            PyTuple_SET_ITEM(copy, i, one);
        }
    }
    return copy;
}

static PyObject *frozen_dict(CallTape *tape, PyObject *values, Reads *reads) {
    PyObject *copy = PyDict_Copy(values);
    PyObject *name, *value;
    Py_ssize_t at = 0;
    /* Only values of existing names are replaced, so the copy may be changed during the loop. */
    while (copy != NULL && PyDict_Next(copy, &at, &name, &value)) {
        PyObject *one = frozen(tape, value, reads);
        if (one == NULL || PyDict_SetItem(copy, name, one) < 0) {
            Py_CLEAR(copy);
        }
        Py_XDECREF(one);
    }
    return copy;
}

static int read_tensor(CallTape *tape, PyObject *tensor, int64_t version, Reads *reads) {
    const int64_t number = number_of(tape, tensor, version);
    const int stops = number < 0 ? -1 : tensor_stop_gradient(tensor);
    return stops < 0 ? -1 : add_read(reads, number << 1 | stops);
}

static PyObject *frozen(CallTape *tape, PyObject *value, Reads *reads) {
    if (PyObject_TypeCheck(value, tape->tensor_type)) {
        return read_tensor(tape, value, UNREAD, reads) < 0 ? NULL : Py_NewRef(tape->mark);
    }
    const int is_list = PyList_CheckExact(value);
    if (is_list || PyTuple_CheckExact(value)) {
        Py_INCREF(value);
        PyObject *copy = frozen_all(tape, PySequence_Fast_ITEMS(value),
                                    PySequence_Fast_GET_SIZE(value), is_list, reads);
        Py_DECREF(value);
        return copy;
    }
    if (PyDict_CheckExact(value)) {
        return frozen_dict(tape, value, reads);
    }
    return PyObject_TypeCheck(value, tape->array_type) ? PyObject_CallMethod(value, "copy", NULL)
                                                       : Py_NewRef(value);
}

/* The positional arguments. Ops whose arguments are all tensors share a tuple. */
static PyObject *frozen_args(CallTape *tape, PyObject *const *args, Py_ssize_t count,
                             const int64_t *versions, Reads *reads) {
    int are_tensors = count < FEW_ARGUMENTS;
    for (Py_ssize_t i = 0; are_tensors && i < count; i++) {
        are_tensors = PyObject_TypeCheck(args[i], tape->tensor_type);
    }
    if (!are_tensors) {
        return frozen_all(tape, args, count, 0, reads);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (read_tensor(tape, args[i], versions == NULL ? UNREAD : versions[i], reads) < 0) {
            return NULL;
        }
    }
    return Py_NewRef(PyTuple_GET_ITEM(tape->all_marks, count));
}

static int64_t add_row(CallTape *tape, PyObject *function, PyObject *name, PyObject *args,
                       PyObject *keywords, const Reads *reads) {
    const int64_t at = tape->calls->start + tape->calls->length;
    int64_t *row = Tape_reserve(tape->calls, 2 + reads->length);
    if (row == NULL) {
        return NO_KEY;
    }
    row[0] = PyList_GET_SIZE(tape->objects);
    row[1] = reads->length;
    for (Py_ssize_t i = 0; i < reads->length; i++) {
        row[2 + i] =
            i < FEW_READS ? reads->few[i] : ((const int64_t *)reads->more.items)[i - FEW_READS];
    }
    PyObject *objects[] = {function, name, args, keywords == NULL ? Py_None : keywords};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        if (PyList_Append(tape->objects, objects[i]) < 0) {
            return NO_KEY;
        }
    }
    return at;
}

static int has_out(PyObject *names) {
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "out") == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether an op needs note_special(); -1 and an exception if it fails. */
static int is_special(CallTape *tape, PyObject *name) {
    PyObject *known = PyDict_GetItemWithError(tape->special, name);
    if (known != NULL || PyErr_Occurred()) {
        return known == NULL ? -1 : known == Py_True;
    }
    known = PyObject_CallMethod(tape->listener, "is_special", "O", name);
    if (known == NULL || PyDict_SetItem(tape->special, name, known) < 0) {
        Py_XDECREF(known);
        return -1;
    }
    Py_DECREF(known);
    return known == Py_True;
}

/* The row's position; NO_KEY and an exception if it fails. */
static int64_t begun(CallTape *tape, PyObject *function, PyObject *name, PyObject *const *args,
                     Py_ssize_t count, PyObject *names, const int64_t *versions) {
    Reads reads;
    reads.length = 0;
    reads.more = (Growing){0};
    PyObject *keywords = NULL, *frozen_keywords = NULL;
    int64_t at = NO_KEY;
    PyObject *tuple = frozen_args(tape, args, count, versions, &reads);
    const int has_keywords = names != NULL && PyTuple_GET_SIZE(names) > 0;
    if (tuple == NULL ||
        (has_keywords && ((keywords = keyword_dict(args + count, names)) == NULL ||
                          (frozen_keywords = frozen_dict(tape, keywords, &reads)) == NULL))) {
        goto end;
    }
    at = add_row(tape, function, name, tuple, frozen_keywords, &reads);
    const int special = at < 0 ? -1 : has_out(names) ? 1 : is_special(tape, name);
    if (special == 1) {
        PyObject *given = arguments_tuple(args, count);
        PyObject *done = given == NULL ? NULL
                                       : PyObject_CallMethod(tape->listener, "note_special", "LOOO",
                                                             (long long)at, name, given,
                                                             keywords == NULL ? Py_None : keywords);
        Py_XDECREF(given);
        Py_XDECREF(done);
        at = done == NULL ? NO_KEY : at;
    } else if (special < 0) {
        at = NO_KEY;
    }
end:
    Py_XDECREF(tuple);
    Py_XDECREF(keywords);
    Py_XDECREF(frozen_keywords);
    Growing_drop(&reads.more);
    return at;
}

/* Tell the listener about the current exception. Returns -1 if code should not catch it. */
static int give_up(CallTape *tape) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return -1;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *done = PyObject_CallMethod(tape->listener, "fail", "O", error);
    Py_XDECREF(done);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return done == NULL ? -1 : 0;
}

int CallTape_begin(CallTape *tape, PyObject *function, PyObject *name, PyObject *const *args,
                   Py_ssize_t count, PyObject *names, const int64_t *versions, int64_t *at) {
    *at = NO_KEY;
    if (!tape->is_open) {
        return 0;
    }
    *at = begun(tape, function, name, args, count, names, versions);
    return *at == NO_KEY ? give_up(tape) : 0;
}

/* Whether a call read the tensor with a number. */
static int has_read(const CallTape *tape, int64_t at, int64_t number) {
    const int64_t *row = tape->calls->cells + (at - tape->calls->start);
    for (int64_t i = 0; at >= 0 && i < row[1]; i++) {
        if (row[2 + i] >> 1 == number) {
            return 1;
        }
    }
    return 0;
}

static int64_t taken(CallTape *tape, int64_t storage) {
    int64_t *cell = Tape_reserve(tape->storages, 1);
    if (cell == NULL) {
        return NO_KEY;
    }
    *cell = storage;
    return tape->storages->length - 1;
}

/* The number of a tensor that a call returned; NO_KEY and an exception if it fails. */
static int64_t made_number(CallTape *tape, int64_t at, PyObject *tensor, const MadeTensor *made) {
    if (!made->is_initialized) {
        return taken(tape, NO_KEY);
    }
    const int64_t storage = made->is_dense ? tensor_storage(tensor) : NO_KEY;
    const int64_t packed =
        PyErr_Occurred() ? NO_KEY : ObjectTable_find_value(tape->numbers, tensor);
    int64_t number = packed >> VERSION_BITS;
    if (PyErr_Occurred()) {
        return NO_KEY;
    }
    if (packed < 0 || tape->storages->cells[number] != storage) {
        number = taken(tape, storage);
    } else if (has_read(tape, at, number)) {
        PyObject *done = PyObject_CallMethod(tape->listener, "note_returned", "LLL", (long long)at,
                                             (long long)number, (long long)storage);
        Py_XDECREF(done);
        number = done == NULL ? NO_KEY : number;
    }
    const int64_t version = made->is_dense ? made->version : NO_VERSION;
    const int64_t value = number << VERSION_BITS | (version & LARGEST_VERSION);
    return number < 0 || ObjectTable_note_value(tape->numbers, tensor, value) < 0 ? NO_KEY : number;
}

/* ``tensors``: what is known of the tensors among the values, or NULL. */
static int note_end(CallTape *tape, int64_t key, int64_t at, PyObject *const *values,
                    Py_ssize_t count, Py_ssize_t returned, const MadeTensor *tensors) {
    int64_t few[FEW_READS];
    int64_t *made = few;
    if (returned > FEW_READS && (made = PyMem_Malloc((size_t)returned * sizeof *made)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int builds_graph = 0, failed = 0;
    Py_ssize_t filled = 0;
    for (Py_ssize_t i = 0; !failed && i < count; i++) {
        MadeTensor one;
        if (values[i] == Py_None) {
            continue;
        }
        if (tensors != NULL) {
            one = tensors[filled];
        } else {
            failed = MadeTensor_read(&one, values[i]) < 0;
        }
        made[filled] = failed ? NO_KEY : made_number(tape, at, values[i], &one);
        builds_graph |= one.is_initialized && one.has_node;
        failed = made[filled++] < 0;
    }
    int64_t *row = failed ? NULL : Tape_reserve(tape->results, 4 + returned);
    if (row != NULL) {
        row[0] = key;
        row[1] = at;
        row[2] = builds_graph;
        row[3] = returned;
        memcpy(row + 4, made, (size_t)returned * sizeof *made);
    }
    if (made != few) {
        PyMem_Free(made);
    }
    return row == NULL ? -1 : 0;
}

int CallTape_end(CallTape *tape, int64_t key, int64_t at, const Made *made,
                 const MadeTensor *tensors) {
    if (!tape->is_open || at < 0) {
        return 0;
    }
    return note_end(tape, key, at, made->values, made->count, made->tensors, tensors) < 0
               ? give_up(tape)
               : 0;
}

/* -- for Python ------------------------------------------------------------------------------ */

static PyObject *begin(PyObject *self, PyObject *args) {
    PyObject *function, *name, *given, *keywords;
    if (!PyArg_ParseTuple(args, "OUO!O", &function, &name, &PyTuple_Type, &given, &keywords)) {
        return NULL;
    }
    PyObject *names = PyDict_Check(keywords) ? PySequence_Tuple(keywords) : PyTuple_New(0);
    PyObject *values = PySequence_List(given);
    int64_t at = NO_KEY;
    if (names != NULL && values != NULL) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
            PyObject *value = PyDict_GetItemWithError(keywords, PyTuple_GET_ITEM(names, i));
            if (value == NULL || PyList_Append(values, value) < 0) {
                goto end;
            }
        }
        at = begun((CallTape *)self, function, name, PySequence_Fast_ITEMS(values),
                   PyTuple_GET_SIZE(given), names, NULL);
    }
end:
    Py_XDECREF(names);
    Py_XDECREF(values);
    return at < 0 ? NULL : PyLong_FromLongLong(at);
}

static PyObject *end(PyObject *self, PyObject *args) {
    long long key, at;
    PyObject *tensors;
    if (!PyArg_ParseTuple(args, "LLO!", &key, &at, &PyList_Type, &tensors)) {
        return NULL;
    }
    const Py_ssize_t count = PyList_GET_SIZE(tensors);
    if (note_end((CallTape *)self, key, at, PySequence_Fast_ITEMS(tensors), count, count, NULL) <
        0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *take(PyObject *self, PyObject *storage) {
    const int64_t number = PyLong_AsLongLong(storage);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(taken((CallTape *)self, number));
}

static PyObject *storage_of(PyObject *self, PyObject *number) {
    const CallTape *tape = (CallTape *)self;
    const int64_t at = PyLong_AsLongLong(number);
    if (at < 0 || at >= tape->storages->length) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_IndexError, "no such tensor");
    }
    return PyLong_FromLongLong(tape->storages->cells[at]);
}

static PyObject *count_taken(PyObject *self, void *Py_UNUSED(closure)) {
    return PyLong_FromSsize_t(((CallTape *)self)->storages->length);
}

static PyObject *new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *tensor_type, *array_type, *mark, *listener;
    if (!PyArg_ParseTuple(args, "O!O!OO", &PyType_Type, &tensor_type, &PyType_Type, &array_type,
                          &mark, &listener)) {
        return NULL;
    }
    CallTape *tape = (CallTape *)type->tp_alloc(type, 0);
    if (tape == NULL) {
        return NULL;
    }
    tape->tensor_type = (PyTypeObject *)Py_NewRef(tensor_type);
    tape->array_type = (PyTypeObject *)Py_NewRef(array_type);
    tape->mark = Py_NewRef(mark);
    tape->listener = Py_NewRef(listener);
    tape->numbers = (ObjectTable *)PyObject_CallNoArgs((PyObject *)&ObjectTableType);
    tape->stale = (AddressTable *)PyObject_CallNoArgs((PyObject *)&AddressTableType);
    tape->calls = (Tape *)PyObject_CallNoArgs((PyObject *)&TapeType);
    tape->results = (Tape *)PyObject_CallNoArgs((PyObject *)&TapeType);
    tape->storages = (Tape *)PyObject_CallNoArgs((PyObject *)&TapeType);
    tape->objects = PyList_New(0);
    tape->special = PyDict_New();
    tape->all_marks = PyTuple_New(FEW_ARGUMENTS);
    int failed = PyErr_Occurred() != NULL || properties_find(tape->tensor_type) < 0;
    for (Py_ssize_t count = 0; !failed && count < FEW_ARGUMENTS; count++) {
        PyObject *marks = PyTuple_New(count);
        for (Py_ssize_t i = 0; marks != NULL && i < count; i++) {
            PyTuple_SET_ITEM(marks, i, Py_NewRef(mark));
        }
        PyTuple_SET_ITEM(tape->all_marks, count, marks);
        failed = marks == NULL;
    }
    if (failed) {
        Py_CLEAR(tape);
    }
    return (PyObject *)tape;
}

#define EACH_PART(VISIT)                                                                           \
    VISIT(tape->tensor_type);                                                                      \
    VISIT(tape->array_type);                                                                       \
    VISIT(tape->mark);                                                                             \
    VISIT(tape->listener);                                                                         \
    VISIT(tape->numbers);                                                                          \
    VISIT(tape->stale);                                                                            \
    VISIT(tape->calls);                                                                            \
    VISIT(tape->results);                                                                          \
    VISIT(tape->storages);                                                                         \
    VISIT(tape->objects);                                                                          \
    VISIT(tape->special);                                                                          \
    VISIT(tape->all_marks)

static int traverse(PyObject *self, visitproc visit, void *arg) {
    CallTape *tape = (CallTape *)self;
    EACH_PART(Py_VISIT);
    return 0;
}

/* Clear only the part that may be in a reference cycle, because methods use the other parts. */
static int clear(PyObject *self) {
    CallTape *tape = (CallTape *)self;
    tape->is_open = 0;
    Py_CLEAR(tape->listener);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    CallTape *tape = (CallTape *)self;
    EACH_PART(Py_CLEAR);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef members[] = {
    {"is_open", T_BOOL, offsetof(CallTape, is_open), 0, "Whether calls are noted."},
    {"numbers", T_OBJECT_EX, offsetof(CallTape, numbers), READONLY, NULL},
    {"stale", T_OBJECT_EX, offsetof(CallTape, stale), READONLY, NULL},
    {"calls", T_OBJECT_EX, offsetof(CallTape, calls), READONLY, NULL},
    {"results", T_OBJECT_EX, offsetof(CallTape, results), READONLY, NULL},
    {"objects", T_OBJECT_EX, offsetof(CallTape, objects), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyGetSetDef properties[] = {
    {"taken", count_taken, NULL, "How many numbers were taken.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef methods[] = {
    {"begin", begin, METH_VARARGS, "Note a call that is about to run, and return its position."},
    {"end", end, METH_VARARGS, "Note what a call returned."},
    {"take", take, METH_O, "Return a new number for a tensor with this storage."},
    {"storage_of", storage_of, METH_O, "Return the storage of the tensor with a number."},
    {NULL, NULL, 0, NULL},
};
PyTypeObject CallTapeType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.CallTape",
    .tp_basicsize = sizeof(CallTape),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_methods = methods,
    .tp_members = members,
    .tp_getset = properties,
};
