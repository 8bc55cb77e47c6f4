#include "shim/shared/background_requests.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <vector>

#include "positions.h"
#include "shim/bind/attention.h"
#include "shim/bind/late_answers.h"
#include "shim/bind/observed.h"
#include "shim/call/arguments.h"
#include "shim/host/host_progress.h"
#include "shim/shared/background_helper.h"
#include "shim/shared/background_tokens.h"

namespace millrace::shim {
namespace {

Word null_request() {
  static const Word null = abi::request_null();  // to find it among libmpi's objects takes long
  return null;
}

// The program has completed it.
BackgroundFailure retire(BackgroundToken& token) {
  const BackgroundFailure failure =
      token.operation->attempt.is_good() ? BackgroundFailure{} : token.operation->failure();
  end_operation(token);
  note_meeting();
  return failure;
}

// One of ours among the requests of a call.
struct Found {
  std::size_t index;
  BackgroundToken* token;
  bool has_ended() const { return token->operation->has_ended(); }
};

// A call that completes requests, in whichever language.
class Completion {
 public:
  Completion(Symbol symbol, std::span<Word> words, AsUsual usual, AsUsual tests)
      : symbol_(symbol), words_(words), usual_(usual), tests_(tests), arguments_(symbol, words) {}

  Word run() {
    switch (symbol_entry(symbol_)) {
      case Entry::Wait: return wait();
      case Entry::Test: return test(true);
      case Entry::Request_get_status: return test(false);
      case Entry::Waitall: return wait_all();
      case Entry::Testall: return test_all(true);
      case Entry::Request_get_status_all: return test_all(false);
      case Entry::Waitany: return any(true, true);
      case Entry::Testany: return any(false, true);
      case Entry::Request_get_status_any: return any(false, false);
      case Entry::Waitsome: return some(true, true);
      case Entry::Testsome: return some(false, true);
      case Entry::Request_get_status_some: return some(false, false);
      default: return pass();
    }
  }

  Word free() {
    BackgroundToken* const token = find_token(arguments_.request_at(at::Request_free::request));
    if (!token) return pass();
    free_token(*token);
    set_null(words_[at::Request_free::request], 0);
    return succeed(symbol_, words_);
  }

 private:
  Word pass() { return usual_(words_.data()); }
  bool from_fortran() const { return arguments_.from_fortran(); }

  // With what went wrong with one of ours, if the host has nothing to say. The last thing that is done: the program's
  // handler may leave.
  Word with_failure(Word result, const BackgroundFailure& failure) const {
    if (failure.error == 0) return result;
    host<Symbol::MPI_Comm_call_errhandler>(failure.comm, as_word(failure.error));
    return has_succeeded(symbol_, result, words_) ? fail(symbol_, words_, failure.error) : result;
  }

  // ---- one request ----

  bool by_value() const { return symbol_entry(symbol_) == Entry::Request_get_status && !from_fortran(); }
  Word single() const { return by_value() ? arguments_.request(0) : arguments_.request_at(0); }

  bool ignores_status() const {
    const Word status = words_[at::Wait::status];
    return from_fortran() ? fortran::is_status_ignore(status) : status == abi::status_ignore;
  }

  Word wait() {
    BackgroundToken* const token = find_token(single());
    if (!token) {
      wait_for_host(single());
      return pass();
    }
    token->operation->finish();
    if (ignores_status()) {  // then there is nothing left that the host might say
      if (!token->persistent) set_null(words_[0], 0);
      const Word result = succeed(symbol_, words_);
      return with_failure(result, retire(*token));
    }
    set_null(words_[0], 0);
    const Word result = pass();
    keep_if_persistent({0, token});
    return with_failure(result, retire(*token));
  }

  Word test(bool frees) {
    BackgroundToken* const token = find_token(single());
    if (!token) {
      advance_background();
      return pass();
    }
    note_background_advance();
    if (!token->operation->has_ended()) token->operation->advance();
    if (!token->operation->has_ended()) return not_yet();
    if (by_value()) {
      words_[0] = null_request();
      return pass();
    }
    set_null(words_[0], 0);
    const Word result = pass();
    if (!frees || token->persistent) restore({0, token});
    return frees ? with_failure(result, retire(*token)) : result;
  }

  // The second word of MPI_Test and MPI_Request_get_status, the third or fourth of the others.
  Word not_yet() {
    drive_host(nullptr);
    advance_background();
    *static_cast<int*>(as_pointer(words_[flag_place()])) = 0;
    return succeed(symbol_, words_);
  }
  std::size_t flag_place() const {
    switch (symbol_entry(symbol_)) {
      case Entry::Test:
      case Entry::Request_get_status: return at::Test::flag;
      case Entry::Testall:
      case Entry::Request_get_status_all: return at::Testall::flag;
      default: return at::Testany::flag;
    }
  }

  // ---- several ----

  std::size_t count() const { return static_cast<std::size_t>(std::max(0, arguments_.integer(at::Waitall::count))); }
  Word request_at(std::size_t index) const { return arguments_.request_at(at::Waitall::array_of_requests, index); }

  std::vector<Found> find_all() const {
    std::vector<Found> found;
    for (std::size_t i = 0; i < count(); ++i)
      if (BackgroundToken* const token = find_token(request_at(i))) found.push_back({i, token});
    return found;
  }

  // In the program's array, or its one variable.
  void set_null(Word array, std::size_t index) const { store(array, index, null_request()); }
  void store(Word array, std::size_t index, Word handle) const {
    if (from_fortran())
      fortran::store_request(array + index * fortran::handle_bytes(), handle);
    else
      static_cast<abi::HandleStorage*>(as_pointer(array))[index] = static_cast<abi::HandleStorage>(handle);
  }
  // A persistent one has become inactive, and keeps its handle.
  void keep_if_persistent(const Found& one) const {
    if (one.token->persistent) restore(one);
  }
  void restore(const Found& one) const {
    const Entry entry = symbol_entry(symbol_);
    const bool single_request = entry == Entry::Request_get_status || entry == Entry::Test || entry == Entry::Wait;
    store(words_[single_request ? 0 : at::Waitall::array_of_requests], one.index, one.token->handle);
  }
  // A host that was asked about null requests only has not looked at its transports, where messages that have left this
  // rank's hands may lie.
  static void drive_instead_of(const std::vector<Found>& hidden) {
    if (!hidden.empty()) drive_host(nullptr);
  }
  void hide(const std::vector<Found>& found) const {
    for (const Found& one : found) set_null(words_[at::Waitall::array_of_requests], one.index);
  }

  Word wait_all() {
    const std::vector<Found> found = find_all();
    for (const Found& one : found) one.token->operation->finish();
    hide(found);
    for (std::size_t i = 0;
         i < count() && open_background_calls.load(std::memory_order_relaxed) > static_cast<int>(found.size()); ++i)
      wait_for_host(request_at(i));
    const Word result = pass();
    BackgroundFailure failure;
    for (const Found& one : found) {
      keep_if_persistent(one);
      if (const BackgroundFailure own = retire(*one.token); own.error != 0) failure = own;
    }
    return with_failure(result, failure);
  }

  Word test_all(bool frees) {
    const std::vector<Found> found = find_all();
    advance_background();
    if (!std::all_of(found.begin(), found.end(), [](const Found& one) { return one.has_ended(); })) return not_yet();
    hide(found);
    const Word result = pass();
    const bool all = *static_cast<const int*>(as_pointer(words_[flag_place()])) != 0;
    BackgroundFailure failure;
    for (const Found& one : found) {
      if (!frees || !all || one.token->persistent) restore(one);
      if (!frees || !all) continue;
      if (const BackgroundFailure own = retire(*one.token); own.error != 0) failure = own;
    }
    return with_failure(result, failure);
  }

  // MPI_Waitany, MPI_Testany: one that has ended, of ours or of the host's.
  Word any(bool waits, bool frees) {
    const std::vector<Found> found = find_all();
    if (found.empty() && !waits) {
      advance_background();
      return pass();
    }
    for (std::uint64_t round = 0;; ++round) {
      advance_background();
      for (const Found& one : found)
        if (one.has_ended()) return give_one(one, frees);
      // The host's, without waiting.
      int index = abi::undefined;
      hide(found);
      const Word result = waits ? host_test_any(index) : pass();
      const bool is_set = waits ? index != abi::undefined : flag_and_index(index);
      for (const Found& one : found) restore(one);
      if (!has_succeeded(symbol_, result, words_) || is_set) return result;
      // None of the host's is active.
      if (found.empty() && waits && !any_in_background()) return pass();
      drive_instead_of(found);
      if (!waits) {
        *static_cast<int*>(as_pointer(words_[at::Testany::flag])) = 0;
        return result;
      }
      if (found.empty() && index == abi::undefined && host_has_none_) return result;
      give_way(round);
    }
  }

  // After a test of the program's own that names one: whether it does.
  bool flag_and_index(int& index) const {
    if (*static_cast<const int*>(as_pointer(words_[at::Testany::flag])) == 0) return false;
    index = named(*static_cast<const int*>(as_pointer(words_[at::Testany::indx])));
    return index != abi::undefined;
  }

  // What an index stands for: MPI_UNDEFINED, to which MPICH 4 adds 1 in Fortran, or a request, which it counts from 0
  // on there, or from 1.
  int named(int index) const { return index >= 0 && index <= static_cast<int>(count()) ? index : abi::undefined; }

  // MPI_Testany for the words of MPI_Waitany, which lack a flag. All that the program gets is stored by the host, if
  // one has completed, or none of its requests is active.
  Word host_test_any(int& index) {
    int flag = 0;
    std::array<Word, 6> words{words_[0],
                              words_[1],
                              words_[2],
                              as_word(&flag),
                              words_[at::Waitany::status],
                              from_fortran() ? words_.back() : 0};
    const Word result = tests_(words.data());
    host_has_none_ = false;
    if (flag == 0) return result;
    index = named(*static_cast<const int*>(as_pointer(words_[at::Waitany::indx])));
    host_has_none_ = index == abi::undefined;
    return result;
  }

  Word give_one(const Found& one, bool frees) {
    // With no requests at all the host says that there is nothing to wait for, which leaves an empty status.
    int none = 0;
    const Word former = words_[0];
    words_[0] = from_fortran() ? as_word(&none) : 0;
    const Word result = pass();
    words_[0] = former;
    *static_cast<int*>(as_pointer(words_[at::Waitany::indx])) = static_cast<int>(one.index) + (from_fortran() ? 1 : 0);
    if (!frees) return result;
    if (!one.token->persistent) set_null(words_[at::Waitany::array_of_requests], one.index);
    return with_failure(result, retire(*one.token));
  }

  // MPI_Waitsome, MPI_Testsome: all that have ended, the host's first.
  Word some(bool waits, bool frees) {
    const std::vector<Found> found = find_all();
    if (found.empty() && !waits) {
      advance_background();
      return pass();
    }
    int& outcount = *static_cast<int*>(as_pointer(words_[at::Waitsome::outcount]));
    for (std::uint64_t round = 0;; ++round) {
      advance_background();
      std::vector<Found> ended;
      std::copy_if(found.begin(), found.end(), std::back_inserter(ended),
                   [](const Found& one) { return one.has_ended(); });
      hide(found);
      const Word result = waits ? tests_(words_.data()) : pass();
      for (const Found& one : found) restore(one);
      const bool host_has_none = outcount == abi::undefined;
      if (!has_succeeded(symbol_, result, words_) && ended.empty()) return result;
      if (found.empty() && (outcount != 0 || !any_in_background())) return outcount != 0 ? result : pass();
      if (host_has_none) outcount = 0;
      if (outcount == 0 && ended.empty()) drive_instead_of(found);
      if (outcount != 0 || !ended.empty() || !waits) return add_ours(ended, frees, outcount, result);
      give_way(round);
    }
  }

  Word add_ours(const std::vector<Found>& ended, bool frees, int& outcount, Word result) {
    int* const indices = static_cast<int*>(as_pointer(words_[at::Waitsome::array_of_indices]));
    const Word statuses = words_[at::Waitsome::array_of_statuses];
    const bool ignored = from_fortran() ? fortran::is_status_ignore(statuses) : statuses == abi::statuses_ignore;
    BackgroundFailure failure;
    for (const Found& one : ended) {
      if (!ignored) {
        // The status of what is not there: empty, as that of a collective is.
        int flag = 0;
        host<Symbol::MPI_Request_get_status>(null_request(), as_word(&flag),
                                             statuses + abi::status_bytes * static_cast<std::size_t>(outcount));
      }
      indices[outcount++] = static_cast<int>(one.index) + (from_fortran() ? 1 : 0);
      if (!frees) continue;
      if (!one.token->persistent) set_null(words_[at::Waitsome::array_of_requests], one.index);
      if (const BackgroundFailure own = retire(*one.token); own.error != 0) failure = own;
    }
    return with_failure(result, failure);
  }

  // ---- the host's ----

  // Until a request of the host's has completed, or none of ours is open any more.
  static void wait_for_host(Word request) {
    announce_traffic();
    for (std::uint64_t round = 0; any_in_background(); ++round) {
      int flag = 0;
      if (host<Symbol::MPI_Request_get_status>(request, as_word(&flag), abi::status_ignore) != 0 || flag) return;
      advance_background();
      give_way(round);
    }
  }

  static void give_way(std::uint64_t round) {
    if (round > 100) sched_yield();
  }

  Symbol symbol_;
  std::span<Word> words_;
  AsUsual usual_, tests_;
  Arguments arguments_;
  bool host_has_none_ = false;
};

}  // namespace

BackgroundRequest::BackgroundRequest() noexcept : token_(take_token()) {}

BackgroundRequest::~BackgroundRequest() {
  if (!token_) return;
  token_->operation.reset();
  give_token_back(*token_);
}

BackgroundOperation& BackgroundRequest::begin(BackgroundChannel& channel, Symbol symbol, std::span<const Word> words,
                                              const CollectiveCall& call) {
  return token_->operation.emplace(ChannelInUse::kept(channel), symbol, words, call, nullptr);
}

BackgroundOperation& BackgroundRequest::begin(BackgroundChannel& channel, Symbol symbol, const Repeat& how,
                                              std::array<Word, 2> buffers,
                                              std::unique_ptr<KeptWithCommunicator> blocks) noexcept {
  return token_->operation.emplace(ChannelInUse::kept(channel), symbol, how, buffers, std::move(blocks));
}

void BackgroundRequest::give(bool from_fortran, Word address) {
  if (from_fortran)
    fortran::store_request(address, token_->handle);
  else
    *static_cast<abi::HandleStorage*>(as_pointer(address)) = static_cast<abi::HandleStorage>(token_->handle);
  note_begun(*token_);
  token_ = nullptr;
}

Word observed_completion(Symbol symbol, std::span<Word> words, AsUsual usual, AsUsual tests) {
  end_freed();
  if ((current_mode() & recording) == 0) return Completion(symbol, words, usual, tests).run();
  // What the host is asked meanwhile belongs to the call.
  ObservedCall observed(symbol);
  const Word result = Completion(symbol, words, usual, tests).run();
  observed.stop();
  if (observed.outermost()) observed.add(0, record::no_algorithm, record::Reason::not_accelerated);
  return result;
}

Word free_in_background(Symbol symbol, std::span<Word> words, AsUsual usual) {
  return Completion(symbol, words, usual, nullptr).free();
}

}  // namespace millrace::shim
