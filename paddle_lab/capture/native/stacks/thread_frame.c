/* The current frame of a thread: thread_frame of capture/running_layer.py in C.
 *
 * sys._current_frames() makes objects while it holds the lock on the list of threads. Before Python
 * 3.12 that may start a garbage collection. If another thread starts or ends during it, that thread
 * waits for the lock while it holds the GIL: a deadlock (CPython's issue 106883). Here no object is
 * made while the list is read.
 */
#include "../native.h"

PyObject *thread_frame(PyObject *Py_UNUSED(module), PyObject *ident) {
    unsigned long wanted = PyLong_AsUnsignedLong(ident);
    if (wanted == (unsigned long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    while (thread != NULL && thread->thread_id != wanted) {
        thread = PyThreadState_Next(thread);
    }
    PyObject *frame = thread == NULL ? NULL : (PyObject *)PyThreadState_GetFrame(thread);
    if (frame == NULL) {
        Py_RETURN_NONE;
    }
    return frame;
}
