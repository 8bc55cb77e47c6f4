#include "shim/shared/background_tokens.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/program_threads.h"
#include "shim/host/quiet_comm.h"
#include "shim/shared/background_helper.h"

namespace millrace::shim {

constinit std::atomic<int> persistent_requests{0};

namespace {

int nothing = 0;  // the buffer of a receive that is never started

using TokenPtr = std::unique_ptr<BackgroundToken>;

struct Tokens {
  ProgramMutex mutex;
  std::unordered_map<Word, TokenPtr> all;
  BackgroundToken* spare = nullptr;
  std::vector<BackgroundToken*> freed;
  std::vector<TokenPtr> freed_persistent;  // their handles are others' by now
};
std::atomic<bool> any_freed{false};  // while there are some of the last two; written under the lock
Tokens& tokens() {
  static auto& instance = *new Tokens;  // never destroyed
  return instance;
}

std::atomic<BackgroundToken*> last_used{nullptr};  // one that is to be had without the lock

// What this thread was given or has started last, which it will ask for next. Of an earlier generation it may be gone.
struct Given {
  std::uint64_t generation;
  BackgroundToken* token;
};
thread_local constinit Given given_here __attribute__((tls_model("initial-exec"))) = {0, nullptr};
std::atomic<std::uint64_t> generation{1};

BackgroundToken* last_given(Word request) {
  if (given_here.generation != generation.load(std::memory_order_relaxed)) return nullptr;
  BackgroundToken* const last = given_here.token;
  return last && last->handle == request && !last->is_freed ? last : nullptr;
}

// Under the lock.
BackgroundToken* find_in(const Tokens& known, Word request) {
  const auto found = known.all.find(request);
  return found == known.all.end() || found->second->is_freed ? nullptr : found->second.get();
}

}  // namespace

BackgroundToken* take_token() noexcept try {
  // Partner: give_token_back().
  if (BackgroundToken* const found = exchange_in_program<BackgroundToken*>(last_used, nullptr)) return found;
  Tokens& known = tokens();
  const std::lock_guard<ProgramMutex> hold(known.mutex);
  if (BackgroundToken* const found = known.spare) {
    known.spare = found->next;
    return found;
  }
  auto made = std::make_unique<BackgroundToken>();
  Word request = 0;
  if (host<Symbol::MPI_Recv_init>(as_word(&nothing), 0, abi::int_type(), abi::proc_null, 0, quiet_comm(),
                                  as_word(&request)) != 0)
    return nullptr;
  made->handle = abi::handle(request);
  BackgroundToken* const token = made.get();
  known.all.emplace(token->handle, std::move(made));
  return token;
} catch (...) {
  return nullptr;
}

void give_token_back(BackgroundToken& token) {
  // Where there was one already, that goes to the others.
  BackgroundToken* const former = exchange_in_program(last_used, &token);
  if (!former) return;
  Tokens& known = tokens();
  const std::lock_guard<ProgramMutex> hold(known.mutex);
  former->next = known.spare;
  known.spare = former;
}

BackgroundToken* find_token(Word request) {
  if (BackgroundToken* const last = last_given(request); last && last->operation) return last;
  Tokens& known = tokens();
  const std::lock_guard<ProgramMutex> hold(known.mutex);
  BackgroundToken* const found = find_in(known, request);
  return found && found->operation ? found : nullptr;
}

void note_begun(BackgroundToken& token) {
  given_here = {generation.load(std::memory_order_relaxed), &token};
  add_in_program(open_background_calls, 1);  // partner: the helper's look before it sleeps
  note_background_advance();
}

void end_operation(BackgroundToken& token) {
  BackgroundOperation& operation = *token.operation;
  operation.channel->keep_blocks(std::move(operation.blocks));
  token.operation.reset();
  if (!token.persistent) give_token_back(token);
  add_in_program(open_background_calls, -1);
}

void free_token(BackgroundToken& token) {
  Tokens& known = tokens();
  const std::lock_guard<ProgramMutex> hold(known.mutex);
  token.is_freed = true;
  known.freed.push_back(&token);
  any_freed.store(true, std::memory_order_relaxed);
}

void end_freed() {
  if (!any_freed.load(std::memory_order_relaxed)) return;  // or another thread's, a moment ago: it is ended later
  Tokens& known = tokens();
  std::vector<BackgroundToken*> ended;
  std::vector<TokenPtr> ended_persistent;
  {
    const std::lock_guard<ProgramMutex> hold(known.mutex);
    const auto has_ended = [](const BackgroundToken* token) { return token->operation->has_ended(); };
    std::copy_if(known.freed.begin(), known.freed.end(), std::back_inserter(ended), has_ended);
    std::erase_if(known.freed, has_ended);
    const auto first = std::partition(known.freed_persistent.begin(), known.freed_persistent.end(),
                                      [&](const TokenPtr& token) { return !has_ended(token.get()); });
    std::move(first, known.freed_persistent.end(), std::back_inserter(ended_persistent));
    known.freed_persistent.erase(first, known.freed_persistent.end());
    any_freed.store(!known.freed.empty() || !known.freed_persistent.empty(), std::memory_order_relaxed);
  }
  for (BackgroundToken* const token : ended) {
    token->is_freed = false;
    end_operation(*token);
  }
  for (const TokenPtr& token : ended_persistent) end_operation(*token);
}

bool keep_persistent(Word request, std::unique_ptr<PersistentCall> call) noexcept try {
  auto made = std::make_unique<BackgroundToken>();
  made->handle = request;
  made->persistent = std::move(call);
  TokenPtr former;  // of a request that was freed behind us
  Tokens& known = tokens();
  const std::lock_guard<ProgramMutex> hold(known.mutex);
  TokenPtr& place = known.all[request];
  if (place && !place->persistent) return false;  // one of our own: no host gives a handle twice
  if (!place) persistent_requests.fetch_add(1, std::memory_order_relaxed);
  former = std::exchange(place, std::move(made));
  if (!former) return true;
  generation.fetch_add(1, std::memory_order_relaxed);
  if (former->operation) static_cast<void>(former.release());
  return true;
} catch (...) {
  return false;
}

BackgroundToken* find_persistent(Word request) {
  if (BackgroundToken* const last = last_given(request); last && last->persistent) return last;
  Tokens& known = tokens();
  const std::lock_guard<ProgramMutex> hold(known.mutex);
  BackgroundToken* const found = find_in(known, request);
  return found && found->persistent ? found : nullptr;
}

void free_persistent(BackgroundToken& token) {
  TokenPtr own;  // destroyed after the lock has been let go
  Tokens& known = tokens();
  const std::lock_guard<ProgramMutex> hold(known.mutex);
  const auto found = known.all.find(token.handle);
  own = std::move(found->second);
  known.all.erase(found);
  generation.fetch_add(1, std::memory_order_relaxed);
  persistent_requests.fetch_sub(1, std::memory_order_relaxed);
  own->is_freed = true;
  if (!own->operation) return;
  known.freed_persistent.push_back(std::move(own));
  any_freed.store(true, std::memory_order_relaxed);
}

void forget_tokens() noexcept {
  Tokens& known = tokens();
  const std::lock_guard<ProgramMutex> hold(known.mutex);
  generation.fetch_add(1, std::memory_order_relaxed);
  const auto forget = [](TokenPtr& token) {
    // What a program has left open lives on: its ranks end the calls without this one, or not at all.
    if (!token->operation) return;
    static_cast<void>(token.release());
    open_background_calls.fetch_sub(1, std::memory_order_relaxed);
  };
  for (auto& [handle, token] : known.all) {
    auto request = static_cast<abi::HandleStorage>(handle);
    if (!token->persistent) host<Symbol::MPI_Request_free>(as_word(&request));
    forget(token);
  }
  for (TokenPtr& token : known.freed_persistent) forget(token);
  known.all.clear();
  known.freed_persistent.clear();
  known.spare = nullptr;
  last_used.store(nullptr, std::memory_order_relaxed);
  known.freed.clear();
  persistent_requests.store(0, std::memory_order_relaxed);
}

}  // namespace millrace::shim
