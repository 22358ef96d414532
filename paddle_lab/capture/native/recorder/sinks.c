/* The recorders of the open traces. Every hook reads them. */
#include "../native.h"
#include <structmember.h>

static PyObject *new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs)) {
    Sinks *sinks = (Sinks *)type->tp_alloc(type, 0);
    if (sinks != NULL && (sinks->active = PyTuple_New(0)) == NULL) {
        Py_CLEAR(sinks);
    }
    return (PyObject *)sinks;
}

static PyObject *get_active(PyObject *self, void *Py_UNUSED(closure)) {
    return Py_NewRef(((Sinks *)self)->active);
}

static int set_active(PyObject *self, PyObject *value, void *Py_UNUSED(closure)) {
    if (value == NULL || !PyTuple_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "active is a tuple of recorders");
        return -1;
    }
    PyObject *before = ((Sinks *)self)->active;
    ((Sinks *)self)->active = Py_NewRef(value);
    Py_DECREF(before);
    return 0;
}

static void dealloc(PyObject *self) {
    Py_XDECREF(((Sinks *)self)->active);
    Py_TYPE(self)->tp_free(self);
}

static PyGetSetDef properties[] = {
    {"active", get_active, set_active, "The recorders, outermost first.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
PyTypeObject SinksType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "paddle_lab.capture.native._native.Sinks",
    .tp_basicsize = sizeof(Sinks),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = new,
    .tp_dealloc = dealloc,
    .tp_getset = properties,
};
