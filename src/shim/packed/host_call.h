// A call that carries data, as the layout path sees it: arguments that can be read and replaced whichever language made
// the call, the host's function behind it, and the decision whether it is ours.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/settings.h"
#include "shim/bind/forward.h"
#include "shim/bind/observed.h"
#include "shim/call/arguments.h"
#include "shim/call/disabled_entries.h"
#include "shim/datatypes/datatypes.h"
#include "shim/datatypes/sized_types.h"
#include "shim/packed/refused_types.h"

namespace millrace::shim {

// What layouts do with a call. The names stand in the report (layout_algorithm_name).
enum class LayoutAlgorithm : std::uint16_t {
  pack,
  unpack,
  send,
  receive,
  send_receive,
  free_request,
  collective,
  count
};
inline constexpr std::uint16_t first_layout_algorithm = 2000;
inline constexpr Outcome taken(LayoutAlgorithm algorithm) {
  return taken(static_cast<std::uint16_t>(first_layout_algorithm + static_cast<std::uint16_t>(algorithm)));
}
const char* layout_algorithm_name(std::uint16_t algorithm);

// After MPI_Init, before MPI_Finalize; by one thread.
void prepare_layouts(const SettingValues& settings);
void forget_layouts();

// What the host can be given as a count of bytes.
inline constexpr std::int64_t most_bytes = INT32_MAX;

class HostCall : public Arguments {
 public:
  using Pass = Word (*)(Outcome, const Word*);
  HostCall(Symbol symbol, std::span<Word> words, Pass host_pass);

  Symbol symbol() const { return symbol_; }
  std::span<const Word> words() const { return words_; }

  // Memory that counts: not MPI_BOTTOM, MPI_IN_PLACE or null.
  bool is_real_buffer(std::size_t position) const;
  // Where the displacements of a datatype count from: 0 for MPI_BOTTOM. False for MPI_IN_PLACE and the like.
  bool base_address(std::size_t position, Word& address) const;

  void set_word(std::size_t position, Word word) { words_[position] = word; }
  // The triple (buffer, count, datatype) at `position` becomes `bytes` bytes at `buffer`. At most twice per call.
  void set_bytes(std::size_t position, void* buffer, std::int64_t bytes);
  // The same with one element of `type`, which must outlive the call.
  void set_type(std::size_t position, void* buffer, const HostType& type);

  // The host's turn. Nothing is recorded if an ObservedCall is under way already.
  Word pass(Outcome outcome);
  bool succeeded(Word result) const { return has_succeeded(symbol_, result, words_); }
  int error_class(Word result) const;  // 0 for success
  // The same without the host: the call is done.
  Word succeed() { return shim::succeed(symbol_, words_); }

 private:
  Symbol symbol_;
  std::span<Word> words_;
  Pass pass_;
  int* error_ = nullptr;  // of Fortran: the program's, or own_error_ where it gave none
  int own_error_ = 0;
  std::array<int, 2> counts_{};
  std::size_t counts_used_ = 0;
};

using HostCallFunction = Word (*)(HostCall);

template <Symbol symbol, std::size_t... positions>
Word pass_words(Outcome outcome, const Word* words, std::index_sequence<positions...>) {
  return forward_as<symbol>(outcome, words[positions]...);
}
template <Symbol symbol, std::size_t length>
Word pass_array(Outcome outcome, const Word* words) {
  return pass_words<symbol>(outcome, words, std::make_index_sequence<length>{});
}

// Whether the datatype at one place of a call is ours, and what it means.
struct Carried {
  const layout::Layout* layout = nullptr;       // null: the host's, for `reason`
  std::shared_ptr<const layout::Layout> owner;  // keeps the layout alive over calls into MPI
  Word base = 0;                                // 0: MPI_BOTTOM, the displacements are addresses
  std::int64_t count = 0;
  std::int64_t bytes = 0;  // packed
  bool is_mixed = false;   // see Datatype
  record::Reason reason = record::Reason::not_accelerated;
  bool by_type = false;  // the host's, for the type, its count and the entry alone
  Word unknown = 0;      // to be remembered if the call succeeds
};
// For the triple (buffer, count, datatype) at `position`. A message may outlive the type; MPI_Pack and MPI_Unpack do
// not, and pay from fewer bytes on.
enum class Carrying : std::uint8_t { message, packing };
Carried look_at(const HostCall& call, std::size_t position, Carrying what);

// After a call that has succeeded: a datatype that the host has accepted is remembered.
template <class... More>
void remember_unknown(const More&... carried) {
  for (const Word handle : {carried.unknown...})
    if (handle != 0) remember_datatype(handle);
}

// The call goes to the host as it is.
template <class... More>
Word pass_on(HostCall& call, const Carried& carried, const More&... more) {
  if (carried.by_type && (more.by_type && ...)) remember_refused_types(call.symbol(), call.words());
  const Word result = call.pass(forwarded(carried.reason));
  if (call.succeeded(result)) remember_unknown(carried, more...);
  return result;
}

Word byte_datatype();  // MPI_BYTE

// Counts and times a call that is ours from here to finish(), if anything is recorded.
class Observation {
 public:
  explicit Observation(const HostCall& call);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;
  // What the entry's rule counts of the words as they are now. The call has succeeded.
  std::int64_t posted_bytes() const;
  void finish(LayoutAlgorithm algorithm, std::int64_t bytes, bool succeeded);

 private:
  const HostCall& words_;
  std::optional<ObservedCall> call_;
};

}  // namespace millrace::shim
