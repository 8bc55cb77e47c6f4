// The extension module millrace._compiled: the short ways of the package's functions (python/millrace/_native.py).
#define MILLRACE_IMPORTS_NUMPY
#include <cstring>

#include "native.h"

namespace millrace_python {

PyObject* call_general(PyObject* function, Words words, Py_ssize_t count, PyObject* names) {
  PyObject* const positional = PyTuple_New(count);
  if (!positional) return nullptr;
  for (Py_ssize_t k = 0; k < count; ++k) PyTuple_SetItem(positional, k, keep(words[k]));
  PyObject* const named = names ? PyDict_New() : nullptr;
  bool is_whole = !names || named;
  for (Py_ssize_t k = 0; is_whole && names && k < PyTuple_Size(names); ++k)
    is_whole = PyDict_SetItem(named, PyTuple_GetItem(names, k), words[count + k]) == 0;
  PyObject* const result = is_whole ? PyObject_Call(function, positional, named) : nullptr;
  Py_XDECREF(named);
  Py_DECREF(positional);
  return result;
}

PyObject* out_argument(Words words, Py_ssize_t count, PyObject* names, bool& fits) {
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  fits = named == 0 || (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "out") == 0);
  return fits && named == 1 ? words[count] : nullptr;
}

PyObject* failed(millrace_status status) {
  return PyErr_Format(PyExc_RuntimeError, "libmillrace: status %d", static_cast<int>(status));
}

namespace {

PyObject* describe(PyObject*, PyObject* arguments);

PyMethodDef methods[] = {
    {"reduce", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(reduce)), fast_call | METH_KEYWORDS, nullptr},
    {"pack", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(pack)), fast_call | METH_KEYWORDS, nullptr},
    {"unpack", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(unpack)), fast_call | METH_KEYWORDS, nullptr},
    {"describe", describe, METH_VARARGS, nullptr},
    {"forget_copies", forget_copies, METH_NOARGS, nullptr},
    {"forget_types", forget_types, METH_NOARGS, nullptr},
    {"prepare_copies", prepare_copies, METH_VARARGS, nullptr},
    {"prepare_reductions", prepare_reductions, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// (name, signature and text): what help() and inspect show of a function, which is that of its general form.
PyObject* describe(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  PyObject* text = nullptr;
  if (!PyArg_ParseTuple(arguments, "sS", &name, &text)) return nullptr;
  for (PyMethodDef& method : methods) {
    if (!method.ml_name || std::strcmp(method.ml_name, name) != 0) continue;
    method.ml_doc = PyBytes_AsString(keep(text));  // for good: the module is never unloaded
    Py_RETURN_NONE;
  }
  return PyErr_Format(PyExc_KeyError, "%s", name);
}

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "millrace._compiled", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace millrace_python

PyMODINIT_FUNC PyInit__compiled() {
  import_array1(nullptr);
  return PyModule_Create(&millrace_python::module);
}
