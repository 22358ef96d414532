/* The only recorder that listens. */
#include "../native.h"
#include <string.h>

Owner *present_owner;

int Owner_listens_alone(const Owner *owner) { return owner->sinks->active == owner->alone; }

int64_t now_ns(void) {
#if PY_VERSION_HEX >= 0x030D0000
    PyTime_t now;
    (void)PyTime_PerfCounterRaw(&now);
    return now;
#else
    return _PyTime_GetPerfCounter();
#endif
}

ThreadState *Owner_thread(Owner *owner) {
    unsigned long identity = PyThread_get_thread_ident();
    if (owner->thread != NULL && identity == owner->thread_identity) {
        return owner->thread;
    }
    PyObject *state = PyObject_CallMethod(owner->recorder, "thread", NULL);
    if (state == NULL) {
        return NULL;
    }
    if (!PyObject_TypeCheck(state, &ThreadCellsType)) {
        Py_DECREF(state);
        PyErr_SetString(PyExc_TypeError, "a thread's state is a ThreadState");
        return NULL;
    }
    Py_DECREF(state); /* the recorder keeps this reference */
    owner->thread = (ThreadState *)state;
    owner->thread_identity = identity;
    return owner->thread;
}

int Owner_abandon(Owner *owner) {
    if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_SystemError, "a part of the capture failed without saying why");
    }
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        /* An interrupt in our Python code is raised at the user's line, without our frames. */
        PyObject *kind, *interrupt, *own_frames;
        PyErr_Fetch(&kind, &interrupt, &own_frames);
        PyErr_NormalizeException(&kind, &interrupt, &own_frames);
        Py_XDECREF(own_frames);
        PyException_SetTraceback(interrupt, Py_None);
        PyErr_Restore(kind, interrupt, NULL);
        return -1;
    }
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *done = PyObject_CallMethod(owner->recorder, "abandon", "O", error);
    Py_XDECREF(done);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    if (done == NULL) {
        PyErr_Clear();
    }
    return 0;
}

#define EACH_PART(VISIT)                                                                           \
    VISIT(owner->recorder);                                                                        \
    VISIT(owner->alone);                                                                           \
    VISIT(owner->sinks);                                                                           \
    VISIT(owner->tensor_type);                                                                     \
    VISIT(owner->parameter_type);                                                                  \
    VISIT(owner->known);                                                                           \
    VISIT(owner->tensor_rows);                                                                     \
    VISIT(owner->shapes);                                                                          \
    VISIT(owner->dtypes);                                                                          \
    VISIT(owner->names);                                                                           \
    VISIT(owner->meeting_listeners);                                                               \
    VISIT(owner->data_listeners);                                                                  \
    VISIT(owner->tensor_pool);                                                                     \
    VISIT(owner->next_tensor);                                                                     \
    VISIT(owner->ops);                                                                             \
    VISIT(owner->next_op);                                                                         \
    VISIT(owner->stacks);                                                                          \
    VISIT(owner->turns);                                                                           \
    VISIT(owner->last_scope);                                                                      \
    VISIT(owner->threads);                                                                         \
    VISIT(owner->known_layers);                                                                    \
    VISIT(owner->layer_pool);                                                                      \
    VISIT(owner->scopes);                                                                          \
    VISIT(owner->next_scope);                                                                      \
    VISIT(owner->eval_scopes);                                                                     \
    VISIT(owner->attributes);                                                                      \
    VISIT(owner->attribute_forms);                                                                 \
    VISIT(owner->call_tape);                                                                       \
    VISIT(owner->on_op)

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Owner *owner = (Owner *)self;
    EACH_PART(Py_VISIT);
    return 0;
}

static int clear(PyObject *self) {
    Owner *owner = (Owner *)self;
    EACH_PART(Py_CLEAR);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    PyObject_GC_Del(self);
}

PyTypeObject OwnerType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.Owner",
    .tp_basicsize = sizeof(Owner),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = dealloc,
    .tp_traverse = traverse,
    .tp_clear = clear,
};

/* Return a new reference to an attribute of the given type, or of any type for NULL. */
static void *part(PyObject *object, const char *name, PyTypeObject *type) {
    PyObject *value = PyErr_Occurred() ? NULL : PyObject_GetAttrString(object, name);
    if (value != NULL && type != NULL && !PyObject_TypeCheck(value, type)) {
        PyErr_Format(PyExc_TypeError, "%s is no %s", name, type->tp_name);
        Py_CLEAR(value);
    }
    return value;
}

static int flag(PyObject *object, const char *name) {
    PyObject *value = part(object, name, &PyBool_Type);
    Py_XDECREF(value);
    return value == Py_True;
}

static int find_parts(Owner *owner, PyObject *recorder) {
    owner->tensor_type = part(recorder, "tensor_type", &PyType_Type);
    owner->parameter_type = part(recorder, "parameter_type", &PyType_Type);
    owner->ops = part(recorder, "ops", &TapeType);
    owner->next_op = part(recorder, "next_op", &CounterType);
    owner->scopes = part(recorder, "scopes", &TapeType);
    owner->next_scope = part(recorder, "next_scope", &CounterType);
    owner->eval_scopes = part(recorder, "eval_scopes", &TapeType);
    owner->attributes = part(recorder, "attributes", &PyDict_Type);
    owner->attribute_forms = part(recorder, "attribute_forms", &PyDict_Type);
    owner->call_tape = part(recorder, "call_tape", NULL);
    owner->on_op = part(recorder, "on_op", NULL);
    owner->stacks = part(recorder, "stacks", &StackPoolType);
    owner->turns = part(recorder, "turns", NULL);
    owner->threads = part(recorder, "threads", &PyDict_Type);
    owner->alone = part(recorder, "alone", &PyTuple_Type);
    owner->tensor_pool = part(recorder, "tensors", NULL);
    owner->layer_pool = part(recorder, "layers", NULL);
    if (PyErr_Occurred()) {
        return -1;
    }
    owner->last_scope = part(owner->turns, "last_scope", &LastScopeType);
    owner->known = part(owner->tensor_pool, "known", &ObjectTableType);
    owner->tensor_rows = part(owner->tensor_pool, "rows", &TapeType);
    owner->shapes = part(owner->tensor_pool, "shapes", &PyDict_Type);
    owner->dtypes = part(owner->tensor_pool, "dtypes", &PyDict_Type);
    owner->names = part(owner->tensor_pool, "names", &PyDict_Type);
    owner->meeting_listeners = part(owner->tensor_pool, "meeting_listeners", &PyList_Type);
    owner->data_listeners = part(owner->tensor_pool, "data_listeners", &PyList_Type);
    owner->next_tensor = part(owner->tensor_pool, "next_key", &CounterType);
    owner->known_layers = part(owner->layer_pool, "known", &ObjectTableType);
    owner->reads_place = flag(owner->tensor_pool, "reads_place");
    owner->reads_grad_nodes = flag(owner->tensor_pool, "reads_grad_nodes");
    owner->writes_flight_only = flag(recorder, "writes_flight_only");
    return PyErr_Occurred() ? -1 : properties_find(owner->tensor_type);
}

PyObject *listen_for(PyObject *Py_UNUSED(module), PyObject *args) {
    PyObject *recorder, *sinks;
    if (!PyArg_ParseTuple(args, "OO!", &recorder, &SinksType, &sinks)) {
        return NULL;
    }
    Owner *owner = NULL;
    if (recorder != Py_None) {
        owner = PyObject_GC_New(Owner, &OwnerType);
        if (owner == NULL) {
            return NULL;
        }
        memset((char *)owner + sizeof(PyObject), 0, sizeof(Owner) - sizeof(PyObject));
        owner->sinks = (Sinks *)Py_NewRef(sinks);
        owner->recorder = Py_NewRef(recorder);
        PyObject_GC_Track(owner);
        if (find_parts(owner, recorder) < 0) {
            Py_DECREF(owner);
            return NULL;
        }
    }
    Owner *before = present_owner;
    present_owner = owner;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}
