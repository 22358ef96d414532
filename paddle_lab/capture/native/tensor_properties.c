/* A tensor's properties, read through the C functions behind paddle.Tensor's descriptors.
 *
 * Only tensors whose type is paddle.Tensor or Paddle's parameter type come here; neither overrides
 * a property in Python. Where a later Paddle makes a property something else than a C descriptor,
 * it is read by its name.
 */
#include "native.h"

typedef struct {
    const char *name;
    PyObject *key;
    PyGetSetDef *getter;
} Property;
static Property shape = {"shape", NULL, NULL};
static Property dtype = {"dtype", NULL, NULL};
static Property place = {"place", NULL, NULL};
static Property stop_gradient = {"stop_gradient", NULL, NULL};
static Property grad_fn = {"grad_fn", NULL, NULL};
static PyObject *version_name, *node_ptr_name, *address_name, *leaking_name, *no_args;
static PyCFunctionWithKeywords version_function;

/* The last dtype seen, and whose key it has: Paddle has one object for each. */
static PyObject *last_dtype;
static const Owner *last_dtype_owner; /* only compared, and forgotten with the next owner */
static int64_t last_dtype_key;

/* GRAD_FN of capture/grad_fn.py, and what it has found out about this Paddle. */
static PyObject *grad_fn_reader;
static enum { UNKNOWN, YES, NO } is_leaking = UNKNOWN, holds_pointer = UNKNOWN;

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

int properties_find(PyTypeObject *tensor_type) {
    if (no_args == NULL) {
        no_args = PyTuple_New(0);
        version_name = PyUnicode_InternFromString("_inplace_version");
        node_ptr_name = PyUnicode_InternFromString("node_ptr");
        address_name = PyUnicode_InternFromString("address");
        leaking_name = PyUnicode_InternFromString("is_leaking");
        PyObject *module = PyImport_ImportModule("paddle_lab.capture.grad_fn");
        grad_fn_reader = module == NULL ? NULL : PyObject_GetAttrString(module, "GRAD_FN");
        Py_XDECREF(module);
        if (grad_fn_reader == NULL || leaking_name == NULL) {
            Py_CLEAR(no_args);
            return -1;
        }
    }
    last_dtype_owner = NULL; /* a new owner may lie where an old one lay */
    PyObject *version = PyDict_GetItemWithError(tensor_type->tp_dict, version_name);
    version_function = NULL;
    if (version != NULL && Py_IS_TYPE(version, &PyMethodDescr_Type)) {
        PyMethodDef *method = ((PyMethodDescrObject *)version)->d_method;
        if ((method->ml_flags & (METH_VARARGS | METH_KEYWORDS)) == (METH_VARARGS | METH_KEYWORDS)) {
            version_function = (PyCFunctionWithKeywords)(void (*)(void))method->ml_meth;
        }
    }
    Property *all[] = {&shape, &dtype, &place, &stop_gradient, &grad_fn};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (find(tensor_type, all[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *get(PyObject *tensor, Property *property) {
    return property->getter != NULL ? property->getter->get(tensor, property->getter->closure)
                                    : PyObject_GetAttr(tensor, property->key);
}

static int64_t taken_integer(PyObject *number) {
    if (number == NULL) {
        return -1;
    }
    int64_t value = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return value;
}

int64_t tensor_version(PyObject *tensor) {
    return taken_integer(version_function != NULL
                             ? version_function(tensor, no_args, NULL)
                             : PyObject_CallMethodNoArgs(tensor, version_name));
}

int tensor_stop_gradient(PyObject *tensor) {
    PyObject *value = get(tensor, &stop_gradient);
    if (value == NULL) {
        return -1;
    }
    int is_true = PyObject_IsTrue(value);
    Py_DECREF(value);
    return is_true;
}

/* Return the number of ``value`` in a dict from values to numbers in order of first use. */
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
    PyObject *sizes = list == NULL ? NULL : PySequence_Tuple(list);
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

/* A tensor of no elements has no place until it is initialised: asked of Python, as is all of it.
 */
int64_t tensor_place_key(Owner *owner, PyObject *tensor) {
    return taken_integer(PyObject_CallMethod(owner->tensor_pool, "place_key", "O", tensor));
}

/* pybind11 keeps the address of the C++ object right behind the head of its Python object. */
static int64_t pointer_behind(PyObject *node) {
    return (int64_t)(intptr_t)*(void **)((char *)node + sizeof(PyObject));
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

int64_t tensor_grad_address(PyObject *tensor) {
    if (is_leaking == UNKNOWN) {
        return first_address(tensor);
    }
    PyObject *node = get(tensor, &grad_fn);
    if (node == NULL || node == Py_None) {
        Py_XDECREF(node);
        return node == NULL ? -1 : 0;
    }
    int64_t address;
    if (holds_pointer == YES) {
        address = pointer_behind(node);
    } else {
        address = taken_integer(PyObject_CallMethodNoArgs(node, node_ptr_name));
        if (holds_pointer == UNKNOWN &&
            Py_TYPE(node)->tp_basicsize >= (Py_ssize_t)sizeof(PyObject) * 2) {
            holds_pointer = pointer_behind(node) == address ? YES : NO;
        }
    }
    if (is_leaking == YES) {
        Py_DECREF(node);
    }
    Py_DECREF(node);
    return address;
}
