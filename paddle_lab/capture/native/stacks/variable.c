/* One variable of a running frame, and the frame's current instruction.
 *
 * From Python 3.12 on, PyFrame_GetVar() reads a variable. Before, Python can only copy all of them
 * into a dictionary that the frame keeps, so their values would stay alive. So the variable is read
 * from its place in the frame, which CPython's own headers define.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#define Py_BUILD_CORE 1
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif
#include "../native.h"

#if PY_VERSION_HEX < 0x030C0000
static PyObject *local_at(PyObject *frame, PyCodeObject *code, Py_ssize_t at) {
#if PY_VERSION_HEX >= 0x030B0000
    (void)code;
    return ((PyFrameObject *)frame)->f_frame->localsplus[at];
#else
    (void)code;
    return ((PyFrameObject *)frame)->f_localsplus[at];
#endif
}

static PyObject *names_of_locals(PyCodeObject *code) {
#if PY_VERSION_HEX >= 0x030B0000
    return code->co_localsplusnames;
#else
    return code->co_varnames;
#endif
}

/* The position of a name; -1 if it is not there. */
static Py_ssize_t position_of(PyObject *names, PyObject *name) {
    /* Names in code are interned, so an equal name is nearly always the same object. */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (PyTuple_GET_ITEM(names, i) == name) {
            return i;
        }
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static PyObject *fast_variable(PyObject *frame, PyCodeObject *code, PyObject *name) {
    const Py_ssize_t at = position_of(names_of_locals(code), name);
    PyObject *value = at < 0 ? NULL : local_at(frame, code, at);
    if (value != NULL && PyCell_Check(value)) {
        value = PyCell_GET(value);
    }
    return Py_XNewRef(value);
}
#endif

PyObject *frame_variable(PyObject *frame, PyObject *name) {
    PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);
    Py_DECREF(code); /* the frame still has a reference */
    PyObject *value = NULL;
    if (!(code->co_flags & CO_OPTIMIZED)) {
#if PY_VERSION_HEX >= 0x030B0000
        PyObject *variables = PyFrame_GetLocals((PyFrameObject *)frame);
#else
        PyObject *variables = PyObject_GetAttrString(frame, "f_locals");
#endif
        /* another type would run its own code */
        value = variables != NULL && PyDict_CheckExact(variables)
                    ? Py_XNewRef(PyDict_GetItemWithError(variables, name))
                    : NULL;
        Py_XDECREF(variables);
    } else {
#if PY_VERSION_HEX >= 0x030C0000
        value = PyFrame_GetVar((PyFrameObject *)frame, name);
#else
        value = fast_variable(frame, code, name);
#endif
    }
    if (value == NULL) {
        PyErr_Clear(); /* the variable has no value yet */
    }
    return value;
}

PyObject *read_variable(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t given) {
    if (given != 3 || !PyFrame_Check(args[0]) || !PyUnicode_Check(args[1])) {
        return PyErr_Format(PyExc_TypeError, "frame_variable() takes frame, name, default");
    }
    PyObject *value = frame_variable(args[0], args[1]);
    return value == NULL ? Py_NewRef(args[2]) : value;
}

int frame_lasti(PyObject *frame) {
#if PY_VERSION_HEX >= 0x030B0000
    return PyFrame_GetLasti((PyFrameObject *)frame);
#else
    return (int)taken_integer(PyObject_GetAttrString(frame, "f_lasti"));
#endif
}
