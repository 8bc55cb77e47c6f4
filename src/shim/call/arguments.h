// The one reader of a call's words. A parameter means the same in C, in its large-count twin and in Fortran, where all
// go by address and handles are integers (MPI 4.1, 2.5 and 19.1); positions.h says where each stands. Reads only what
// it is asked for: an argument that is not significant may be anything.
#pragma once

#include <cstdint>
#include <span>

#include "abi.h"
#include "entries.h"
#include "shim/bind/word.h"
#include "shim/call/data_address.h"
#include "shim/host/fortran.h"

namespace millrace::shim {

class Arguments {
 public:
  Arguments(Symbol symbol, std::span<const Word> words)
      : words_(words), fortran_(is_fortran(symbol)), large_(is_large(symbol)) {}

  bool from_fortran() const { return fortran_; }
  bool has_large_counts() const { return large_; }  // MPI_Count, not int
  std::size_t size() const { return words_.size(); }
  Word word(std::size_t position) const { return words_[position]; }

  int integer(std::size_t position) const {
    return fortran_ ? fortran::to_int(words_[position]) : as_int(words_[position]);
  }
  std::int64_t count(std::size_t position) const {
    if (!large_) return integer(position);
    return fortran_ ? *static_cast<const std::int64_t*>(as_pointer(words_[position]))
                    : static_cast<std::int64_t>(words_[position]);
  }
  // Of an array of counts.
  std::int64_t count_at(std::size_t position, std::size_t index) const { return element(position, index, large_); }
  // Of an array of integers that are 64 bits wide or int.
  std::int64_t element(std::size_t position, std::size_t index, bool wide) const {
    const void* const array = as_pointer(words_[position]);
    return wide ? static_cast<const std::int64_t*>(array)[index] : static_cast<const int*>(array)[index];
  }

  // C handles.
  Word comm(std::size_t position) const { return handle(words_[position], fortran::to_comm); }
  Word datatype(std::size_t position) const { return handle(words_[position], fortran::to_datatype); }
  Word op(std::size_t position) const { return handle(words_[position], fortran::to_op); }
  Word win(std::size_t position) const { return handle(words_[position], fortran::to_win); }
  Word request(std::size_t position) const { return handle(words_[position], fortran::to_request); }
  // The same of an array, and of what is passed by address in C, too: 0 is the only element.
  Word comm_at(std::size_t position) const { return handle_at(position, 0, fortran::to_comm); }
  Word datatype_at(std::size_t position, std::size_t index) const {
    return handle_at(position, index, fortran::to_datatype);
  }
  Word op_at(std::size_t position) const { return handle_at(position, 0, fortran::to_op); }
  Word win_at(std::size_t position) const { return handle_at(position, 0, fortran::to_win); }
  Word request_at(std::size_t position, std::size_t index = 0) const {
    return handle_at(position, index, fortran::to_request);
  }

  // 0 for MPI_BOTTOM.
  Word buffer(std::size_t position) const { return data_address(fortran_, words_[position]); }
  bool is_in_place(std::size_t position) const { return shim::is_in_place(fortran_, words_[position]); }

 private:
  Word handle(Word word, Word (*c_handle)(Word)) const { return fortran_ ? c_handle(word) : abi::handle(word); }
  Word handle_at(std::size_t position, std::size_t index, Word (*c_handle)(Word)) const {
    const Word array = words_[position];
    return fortran_ ? c_handle(array + fortran::handle_bytes() * index)
                    : abi::handle_at(array + sizeof(abi::HandleStorage) * index);
  }

  std::span<const Word> words_;
  bool fortran_;
  bool large_;
};

// The error of a call that has returned. Fortran's comes last, but for the lengths of strings, which none of the
// entries has that are asked about, and mpi_f08 may leave it out: then the call has succeeded as far as anybody can
// say.
inline bool has_succeeded(Symbol symbol, Word result, std::span<const Word> words) {
  if (!is_fortran(symbol)) return as_int(result) == 0;
  return words.back() == 0 || fortran::to_int(words.back()) == 0;
}

// Says in the call's language that it has succeeded.
inline Word succeed(Symbol symbol, std::span<const Word> words) {
  if (is_fortran(symbol) && words.back() != 0) *static_cast<int*>(as_pointer(words.back())) = 0;
  return 0;
}

// The same of a failure that the host knows nothing of.
inline Word fail(Symbol symbol, std::span<const Word> words, int error) {
  if (is_fortran(symbol) && words.back() != 0) *static_cast<int*>(as_pointer(words.back())) = error;
  return as_word(error);
}

}  // namespace millrace::shim
