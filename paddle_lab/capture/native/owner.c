/* The one recorder that listens alone. */
#include "native.h"
#include <string.h>

Owner owner;

int64_t now_ns(void) {
#if PY_VERSION_HEX >= 0x030D0000
    PyTime_t now;
    (void)PyTime_PerfCounterRaw(&now);
    return now;
#else
    return _PyTime_GetPerfCounter();
#endif
}

ThreadState *owner_thread(void) {
    unsigned long identity = PyThread_get_thread_ident();
    if (owner.thread != NULL && identity == owner.thread_identity) {
        return owner.thread;
    }
    PyObject *state = PyObject_CallMethod(owner.recorder, "thread", NULL);
    if (state == NULL) {
        return NULL;
    }
    if (!PyObject_TypeCheck(state, &ThreadCellsType)) {
        Py_DECREF(state);
        PyErr_SetString(PyExc_TypeError, "a thread's state is a ThreadState");
        return NULL;
    }
    Py_DECREF(state); /* the recorder keeps it */
    owner.thread = (ThreadState *)state;
    owner.thread_identity = identity;
    return owner.thread;
}

int owner_abandon(void) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return -1;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *recorder = Py_XNewRef(owner.recorder);
    PyObject *done = recorder == NULL ? NULL : PyObject_CallMethod(recorder, "abandon", "O", error);
    Py_XDECREF(recorder);
    Py_XDECREF(done);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    if (done == NULL) {
        PyErr_Clear();
    }
    return 0;
}

static void forget(void) {
    Owner before = owner;
    memset(&owner, 0, sizeof owner);
    PyObject *held[] = {
        before.recorder, before.alone, (PyObject *)before.sinks, (PyObject *)before.tensor_type,
        (PyObject *)before.parameter_type, (PyObject *)before.known,
        (PyObject *)before.tensor_rows, before.shapes, before.dtypes, before.tensor_pool,
        (PyObject *)before.next_tensor, (PyObject *)before.ops, (PyObject *)before.next_op,
        (PyObject *)before.stacks, before.threads, (PyObject *)before.known_layers,
        before.layer_pool, (PyObject *)before.scopes, (PyObject *)before.next_scope,
    };
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        Py_XDECREF(held[i]);
    }
}

/* Return a new reference to an attribute, which must be of the type unless that is NULL. */
static void *part(PyObject *object, const char *name, PyTypeObject *type) {
    PyObject *value = PyErr_Occurred() ? NULL : PyObject_GetAttrString(object, name);
    if (value != NULL && type != NULL && !PyObject_TypeCheck(value, type)) {
        PyErr_Format(PyExc_TypeError, "%s is no %s", name, type->tp_name);
        Py_CLEAR(value);
    }
    return value;
}

PyObject *listen_for(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *recorder, *sinks;
    if (!PyArg_ParseTuple(args, "OO!", &recorder, &SinksType, &sinks)) {
        return NULL;
    }
    forget();
    if (recorder == Py_None) {
        Py_RETURN_NONE;
    }
    owner.sinks = (Sinks *)Py_NewRef(sinks);
    owner.recorder = Py_NewRef(recorder);
    owner.tensor_type = part(recorder, "tensor_type", &PyType_Type);
    owner.parameter_type = part(recorder, "parameter_type", &PyType_Type);
    owner.ops = part(recorder, "ops", &TapeType);
    owner.next_op = part(recorder, "next_op", &CounterType);
    owner.scopes = part(recorder, "scopes", &TapeType);
    owner.next_scope = part(recorder, "next_scope", &CounterType);
    owner.stacks = part(recorder, "stacks", &StackPoolType);
    owner.threads = part(recorder, "threads", &PyDict_Type);
    owner.tensor_pool = part(recorder, "tensors", NULL);
    owner.layer_pool = part(recorder, "layers", NULL);
    if (!PyErr_Occurred()) {
        owner.known = part(owner.tensor_pool, "known", &ObjectTableType);
        owner.tensor_rows = part(owner.tensor_pool, "rows", &TapeType);
        owner.shapes = part(owner.tensor_pool, "shapes", &PyDict_Type);
        owner.dtypes = part(owner.tensor_pool, "dtypes", &PyDict_Type);
        owner.next_tensor = part(owner.tensor_pool, "next_key", &CounterType);
        owner.known_layers = part(owner.layer_pool, "known", &ObjectTableType);
        PyObject *reads_place = part(owner.tensor_pool, "reads_place", &PyBool_Type);
        owner.reads_place = reads_place == Py_True;
        Py_XDECREF(reads_place);
    }
    PyObject *alone = part(recorder, "alone", &PyTuple_Type);
    if (alone == NULL || properties_find(owner.tensor_type) < 0) {
        Py_XDECREF(alone);
        forget();
        return NULL;
    }
    owner.alone = alone; /* last: from here on the fast path is open */
    Py_RETURN_NONE;
}
