#include "shim/packed/requests_complete.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "positions.h"
#include "shim/packed/requests.h"
#include "shim/packed/requests_argument.h"
#include "shim/packed/status_argument.h"

namespace millrace::shim {
namespace {

constexpr Outcome passed = forwarded(record::Reason::not_accelerated);

// Count and requests come first in every call that has several; the count of the `some` is their `incount`.
using Several = at::Waitall;
using Any = at::Waitany;
using Some = at::Waitsome;

// One of our requests in the arguments of a call.
struct FoundRequest {
  int index;
  Held held;
  Word stored;
};

std::vector<FoundRequest> find_all(const HostCall& call, bool frees) {
  std::vector<FoundRequest> found;
  const int count = call.integer(Several::count);
  for (int i = 0; i < count; ++i)
    if (Held held(call.request_at(Several::array_of_requests, static_cast<std::size_t>(i)), frees); held)
      found.push_back({i, std::move(held), stored_request_at(call, Several::array_of_requests, i)});
  return found;
}

FoundRequest* found_at(std::vector<FoundRequest>& found, int index) {
  const auto at = std::lower_bound(found.begin(), found.end(), index,
                                   [](const FoundRequest& one, int wanted) { return one.index < wanted; });
  return at != found.end() && at->index == index ? &*at : nullptr;
}

bool any_receives(const std::vector<FoundRequest>& found) {
  for (const FoundRequest& one : found)
    if (one.held->receives()) return true;
  return false;
}

bool is_set(const HostCall& call, std::size_t flag) {
  return flag == CompletionPlaces::none || *static_cast<const int*>(as_pointer(call.word(flag))) != 0;
}

void end(FoundRequest& one, bool succeeded, const void* status, bool frees) {
  if (succeeded && one.held->receives()) one.held->deliver(status);
  if (!frees) return;
  if (succeeded)
    one.held.end();
  else
    one.held.end_failed();
}

// After an error of the call: the request is the host's no longer if what the program stored has changed; a persistent
// one has become inactive.
bool is_gone(const HostCall& call, const FoundRequest& one, std::size_t position) {
  return one.held->persistent || stored_request_at(call, position, one.index) != one.stored;
}

// Without memory for statuses nothing can be unpacked: then the call is not made.
Word fail(HostCall& call) {
  if (call.from_fortran()) *static_cast<int*>(as_pointer(call.words().back())) = abi::err_intern;
  return as_word(abi::err_intern);
}

// `in_statuses`: the call has failed with MPI_ERR_IN_STATUS, and `status` says what became of this one. Some hosts say
// of a message that it has come and keep its request: its data are there now, and the request still to be completed.
void end_with_errors(const HostCall& call, FoundRequest& one, const void* status, bool in_statuses) {
  const int error_class = in_statuses && status ? error_class_in(status) : abi::err_pending;
  if (error_class == 0 && one.held->receives()) one.held->deliver(status);
  if (error_class == abi::err_pending && in_statuses && status) return;
  if (!in_statuses && one.held->persistent) return;  // nobody says what became of it, and its handle never changes
  if (!is_gone(call, one, Several::array_of_requests)) return;
  end(one, error_class == 0, status, true);
}

}  // namespace

Word complete_one(HostCall call, const CompletionPlaces& places) {
  test_abandoned();
  // MPI_Request_get_status takes its request by value in C.
  const bool by_value = !places.frees && !call.from_fortran();
  constexpr std::size_t request = at::Wait::request;
  FoundRequest one{0, Held(by_value ? call.request(request) : call.request_at(request), places.frees), 0};
  if (!one.held) return call.pass(passed);
  if (!by_value) one.stored = stored_request_at(call, request, 0);
  std::optional<StatusArgument> status;
  if (one.held->receives()) status.emplace(call, places.status);
  const Word result = call.pass(passed);
  if (call.succeeded(result)) {
    if (is_set(call, places.flag)) end(one, true, status ? status->at(0) : nullptr, places.frees);
  } else if (places.frees && is_gone(call, one, request)) {
    end(one, false, nullptr, true);
  }
  return result;
}

Word complete_all(HostCall call, const CompletionPlaces& places) {
  test_abandoned();
  std::vector<FoundRequest> found = find_all(call, places.frees);
  if (found.empty()) return call.pass(passed);
  const int count = call.integer(Several::count);
  std::optional<StatusArgument> statuses;
  if (any_receives(found)) statuses.emplace(call, places.status, count);
  if (statuses && !statuses->has_memory()) return fail(call);
  const Word result = call.pass(passed);
  const bool succeeded = call.succeeded(result);
  if (succeeded && !is_set(call, places.flag)) return result;
  const bool in_statuses = call.error_class(result) == abi::err_in_status;
  for (FoundRequest& one : found) {
    const void* const status = statuses ? statuses->at(one.index) : nullptr;
    if (succeeded)
      end(one, true, status, places.frees);
    else if (places.frees)
      end_with_errors(call, one, status, in_statuses);
  }
  return result;
}

Word complete_any(HostCall call, const CompletionPlaces& places) {
  test_abandoned();
  std::vector<FoundRequest> found = find_all(call, places.frees);
  if (found.empty()) return call.pass(passed);
  std::optional<StatusArgument> status;
  if (any_receives(found)) status.emplace(call, places.status);
  const Word result = call.pass(passed);
  if (!call.succeeded(result)) {
    for (FoundRequest& one : found)
      if (places.frees && !one.held->persistent && is_gone(call, one, Any::array_of_requests))
        end(one, false, nullptr, true);
    return result;
  }
  if (!is_set(call, places.flag)) return result;
  const int index = *static_cast<const int*>(as_pointer(call.word(Any::indx)));
  if (index == abi::undefined) return result;
  if (FoundRequest* const one = found_at(found, index - call.from_fortran()))
    end(*one, true, status ? status->at(0) : nullptr, places.frees);
  return result;
}

Word complete_some(HostCall call, const CompletionPlaces& places) {
  test_abandoned();
  std::vector<FoundRequest> found = find_all(call, places.frees);
  if (found.empty()) return call.pass(passed);
  std::optional<StatusArgument> statuses;
  if (any_receives(found)) statuses.emplace(call, places.status, call.integer(Some::incount));
  if (statuses && !statuses->has_memory()) return fail(call);
  const Word result = call.pass(passed);
  const int completed = *static_cast<const int*>(as_pointer(call.word(Some::outcount)));
  const int* const indices = static_cast<const int*>(as_pointer(call.word(Some::array_of_indices)));
  const bool in_statuses = call.error_class(result) == abi::err_in_status;
  if (completed == abi::undefined || (!call.succeeded(result) && !in_statuses)) return result;
  for (int i = 0; i < completed; ++i) {
    FoundRequest* const one = found_at(found, indices[i] - call.from_fortran());
    if (!one) continue;
    const void* const status = statuses ? statuses->at(i) : nullptr;
    if (call.succeeded(result))
      end(*one, true, status, places.frees);
    else if (places.frees)
      end_with_errors(call, *one, status, in_statuses);
  }
  return result;
}

}  // namespace millrace::shim
