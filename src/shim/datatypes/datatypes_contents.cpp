#include "shim/datatypes/datatypes_contents.h"

#include "abi.h"
#include "combiners.h"
#include "shim/bind/forward.h"

namespace millrace::shim {
namespace {

void widen(const std::vector<abi::HandleStorage>& handles, std::vector<Word>& words) {
  words.assign(handles.begin(), handles.end());
}

// Each ABI needs one of the two.
[[maybe_unused]] bool read_plain(Word datatype, Contents& contents) {
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  if (host<Symbol::MPI_Type_get_envelope>(datatype, as_word(&integers), as_word(&addresses), as_word(&datatypes),
                                          as_word(&contents.combiner)) != 0)
    return false;
  if (is_predefined_combiner(contents.combiner)) return true;
  // One more than asked for: data() of an empty vector is null, which hosts may refuse.
  contents.integers.resize(static_cast<std::size_t>(integers) + 1);
  contents.addresses.resize(static_cast<std::size_t>(addresses) + 1);
  std::vector<abi::HandleStorage> handles(static_cast<std::size_t>(datatypes) + 1);
  if (host<Symbol::MPI_Type_get_contents>(datatype, as_word(integers), as_word(addresses), as_word(datatypes),
                                          as_word(contents.integers.data()), as_word(contents.addresses.data()),
                                          as_word(handles.data())) != 0)
    return false;
  handles.pop_back();
  widen(handles, contents.datatypes);
  return true;
}

[[maybe_unused]] bool read_large(Word datatype, Contents& contents) {
  std::int64_t integers = 0;
  std::int64_t addresses = 0;
  std::int64_t counts = 0;
  std::int64_t datatypes = 0;
  if (host<Symbol::MPI_Type_get_envelope_c>(datatype, as_word(&integers), as_word(&addresses), as_word(&counts),
                                            as_word(&datatypes), as_word(&contents.combiner)) != 0)
    return false;
  if (is_predefined_combiner(contents.combiner)) return true;
  contents.is_large = counts > 0;
  contents.integers.resize(static_cast<std::size_t>(integers) + 1);
  contents.addresses.resize(static_cast<std::size_t>(addresses) + 1);
  contents.counts.resize(static_cast<std::size_t>(counts) + 1);
  std::vector<abi::HandleStorage> handles(static_cast<std::size_t>(datatypes) + 1);
  if (host<Symbol::MPI_Type_get_contents_c>(datatype, integers, addresses, counts, datatypes,
                                            as_word(contents.integers.data()), as_word(contents.addresses.data()),
                                            as_word(contents.counts.data()), as_word(handles.data())) != 0)
    return false;
  handles.pop_back();
  widen(handles, contents.datatypes);
  return true;
}

}  // namespace

bool is_predefined_combiner(int combiner) {
  return combiner == abi::combiner_named || combiner == abi::combiner_f90_real ||
         combiner == abi::combiner_f90_complex || combiner == abi::combiner_f90_integer;
}

int read_combiner(Word datatype) {
  int combiner = -1;
  std::int64_t ignored[4] = {};
  int error = 0;
  if constexpr (abi::has_large_contents)
    error = host<Symbol::MPI_Type_get_envelope_c>(datatype, as_word(&ignored[0]), as_word(&ignored[1]),
                                                  as_word(&ignored[2]), as_word(&ignored[3]), as_word(&combiner));
  else
    error = host<Symbol::MPI_Type_get_envelope>(datatype, as_word(&ignored[0]), as_word(&ignored[1]),
                                                as_word(&ignored[2]), as_word(&combiner));
  return error == 0 ? combiner : -1;
}

bool read_contents(Word datatype, Contents& contents) {
  if constexpr (abi::has_large_contents)
    return read_large(datatype, contents);
  else
    return read_plain(datatype, contents);
}

}  // namespace millrace::shim
