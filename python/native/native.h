// What the parts of the extension module share. It keeps to the limited API of Python 3.9 and to NumPy's API of 1.19,
// so that one file serves every later Python and NumPy.
//
// Everything here runs under the interpreter's lock but the work on large arrays.
#pragma once

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
// Else 1.23 is asked for, and Debian 11's NumPy refuses the module. That of 1.19 is the API of 1.16.
#define NPY_TARGET_VERSION NPY_1_16_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL millrace_numpy
#ifndef MILLRACE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <Python.h>
#include <numpy/arrayobject.h>

#include "millrace/millrace.h"

namespace millrace_python {

// METH_FASTCALL, by the number that it has had since 3.7: the headers name it in the limited API from 3.10 on only.
inline constexpr int fast_call = 0x0080;

// Below this, letting other threads run costs more than they could do meanwhile.
inline constexpr npy_intp release_from_bytes = 65536;

using Words = PyObject* const*;

inline PyObject* object(PyArrayObject* array) { return reinterpret_cast<PyObject*>(array); }
inline PyObject* object(PyArray_Descr* descr) { return reinterpret_cast<PyObject*>(descr); }
inline PyArrayObject* as_array(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

inline PyObject* keep(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// The function in Python that takes any arguments and has words for those that are wrong, called with ours.
PyObject* call_general(PyObject* function, Words words, Py_ssize_t count, PyObject* names);

// The one keyword argument called "out", if `names` are that or nothing; else `fits` is false.
PyObject* out_argument(Words words, Py_ssize_t count, PyObject* names, bool& fits);

// Null, with the exception set.
PyObject* failed(millrace_status status);

PyObject* pack(PyObject*, Words words, Py_ssize_t count, PyObject* names);
PyObject* unpack(PyObject*, Words words, Py_ssize_t count, PyObject* names);
PyObject* forget_copies(PyObject*, PyObject*);
PyObject* prepare_copies(PyObject*, PyObject* arguments);

PyObject* reduce(PyObject*, Words words, Py_ssize_t count, PyObject* names);
PyObject* forget_types(PyObject*, PyObject*);
PyObject* prepare_reductions(PyObject*, PyObject* arguments);

}  // namespace millrace_python
