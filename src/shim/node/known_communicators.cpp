#include "shim/node/known_communicators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <span>
#include <string>

#include "abi.h"
#include "base/files.h"
#include "base/hash.h"
#include "record/communicators.h"
#include "record/peers.h"
#include "shim/bind/communicator_calls.h"
#include "shim/bind/forward.h"
#include "shim/call/arguments.h"
#include "shim/node/remembered.h"

namespace millrace::shim {
namespace {

using record::outside_world;
using Communicators = Remembered<KnownCommunicator>;

std::atomic<int> world_ranks{0};  // 0: none are known. Written by prepare and forget alone
int keyval = 0;

// Callbacks of the attribute by which we hear of the end of a communicator.
int do_not_copy(Word, Word, void*, void*, void*, int* flag) {
  *flag = 0;
  return 0;
}
int forget(Word comm, Word, void*, void*) {
  Communicators::erase(abi::handle(comm));
  return 0;
}

using Ranks = std::vector<int>;

Ranks in_world(Word group) {
  Word world = 0;
  int ranks = 0;
  if (host<Symbol::MPI_Comm_group>(abi::comm_world(), as_word(&world)) != 0) return {};
  world = abi::handle(world);
  Ranks found;
  if (host<Symbol::MPI_Group_size>(group, as_word(&ranks)) == 0) {
    Ranks own(static_cast<std::size_t>(ranks));
    std::iota(own.begin(), own.end(), 0);
    found.resize(own.size(), outside_world);
    if (host<Symbol::MPI_Group_translate_ranks>(group, ranks, as_word(own.data()), world, as_word(found.data())) != 0)
      found.clear();
  }
  host<Symbol::MPI_Group_free>(as_word(&world));
  const int most = world_ranks.load(std::memory_order_relaxed);
  for (int& rank : found)
    if (rank < 0 || rank >= most) rank = outside_world;  // MPI_UNDEFINED
  return found;
}

template <Symbol get_group>
Ranks ranks_of(Word comm) {
  Word group = 0;
  if (host<get_group>(comm, as_word(&group)) != 0) return {};
  group = abi::handle(group);
  Ranks ranks = in_world(group);
  host<Symbol::MPI_Group_free>(as_word(&group));
  return ranks;
}

// To be read; the order is lost.
std::string listed(Ranks ranks) {
  std::sort(ranks.begin(), ranks.end());
  const auto outside = std::count(ranks.begin(), ranks.end(), outside_world);
  ranks.erase(ranks.begin(), ranks.begin() + outside);
  std::string text = format_list(ranks);
  if (outside == 0) return text;
  return fmt::format("{}{}{} of other jobs", text, text.empty() ? "" : " and ", outside);
}

std::uint64_t hash_of(std::span<const int> ranks, std::uint64_t hash) {
  for (const int rank : ranks)
    for (int shift = 0; shift < 32; shift += 8)
      hash = fnv1a(hash, static_cast<unsigned char>(static_cast<unsigned>(rank) >> shift));
  return hash;
}

std::string given_name(Word comm) {
  std::array<char, 1024> name{};  // no host has longer ones
  int length = 0;
  if (host<Symbol::MPI_Comm_get_name>(comm, as_word(name.data()), as_word(&length)) != 0) return {};
  return name.data();
}

// By the two groups of an intercommunicator, which one side calls local and the other remote.
std::uint16_t number_between(const Ranks& local, const Ranks& remote, const std::string& name) {
  const bool local_first = !std::ranges::lexicographical_compare(remote, local);
  const Ranks &first = local_first ? local : remote, &second = local_first ? remote : local;
  const std::string ranks = fmt::format("{} with {}", listed(first), listed(second));
  constexpr unsigned char between_groups = 0xff;
  return record::communicator_number(
      {name, ranks, hash_of(second, fnv1a(hash_of(first, fnv1a_start), between_groups)), first.size() + second.size()});
}

std::uint16_t number_within(const Ranks& ranks, const std::string& name) {
  // Each rank has one of its own: in the report of all they are one.
  if (ranks.size() == 1) return record::communicator_number({name, "each alone", 0, 1});
  return record::communicator_number({name, listed(ranks), hash_of(ranks, fnv1a_start), ranks.size()});
}

std::unique_ptr<const KnownCommunicator> described(Word comm, const std::string& name) {
  int between = 0;
  if (host<Symbol::MPI_Comm_test_inter>(comm, as_word(&between)) != 0) between = 0;
  Ranks local = ranks_of<Symbol::MPI_Comm_group>(comm);
  const std::uint16_t number = between != 0 ? number_between(local, ranks_of<Symbol::MPI_Comm_remote_group>(comm), name)
                                            : number_within(local, name);
  if (between != 0) local.clear();
  return std::make_unique<const KnownCommunicator>(std::move(local), number);
}

const KnownCommunicator* know(Word comm, const std::string& name) {
  if (world_ranks.load(std::memory_order_relaxed) == 0) return nullptr;
  auto known = described(comm, name);
  // Without the attribute nobody would tell us when it ends.
  if (host<Symbol::MPI_Comm_set_attr>(comm, static_cast<Word>(keyval), 0) != 0) return nullptr;
  Communicators::keep(comm, std::move(known));
  return Communicators::find(comm);
}

// Names that a host makes up for a communicator that has none are no names.
std::string own_name(Word comm) {
  if (comm == abi::comm_world()) return "MPI_COMM_WORLD";
  return comm == abi::comm_self() ? "MPI_COMM_SELF" : "";
}

}  // namespace

void prepare_known_communicators(int ranks) {
  if (host<Symbol::MPI_Comm_create_keyval>(reinterpret_cast<Word>(&do_not_copy), reinterpret_cast<Word>(&forget),
                                           as_word(&keyval), 0) == 0)
    world_ranks.store(ranks, std::memory_order_relaxed);
}

void forget_known_communicators() {
  if (world_ranks.exchange(0, std::memory_order_relaxed) == 0) return;
  // Attributes of communicators that are still alive are left to MPI_Finalize: nothing is found for them any more.
  Communicators::clear();
  host<Symbol::MPI_Comm_free_keyval>(as_word(&keyval));
}

const KnownCommunicator* known_communicator(Word comm) {
  const KnownCommunicator* const known = Communicators::find(comm);
  return __builtin_expect(known != nullptr, 1) ? known : know(comm, own_name(comm));
}

void note_communicator_call(Symbol symbol, std::span<const Word> words, std::uint64_t bytes, std::uint64_t ticks,
                            bool is_taken) noexcept try {
  const int position = communicator_of(symbol);
  const Word comm = Arguments(symbol, words).comm(static_cast<std::size_t>(position));
  if (const KnownCommunicator* const known = known_communicator(comm))
    record::add_communicator_call(known->number.load(std::memory_order_relaxed), bytes, ticks, is_taken);
} catch (...) {
}

void note_communicator_name(Symbol symbol, Word result, std::span<const Word> words) noexcept try {
  // Of Fortran the error comes before the length of the name; mpi_f08 may leave it out.
  constexpr std::size_t error_position = 2;
  const int* const error = is_fortran(symbol) && words.size() > error_position
                               ? static_cast<const int*>(as_pointer(words[error_position]))
                               : nullptr;
  if (is_fortran(symbol) ? error && *error != 0 : as_int(result) != 0) return;
  const Word comm = Arguments(symbol, words).comm(0);
  const std::string name = given_name(comm);
  if (const KnownCommunicator* const known = Communicators::find(comm))
    known->number.store(described(comm, name)->number, std::memory_order_relaxed);
  else
    know(comm, name);
} catch (...) {
}

}  // namespace millrace::shim
