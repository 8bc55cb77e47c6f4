#include "shim/packed/host_call.h"

#include "shim/bind/sent_messages.h"
#include "shim/host/bypass.h"
#include "shim/host/device_memory.h"
#include "shim/host/fortran.h"
#include "shim/packed/buffer_pool.h"
#include "shim/packed/packed_types.h"
#include "shim/packed/requests.h"
#include "shim/packed/split_types.h"

namespace millrace::shim {
namespace {

using record::Reason;

// Written by prepare_layouts(), before datatypes_active is set.
Word byte_type = 0;
int fortran_byte_type = 0;

}  // namespace

const char* layout_algorithm_name(std::uint16_t algorithm) {
  constexpr std::array<const char*, static_cast<std::size_t>(LayoutAlgorithm::count)> names{
      "layout_pack",         "layout_unpack",       "layout_send",      "layout_receive",
      "layout_send_receive", "layout_free_request", "layout_collective"};
  const std::size_t index = algorithm - first_layout_algorithm;
  return index < names.size() ? names[index] : nullptr;
}

void prepare_layouts(const SettingValues& settings) {
  if (datatypes_active.load(std::memory_order_relaxed)) return;
  byte_type = abi::byte_type();
  fortran_byte_type = fortran::of_datatype(byte_type);
  find_bypassed_entries();
  use_layouts(settings.layouts, settings.measure);
  set_buffer_cap(static_cast<std::size_t>(settings.buffers_bytes));
  prepare_datatypes();
}

void forget_layouts() {
  if (!datatypes_active.load(std::memory_order_relaxed)) return;
  forget_requests();
  // What is under way still needs its types: it may complete inside MPI_Finalize.
  if (!any_tracked()) {
    forget_split_types();
    forget_packed_types();
  }
  forget_datatypes();
}

Observation::Observation(const HostCall& call) : words_(call) {
  if (current_mode() & recording) call_.emplace(call.symbol());
}

Observation::~Observation() = default;

std::int64_t Observation::posted_bytes() const {
  return call_ ? static_cast<std::int64_t>(shim::posted_bytes(words_.symbol(), words_.words())) : 0;
}

void Observation::finish(LayoutAlgorithm algorithm, std::int64_t bytes, bool succeeded) {
  if (!call_) return;
  call_->stop();
  const std::uint64_t posted = succeeded ? static_cast<std::uint64_t>(bytes) : 0;
  if (succeeded)
    call_->add(posted, taken(algorithm).algorithm, record::Reason::none, words_.words());
  else
    call_->add(posted, taken(algorithm).algorithm, record::Reason::none);
  if (succeeded && call_->outermost() && sends(words_.symbol())) note_sent(words_.symbol(), words_.words(), posted);
}

HostCall::HostCall(Symbol symbol, std::span<Word> words, Pass host_pass)
    : Arguments(symbol, words), symbol_(symbol), words_(words), pass_(host_pass) {
  if (!from_fortran()) return;
  if (words_.back() == 0) words_.back() = as_word(&own_error_);  // optional in mpi_f08
  error_ = static_cast<int*>(as_pointer(words_.back()));
}

bool HostCall::is_real_buffer(std::size_t position) const {
  const Word address = words_[position];
  return !abi::is_special_address(address) && !(from_fortran() && fortran::is_sentinel(address));
}

bool HostCall::base_address(std::size_t position, Word& address) const {
  address = buffer(position);
  if (from_fortran() && is_in_place(position)) return false;
  return address == 0 || !abi::is_special_address(address);
}

void HostCall::set_bytes(std::size_t position, void* buffer, std::int64_t bytes) {
  words_[position] = as_word(buffer);
  if (!from_fortran()) {
    words_[position + 1] = static_cast<Word>(bytes);
    words_[position + 2] = byte_type;
    return;
  }
  int& count = counts_[counts_used_++];
  count = static_cast<int>(bytes);
  words_[position + 1] = as_word(&count);
  words_[position + 2] = as_word(&fortran_byte_type);
}

void HostCall::set_type(std::size_t position, void* buffer, const HostType& type) {
  set_bytes(position, buffer, 1);
  words_[position + 2] = from_fortran() ? as_word(&type.fortran_handle) : type.handle;
}

Word HostCall::pass(Outcome outcome) { return pass_(outcome, words_.data()); }

int HostCall::error_class(Word result) const {
  int error_class = 0;
  const int error = from_fortran() ? *error_ : as_int(result);
  if (error != 0) host<Symbol::MPI_Error_class>(as_word(error), as_word(&error_class));
  return error_class;
}

namespace {

// Nothing is ever mapped below: with MPI_BOTTOM such a displacement is a null pointer that the host has to refuse.
constexpr std::int64_t least_address = 4096;

// Whether `count` elements from address 0 on lie where memory can be.
bool has_addresses(const layout::Layout& layout, std::int64_t count) {
  std::int64_t last = 0;
  if (__builtin_mul_overflow(count - 1, layout.extent_bytes(), &last) ||
      __builtin_add_overflow(last, layout.true_lb_bytes(), &last))
    return false;
  return layout.true_lb_bytes() >= least_address && last >= least_address;
}

}  // namespace

Carried look_at(const HostCall& call, std::size_t position, Carrying what) {
  Carried carried;
  const Word handle = call.datatype(position + 2);
  const auto refused_by_type = [&carried](Reason reason) {
    carried.reason = reason;
    carried.by_type = true;
    return carried;
  };
  if (is_predefined(handle)) return refused_by_type(carried.reason);
  if (is_disabled_entry(call.symbol())) return refused_by_type(Reason::disabled);
  carried.count = call.count(position + 1);
  carried.reason = Reason::invalid_argument;
  if (carried.count <= 0 || !call.base_address(position, carried.base)) return carried;

  const std::shared_ptr<Datatype>* const known = find_datatype(handle);
  carried.reason = Reason::first_use;
  if (!known) {
    carried.unknown = handle;
    return carried;
  }
  Datatype& datatype = **known;
  Datatype::State state = datatype.state.load(std::memory_order_acquire);
  if (__builtin_expect(state == Datatype::State::seen, 0)) {
    const std::shared_ptr<Datatype> alive = *known;  // reading it calls MPI
    compile_datatype(*alive);
    return look_at(call, position, what);
  }
  if (state == Datatype::State::compiling) return carried;
  if (state == Datatype::State::refused) return refused_by_type(datatype.refusal);

  const layout::Layout& layout = *datatype.layout;
  carried.reason = Reason::invalid_argument;
  if (carried.base == 0 && !has_addresses(layout, carried.count)) return carried;
  const bool is_worth_it =
      what == Carrying::message ? layout.worth_taking(carried.count) : layout.worth_packing(carried.count);
  if (!is_worth_it) return refused_by_type(Reason::host_is_faster);
  carried.reason = Reason::large_count;
  if (layout.packed_bytes(carried.count, carried.bytes) != Status::ok || carried.bytes > most_bytes) return carried;
  carried.reason = Reason::device_memory;
  if (is_device_memory(carried.base + static_cast<Word>(layout.true_lb_bytes()))) return carried;
  carried.reason = Reason::none;
  carried.layout = &layout;
  carried.is_mixed = datatype.is_mixed;
  if (what == Carrying::message) carried.owner = datatype.layout;
  return carried;
}

Word byte_datatype() { return byte_type; }

}  // namespace millrace::shim
