// millrace.reduce without the way through ctypes: a call costs less than one of NumPy's. What is not a plain case
// (subclasses, other strides, wrong arguments) goes to the function in Python, which has the words for it.
#include <cstdint>

#include "native.h"

namespace millrace_python {
namespace {

constexpr Py_ssize_t most_inputs = 64;
constexpr int most_ops = 32;
constexpr std::size_t known_count = 64;

// What prepare_reductions() was given.
decltype(&millrace_reduce3) reduce3 = nullptr;
decltype(&millrace_reduce_n) reduce_n = nullptr;
PyObject* kind_of = nullptr;         // (dtype) -> (millrace_type, bits of its ops)
PyObject* general_reduce = nullptr;  // (op, *arrays, out=None)
PyObject* op_names[most_ops] = {};   // interned, as literals in programs are
int op_count = 0;

// What a dtype is to the kernels: types and fields are compared once.
struct Known {
  PyArray_Descr* descr = nullptr;  // owned; null: empty
  millrace_type type{};
  unsigned long ops = 0;
};
Known known[known_count];

void clear(Known& place) {
  // Detached first: giving back the last reference may run Python code that comes here again.
  PyArray_Descr* const old = place.descr;
  place = Known{};
  if (old) Py_DECREF(object(old));
}

Known& place_of(PyArray_Descr* descr) {
  return known[(reinterpret_cast<std::uintptr_t>(descr) * 0x9e3779b97f4a7c15u) >> 58];
}
static_assert(known_count == std::size_t{1} << (64 - 58));

// By value, for the place may be taken by another dtype at any time. Without `descr`: an exception is set.
Known kind(PyArray_Descr* descr) {
  Known& place = place_of(descr);
  if (place.descr == descr) return place;
  PyObject* const answer = PyObject_CallFunctionObjArgs(kind_of, object(descr), nullptr);
  int type = 0;
  unsigned long ops = 0;
  const bool is_answer = answer && PyArg_ParseTuple(answer, "ik", &type, &ops);
  Py_XDECREF(answer);
  if (!is_answer) return {};
  clear(place);
  Py_INCREF(object(descr));
  place = {descr, millrace_type(type), ops};
  return place;
}

// -1: not the name of an op.
int op_of(PyObject* name) {
  for (int op = 0; op < op_count; ++op)
    if (name == op_names[op]) return op;
  if (!PyUnicode_CheckExact(name)) return -1;
  for (int op = 0; op < op_count; ++op)
    if (PyUnicode_Compare(name, op_names[op]) == 0) return op;
  return -1;
}

// An array whose elements correspond to those of `first` if the flags of both say the same order.
bool is_alike(PyObject* object, PyArrayObject* first) {
  if (!PyArray_CheckExact(object)) return false;
  PyArrayObject* const array = as_array(object);
  return PyArray_NDIM(array) == PyArray_NDIM(first) &&
         PyArray_CompareLists(PyArray_DIMS(array), PyArray_DIMS(first), PyArray_NDIM(first)) &&
         (PyArray_DESCR(array) == PyArray_DESCR(first) ||
          PyArray_EquivTypes(PyArray_DESCR(array), PyArray_DESCR(first)));
}

bool overlap(const void* left, const void* right, npy_intp bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(left), b = reinterpret_cast<std::uintptr_t>(right);
  return (a < b ? b - a : a - b) < static_cast<std::uintptr_t>(bytes);
}

struct Call {
  millrace_op op{};
  millrace_type type{};
  const void* inputs[most_inputs] = {};
  std::size_t count = 0;
};

// Whether `out` may be written while the inputs are read: two inputs are read in step with it.
bool may_write(const Call& call, const void* out, npy_intp bytes) {
  for (std::size_t k = 0; k < call.count; ++k)
    if (overlap(call.inputs[k], out, bytes) && !(call.count == 2 && call.inputs[k] == out)) return false;
  return true;
}

millrace_status run(const Call& call, void* out, std::size_t elements) {
  return call.count == 2 ? reduce3(call.op, call.type, call.inputs[0], call.inputs[1], out, elements)
                         : reduce_n(call.op, call.type, call.inputs, call.count, out, elements);
}

}  // namespace

PyObject* reduce(PyObject*, Words words, Py_ssize_t count, PyObject* names) {
  bool fits = false;
  PyObject* out = out_argument(words, count, names, fits);
  if (out == Py_None) out = nullptr;
  const Py_ssize_t inputs = count - 1;
  const int op = fits && inputs >= 2 && inputs <= most_inputs ? op_of(words[0]) : -1;
  if (op < 0 || !PyArray_CheckExact(words[1])) return call_general(general_reduce, words, count, names);

  PyArrayObject* const first = as_array(words[1]);
  const Known dtype = kind(PyArray_DESCR(first));
  if (!dtype.descr) return nullptr;
  bool is_plain = (dtype.ops >> op & 1) != 0;
  int flags = PyArray_FLAGS(first);
  Call call{millrace_op(op), dtype.type, {}, static_cast<std::size_t>(inputs)};
  call.inputs[0] = PyArray_DATA(first);
  for (Py_ssize_t k = 1; is_plain && k < inputs; ++k) {
    is_plain = is_alike(words[k + 1], first);
    if (!is_plain) break;
    call.inputs[k] = PyArray_DATA(as_array(words[k + 1]));
    flags &= PyArray_FLAGS(as_array(words[k + 1]));
  }
  const npy_intp bytes = PyArray_NBYTES(first);
  if (is_plain && out) {
    is_plain = is_alike(out, first) && PyArray_ISWRITEABLE(as_array(out)) &&
               may_write(call, PyArray_DATA(as_array(out)), bytes);
    if (is_plain) flags &= PyArray_FLAGS(as_array(out));
  }
  const bool is_c = flags & NPY_ARRAY_C_CONTIGUOUS;
  if (!is_plain || !(is_c || (flags & NPY_ARRAY_F_CONTIGUOUS)))
    return call_general(general_reduce, words, count, names);

  if (out) {
    Py_INCREF(out);
  } else {
    Py_INCREF(object(PyArray_DESCR(first)));
    out = PyArray_Empty(PyArray_NDIM(first), PyArray_DIMS(first), PyArray_DESCR(first), !is_c);
    if (!out) return nullptr;
  }
  void* const result = PyArray_DATA(as_array(out));
  const auto elements = static_cast<std::size_t>(PyArray_SIZE(first));
  millrace_status status = MILLRACE_OK;
  if (bytes >= release_from_bytes) {
    Py_BEGIN_ALLOW_THREADS;
    status = run(call, result, elements);
    Py_END_ALLOW_THREADS;
  } else if (bytes > 0) {
    status = run(call, result, elements);
  }
  if (status == MILLRACE_OK) return out;
  Py_DECREF(out);
  return failed(status);
}

// What dtypes are is asked anew.
PyObject* forget_types(PyObject*, PyObject*) {
  for (Known& place : known) clear(place);
  Py_RETURN_NONE;
}

// (address of millrace_reduce3, of millrace_reduce_n, names of the ops, kind of a dtype, general reduce)
PyObject* prepare_reductions(PyObject*, PyObject* arguments) {
  Py_ssize_t three, many;
  PyObject *names, *new_kind, *new_general;
  if (!PyArg_ParseTuple(arguments, "nnO!OO", &three, &many, &PyTuple_Type, &names, &new_kind, &new_general))
    return nullptr;
  if (PyTuple_Size(names) > most_ops) return PyErr_Format(PyExc_ValueError, "more than %d ops", most_ops);
  for (Py_ssize_t op = 0; op < PyTuple_Size(names); ++op) {
    PyObject* name = keep(PyTuple_GetItem(names, op));
    PyUnicode_InternInPlace(&name);
    op_names[op] = name;  // for good, as the rest
  }
  op_count = static_cast<int>(PyTuple_Size(names));
  reduce3 = reinterpret_cast<decltype(reduce3)>(three);
  reduce_n = reinterpret_cast<decltype(reduce_n)>(many);
  kind_of = keep(new_kind);
  general_reduce = keep(new_general);
  Py_RETURN_NONE;
}

}  // namespace millrace_python
