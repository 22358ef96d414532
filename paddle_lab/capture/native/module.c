/* paddle_lab.capture.native._native: the hot path of the capture. */
#include "native.h"

PyObject *listen_for(PyObject *module, PyObject *args);                          /* owner.c */
PyObject *find_bindings(PyObject *module, PyObject *args);                       /* search.c */
PyObject *scan_array(PyObject *module, PyObject *const *args, Py_ssize_t given); /* statistics.c */

PyObject *walk_grad_nodes(PyObject *module, PyObject *args, PyObject *keywords); /* grad_walk.c */

/* tensor_properties.c */
PyObject *note_storage(PyObject *module, PyObject *const *args, Py_ssize_t given);

PyObject *thread_frame(PyObject *module, PyObject *ident); /* thread_frame.c */

PyObject *split_log(PyObject *module, PyObject *log); /* split_log.c */

PyObject *read_variable(PyObject *module, PyObject *const *args, Py_ssize_t given); /* variable.c */

PyObject *flight_open(PyObject *module, PyObject *args); /* flight.c */
PyObject *flight_forget(PyObject *module, PyObject *nothing);
PyObject *flight_close(PyObject *module, PyObject *nothing);
PyObject *flight_enter(PyObject *module, PyObject *args);
PyObject *flight_leave(PyObject *module, PyObject *number);

static PyMethodDef functions[] = {
    {"listen_for", listen_for, METH_VARARGS,
     "Let one recorder, or None, own the fast path while it is all that listens."},
    {"note_storage", (PyCFunction)(void (*)(void))note_storage, METH_FASTCALL,
     "Note where a tensor is stored."},
    {"scan", (PyCFunction)(void (*)(void))scan_array, METH_FASTCALL,
     "Tell what is in an array of floats."},
    {"bindings", find_bindings, METH_VARARGS, "Return where namespaces bind some objects."},
    {"walk_grad_nodes", (PyCFunction)(void (*)(void))walk_grad_nodes, METH_VARARGS | METH_KEYWORDS,
     "Record what is reachable from grad nodes."},
    {"frame_variable", (PyCFunction)(void (*)(void))read_variable, METH_FASTCALL,
     "Return a variable of a frame."},
    {"thread_frame", thread_frame, METH_O, "Return the frame that a thread runs, or None."},
    {"split_log", split_log, METH_O, "Split the text of Paddle's log into entries."},
    {"flight_open", flight_open, METH_VARARGS, "Record ops in a buffer, from a byte on."},
    {"flight_forget", flight_forget, METH_NOARGS,
     "Describe all keys again, and return the number of the newest row."},
    {"flight_close", flight_close, METH_NOARGS, "Record nothing more."},
    {"flight_enter", flight_enter, METH_VARARGS, "Record what begins, and return its number."},
    {"flight_leave", flight_leave, METH_O, "Record that it has ended."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_native", .m_size = -1,
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit__native(void) {
    PyTypeObject *types[] = {&TapeType,         &ObjectTableType, &CounterType,    &StackPoolType,
                             &ThreadCellsType,  &SinksType,       &OpFunctionType, &OpMethodType,
                             &AddressTableType, &LineageType,     &LayerCallType,  &LastScopeType,
                             &CallTapeType};
    if (PyType_Ready(&OwnerType) < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    for (size_t i = 0; module != NULL && i < sizeof types / sizeof *types; i++) {
        if (PyModule_AddType(module, types[i]) < 0) {
            Py_CLEAR(module);
        }
    }
    if (module != NULL && PyModule_AddIntConstant(module, "__version__", NATIVE_VERSION) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
