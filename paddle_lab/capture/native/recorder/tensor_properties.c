/* A tensor's properties, read through the C functions behind paddle.Tensor's descriptors.
 *
 * Only tensors of type paddle.Tensor or of Paddle's parameter type come here. Neither type
 * overrides a property in Python. If a later Paddle does not implement a property as a C
 * descriptor, it is read by its name.
 */
#include "../native.h"

typedef struct {
    const char *name;
    PyObject *key;
    PyGetSetDef *getter;
} Property;
static Property shape = {"shape", NULL, NULL};
static Property dtype = {"dtype", NULL, NULL};
static Property stop_gradient = {"stop_gradient", NULL, NULL};
static Property grad_fn = {"grad_fn", NULL, NULL};
static Property persistable = {"persistable", NULL, NULL};
static Property is_leaf = {"is_leaf", NULL, NULL};
static Property name = {"name", NULL, NULL};

typedef struct {
    const char *name;
    PyObject *key;
    PyCFunctionWithKeywords function; /* NULL: called by its name */
} Method;
static Method version = {"_inplace_version", NULL, NULL};
static Method is_initialized = {"_is_initialized", NULL, NULL};
static Method is_dense = {"is_dense", NULL, NULL};
static Method is_dist = {"is_dist", NULL, NULL};
static Method data_ptr = {"data_ptr", NULL, NULL};
static Method offset = {"_offset", NULL, NULL};
static Method storage_bytes = {"_holder_size", NULL, NULL};
static PyTypeObject *found_type; /* only compared */
static PyObject *no_args;

/* The last dtype, its key, and the owner of this key. Paddle has one object for each dtype. */
static PyObject *last_dtype;
static const Owner *last_dtype_owner; /* only compared, and reset with the next owner */
static int64_t last_dtype_key;

static int find(PyTypeObject *type, Property *property) {
    if (property->key == NULL &&
        (property->key = PyUnicode_InternFromString(property->name)) == NULL) {
        return -1;
    }
    PyObject *descriptor = PyDict_GetItemWithError(type->tp_dict, property->key);
    property->getter = descriptor != NULL && Py_IS_TYPE(descriptor, &PyGetSetDescr_Type)
                           ? ((PyGetSetDescrObject *)descriptor)->d_getset
                           : NULL;
    return PyErr_Occurred() ? -1 : 0;
}

static int find_method(PyTypeObject *type, Method *method) {
    if (method->key == NULL && (method->key = PyUnicode_InternFromString(method->name)) == NULL) {
        return -1;
    }
    method->function = NULL;
    PyObject *descriptor = PyDict_GetItemWithError(type->tp_dict, method->key);
    if (descriptor != NULL && Py_IS_TYPE(descriptor, &PyMethodDescr_Type)) {
        PyMethodDef *definition = ((PyMethodDescrObject *)descriptor)->d_method;
        const int takes_keywords = METH_VARARGS | METH_KEYWORDS;
        if ((definition->ml_flags & takes_keywords) == takes_keywords) {
            method->function = (PyCFunctionWithKeywords)(void (*)(void))definition->ml_meth;
        }
    }
    return PyErr_Occurred() ? -1 : 0;
}

int properties_find(PyTypeObject *tensor_type) {
    if (no_args == NULL && (no_args = PyTuple_New(0)) == NULL) {
        return -1;
    }
    last_dtype_owner = NULL; /* a new owner may have the address of an old one */
    Property *all[] = {&shape, &dtype, &stop_gradient, &grad_fn, &persistable, &is_leaf, &name};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (find(tensor_type, all[i]) < 0) {
            return -1;
        }
    }
    found_type = tensor_type;
    Method *methods[] = {&version,  &is_initialized, &is_dense,     &is_dist,
                         &data_ptr, &offset,         &storage_bytes};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (find_method(tensor_type, methods[i]) < 0) {
            return -1;
        }
    }
    return grad_address_begin();
}

static PyObject *get(PyObject *tensor, Property *property) {
    return property->getter != NULL ? property->getter->get(tensor, property->getter->closure)
                                    : PyObject_GetAttr(tensor, property->key);
}

int64_t taken_integer(PyObject *number) {
    if (number == NULL) {
        return -1;
    }
    int64_t value = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return value;
}

static PyObject *call(PyObject *tensor, Method *method) {
    return method->function != NULL ? method->function(tensor, no_args, NULL)
                                    : PyObject_CallMethodNoArgs(tensor, method->key);
}

static int taken_truth(PyObject *value) {
    if (value == NULL) {
        return -1;
    }
    int is_true = PyObject_IsTrue(value);
    Py_DECREF(value);
    return is_true;
}

int64_t tensor_version(PyObject *tensor) { return taken_integer(call(tensor, &version)); }

int64_t tensor_first_version(PyObject *tensor, int *dense) {
    int has_version = *dense = tensor_is_dense(tensor);
    if (has_version == 0) {
        has_version = taken_truth(call(tensor, &is_dist));
    }
    return has_version == 1 ? tensor_version(tensor) : has_version == 0 ? NO_VERSION : -1;
}

int tensor_stop_gradient(PyObject *tensor) { return taken_truth(get(tensor, &stop_gradient)); }

int tensor_is_persistable(PyObject *tensor) { return taken_truth(get(tensor, &persistable)); }

int tensor_is_leaf(PyObject *tensor) { return taken_truth(get(tensor, &is_leaf)); }

int tensor_is_initialized(PyObject *tensor) { return taken_truth(call(tensor, &is_initialized)); }

int tensor_is_dense(PyObject *tensor) { return taken_truth(call(tensor, &is_dense)); }

int MadeTensor_read(MadeTensor *made, PyObject *tensor) {
    made->is_initialized = tensor_is_initialized(tensor);
    if (made->is_initialized == 1) {
        made->version = tensor_first_version(tensor, &made->is_dense);
        made->has_node = !tensor_stop_gradient(tensor) && !tensor_is_leaf(tensor);
    }
    return PyErr_Occurred() ? -1 : 0;
}

int64_t tensor_storage(PyObject *tensor) {
    const int64_t start = taken_integer(call(tensor, &data_ptr));
    const int64_t before = PyErr_Occurred() ? -1 : taken_integer(call(tensor, &offset));
    return PyErr_Occurred() ? -1 : start - before;
}

/* Note where a tensor is stored: note_storage() of capture/memory/storages.py in C. */
PyObject *note_storage(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count) {
    if (count != 3 || !PyList_Check(args[0]) || found_type == NULL ||
        !PyObject_TypeCheck(args[1], found_type)) {
        return PyErr_Format(PyExc_TypeError, "a list, a tensor and its row are needed");
    }
    PyObject *tensor = args[1];
    if (tensor_is_initialized(tensor) == 1 && tensor_is_dense(tensor) == 1 &&
        taken_integer(call(tensor, &data_ptr)) > 0) {
        const long long address = tensor_storage(tensor);
        PyObject *bytes = address < 0 ? NULL : call(tensor, &storage_bytes);
        PyObject *row = bytes == NULL
                            ? NULL
                            : Py_BuildValue("OLNL", args[2], address, bytes, (long long)now_ns());
        const int failed = row == NULL || PyList_Append(args[0], row) < 0;
        Py_XDECREF(row);
        if (failed) {
            return NULL;
        }
    }
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* Return the number of ``value`` in a dict that numbers values in the order of first use. */
static int64_t key_in(PyObject *keys, PyObject *value) {
    PyObject *known = PyDict_GetItemWithError(keys, value);
    if (known != NULL) {
        return PyLong_AsLongLong(known);
    }
    if (PyErr_Occurred()) {
        return -1;
    }
    int64_t key = PyDict_GET_SIZE(keys);
    PyObject *number = PyLong_FromLongLong(key);
    int failed = number == NULL || PyDict_SetItem(keys, value, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : key;
}

int64_t tensor_shape_key(Owner *owner, PyObject *tensor) {
    PyObject *list = get(tensor, &shape);
    PyObject *sizes = list == NULL         ? NULL
                      : PyList_Check(list) ? PyList_AsTuple(list)
                                           : PySequence_Tuple(list);
    int64_t key = sizes == NULL ? -1 : key_in(owner->shapes, sizes);
    Py_XDECREF(list);
    Py_XDECREF(sizes);
    return key;
}

int64_t tensor_dtype_key(Owner *owner, PyObject *tensor) {
    PyObject *value = get(tensor, &dtype);
    if (value == NULL) {
        return -1;
    }
    if (value != last_dtype || owner != last_dtype_owner) {
        int64_t key = key_in(owner->dtypes, value);
        if (key < 0) {
            Py_DECREF(value);
            return -1;
        }
        last_dtype_key = key;
        Py_XSETREF(last_dtype, Py_NewRef(value));
        last_dtype_owner = owner;
    }
    Py_DECREF(value);
    return last_dtype_key;
}

int64_t tensor_name_key(Owner *owner, PyObject *tensor) {
    PyObject *value = get(tensor, &name);
    int64_t key = value == NULL ? -1 : key_in(owner->names, value);
    Py_XDECREF(value);
    return key;
}

/* Python reads the place, because an empty tensor has none until it is initialized. */
int64_t tensor_place_key(Owner *owner, PyObject *tensor) {
    return taken_integer(PyObject_CallMethod(owner->tensor_pool, "place_key", "O", tensor));
}

PyObject *tensor_grad_fn(PyObject *tensor) { return get(tensor, &grad_fn); }
