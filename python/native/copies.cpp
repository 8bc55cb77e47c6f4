// millrace.pack and millrace.unpack without the way through ctypes: about as long as NumPy takes to begin a copy. What
// is not a plain case (subclasses, wrong arguments, overlaps, many dimensions) goes to the functions in Python, which
// have the words for it.
#include <cstdint>
#include <cstring>

#include "native.h"

namespace millrace_python {
namespace {

constexpr int most_dimensions = 8;
constexpr std::size_t entry_count = 256;

using Pack = millrace_status (*)(const millrace_layout*, const void*, void*);

// What prepare() was given.
Pack pack_layout = nullptr;
Pack unpack_layout = nullptr;
PyObject* plan = nullptr;            // (array) -> a Layout, or None where NumPy is to copy
PyObject* general_pack = nullptr;    // (array, out)
PyObject* general_unpack = nullptr;  // (packed, array)

// Compiling a layout takes some microseconds: not for an array that is never seen again, unless it takes as long.
constexpr npy_intp plan_at_once_from_bytes = 1 << 20;

// Who copies arrays of one dtype, shape and strides.
struct Entry {
  PyArray_Descr* descr = nullptr;  // owned; null: empty
  bool is_planned = false;         // not yet: seen once
  PyObject* owner = nullptr;       // the Layout in Python, owned; null: NumPy
  const millrace_layout* layout = nullptr;
  int dimensions = 0;
  npy_intp shape[most_dimensions] = {};
  npy_intp strides[most_dimensions] = {};
};
Entry entries[entry_count];

void clear(Entry& entry) {
  // Detached first: giving back the last reference may run Python code that comes here again.
  const Entry old = entry;
  entry = Entry{};
  Py_XDECREF(object(old.descr));
  Py_XDECREF(old.owner);
}

Entry& place_of(PyArrayObject* array) {
  const int dimensions = PyArray_NDIM(array);
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(PyArray_DESCR(array));
  for (int d = 0; d < dimensions; ++d) {
    hash = (hash ^ static_cast<std::uint64_t>(PyArray_DIM(array, d))) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ static_cast<std::uint64_t>(PyArray_STRIDE(array, d))) * 0x9e3779b97f4a7c15u;
  }
  return entries[hash >> 56];
}

bool is_of(const Entry& entry, PyArrayObject* array) {
  const auto dimensions = static_cast<std::size_t>(entry.dimensions);
  return entry.descr == PyArray_DESCR(array) && entry.dimensions == PyArray_NDIM(array) &&
         std::memcmp(entry.shape, PyArray_DIMS(array), dimensions * sizeof(npy_intp)) == 0 &&
         std::memcmp(entry.strides, PyArray_STRIDES(array), dimensions * sizeof(npy_intp)) == 0;
}

bool read_address(PyObject* layout, std::ptrdiff_t& address) {
  PyObject* const value = PyObject_GetAttrString(layout, "_address");
  if (!value) return false;
  address = PyLong_AsSsize_t(value);
  Py_DECREF(value);
  return address != -1 || !PyErr_Occurred();
}

void take_place(Entry& place, Entry made, PyArrayObject* array) {
  made.descr = PyArray_DESCR(array);
  Py_INCREF(object(made.descr));
  made.dimensions = PyArray_NDIM(array);
  for (int d = 0; d < made.dimensions; ++d) {
    made.shape[d] = PyArray_DIM(array, d);
    made.strides[d] = PyArray_STRIDE(array, d);
  }
  clear(place);
  place = made;
}

// Null with an exception set.
Entry* entry_of(PyArrayObject* array) {
  Entry& place = place_of(array);
  if (is_of(place, array)) {
    if (place.is_planned) return &place;
  } else if (PyArray_NBYTES(array) < plan_at_once_from_bytes) {
    take_place(place, Entry{}, array);
    return &place;
  }
  PyObject* const layout = PyObject_CallFunctionObjArgs(plan, object(array), nullptr);
  if (!layout) return nullptr;
  Entry made;
  made.is_planned = true;
  if (layout == Py_None) {
    Py_DECREF(layout);
  } else {
    std::ptrdiff_t address = 0;
    if (!read_address(layout, address)) {
      Py_DECREF(layout);
      return nullptr;
    }
    made.layout = reinterpret_cast<const millrace_layout*>(address);
    made.owner = layout;
  }
  take_place(place, made, array);
  return &place;
}

bool is_plain(PyObject* object) {
  return PyArray_CheckExact(object) && PyArray_NDIM(as_array(object)) <= most_dimensions;
}

// A contiguous array that is to `array` what its packed bytes are.
bool is_packed_twin(PyObject* object, PyArrayObject* array) {
  if (!PyArray_CheckExact(object)) return false;
  auto* const packed = as_array(object);
  return PyArray_DESCR(packed) == PyArray_DESCR(array) && PyArray_NDIM(packed) == PyArray_NDIM(array) &&
         PyArray_IS_C_CONTIGUOUS(packed) &&
         PyArray_CompareLists(PyArray_DIMS(packed), PyArray_DIMS(array), PyArray_NDIM(array));
}

// By the bytes between the first and the last of each: some that pass by each other are taken for overlapping.
bool overlap(PyArrayObject* array, PyArrayObject* packed) {
  const char* low = PyArray_BYTES(array);
  const char* high = low + PyArray_ITEMSIZE(array);
  for (int d = 0; d < PyArray_NDIM(array); ++d) {
    const npy_intp reach = (PyArray_DIM(array, d) - 1) * PyArray_STRIDE(array, d);
    (reach < 0 ? low : high) += reach;
  }
  return PyArray_BYTES(packed) < high && low < PyArray_BYTES(packed) + PyArray_NBYTES(packed);
}

// Whether it could be done; else an exception is set.
bool copy(Entry& entry, Pack function, const void* from, void* to, npy_intp bytes) {
  if (bytes == 0) return true;
  millrace_status status;
  const millrace_layout* const layout = entry.layout;
  if (bytes < release_from_bytes) {
    status = function(layout, from, to);
  } else {
    PyObject* const owner = entry.owner;  // another thread may need the entry for something else
    Py_INCREF(owner);
    Py_BEGIN_ALLOW_THREADS;
    status = function(layout, from, to);
    Py_END_ALLOW_THREADS;
    Py_DECREF(owner);
  }
  if (status == MILLRACE_OK) return true;
  failed(status);
  return false;
}

}  // namespace

PyObject* pack(PyObject*, Words words, Py_ssize_t count, PyObject* names) {
  bool fits = false;
  PyObject* out = out_argument(words, count, names, fits);
  if (!out) out = count == 2 ? words[1] : Py_None;
  if (!fits || count < 1 || count > 2 || (names && count != 1) || !is_plain(words[0]))
    return call_general(general_pack, words, count, names);
  auto* const array = as_array(words[0]);
  if (out == Py_None) {
    PyArray_Descr* const descr = PyArray_DESCR(array);
    Py_INCREF(object(descr));
    out = PyArray_Empty(PyArray_NDIM(array), PyArray_DIMS(array), descr, 0);
    if (!out) return nullptr;
  } else {
    auto* const given = as_array(out);
    if (!is_packed_twin(out, array) || !PyArray_ISWRITEABLE(given) || overlap(array, given))
      return call_general(general_pack, words, count, names);
    Py_INCREF(out);
  }
  auto* const packed = as_array(out);
  // Between here and the copy nothing runs that could change the entry.
  Entry* const entry = entry_of(array);
  bool done = false;
  if (entry)
    done = entry->owner ? copy(*entry, pack_layout, PyArray_DATA(array), PyArray_DATA(packed), PyArray_NBYTES(packed))
                        : PyArray_CopyInto(packed, array) == 0;
  if (done) return out;
  Py_DECREF(out);
  return nullptr;
}

PyObject* unpack(PyObject*, Words words, Py_ssize_t count, PyObject* names) {
  if (count != 2 || names || !is_plain(words[1])) return call_general(general_unpack, words, count, names);
  auto* const array = as_array(words[1]);
  auto* const packed = as_array(words[0]);
  if (!is_packed_twin(words[0], array) || !PyArray_ISWRITEABLE(array) || overlap(array, packed))
    return call_general(general_unpack, words, count, names);
  Entry* const entry = entry_of(array);
  if (!entry) return nullptr;
  const bool done = entry->owner
                        ? copy(*entry, unpack_layout, PyArray_DATA(packed), PyArray_DATA(array), PyArray_NBYTES(packed))
                        : PyArray_CopyInto(array, packed) == 0;
  if (!done) return nullptr;
  Py_RETURN_NONE;
}

// Who copies what is asked anew.
PyObject* forget_copies(PyObject*, PyObject*) {
  for (Entry& entry : entries) clear(entry);
  Py_RETURN_NONE;
}

// (address of millrace_layout_pack, of millrace_layout_unpack, plan, general pack, general unpack)
PyObject* prepare_copies(PyObject*, PyObject* arguments) {
  Py_ssize_t pack_address, unpack_address;
  PyObject *new_plan, *new_pack, *new_unpack;
  if (!PyArg_ParseTuple(arguments, "nnOOO", &pack_address, &unpack_address, &new_plan, &new_pack, &new_unpack))
    return nullptr;
  pack_layout = reinterpret_cast<Pack>(pack_address);
  unpack_layout = reinterpret_cast<Pack>(unpack_address);
  plan = keep(new_plan);  // for good: the module is never unloaded
  general_pack = keep(new_pack);
  general_unpack = keep(new_unpack);
  Py_RETURN_NONE;
}

}  // namespace millrace_python
