#include "shim/requests_complete.h"

#include <algorithm>
#include <vector>

#include "shim/layout_status.h"
#include "shim/requests.h"
#include "shim/requests_argument.h"

namespace millrace::shim {
namespace {

constexpr Outcome passed = forwarded(record::Reason::not_accelerated);

// One of our requests in the arguments of a call.
struct Found {
  int index;
  Operation* operation;
  Word stored;
};

std::vector<Found> find_all(const HostCall& call) {
  std::vector<Found> found;
  const int count = call.integer(0);
  for (int i = 0; i < count; ++i) {
    Operation* const operation = find_operation(request_at(call, 1, i));
    if (operation && operation->active) found.push_back({i, operation, stored_request_at(call, 1, i)});
  }
  return found;
}

const Found* found_at(const std::vector<Found>& found, int index) {
  const auto at = std::lower_bound(found.begin(), found.end(), index,
                                   [](const Found& one, int wanted) { return one.index < wanted; });
  return at != found.end() && at->index == index ? &*at : nullptr;
}

bool any_receives(const std::vector<Found>& found) {
  for (const Found& one : found)
    if (one.operation->received()) return true;
  return false;
}

bool is_set(const HostCall& call, std::size_t flag) {
  return flag == CompletionPlaces::none || *static_cast<const int*>(as_pointer(call.word(flag))) != 0;
}

void end(Operation& operation, bool succeeded, const void* status, bool frees) {
  if (succeeded && operation.received()) operation.deliver(status);
  if (frees) finish(operation);
}

// After an error of the call: the request is the host's no longer if what the program stored has changed; a persistent
// one has become inactive.
bool is_gone(const HostCall& call, const Found& one, std::size_t position) {
  return one.operation->persistent || stored_request_at(call, position, one.index) != one.stored;
}

// Without memory for statuses nothing can be unpacked: then the call is not made.
Word fail(HostCall& call) {
  if (call.from_fortran()) *static_cast<int*>(as_pointer(call.words().back())) = abi::err_intern;
  return as_word(abi::err_intern);
}

// Statuses lie in the order of `found`'s indices (all) or one behind the other (some).
void end_with_errors(const HostCall& call, const Found& one, const void* status, bool frees) {
  if (status && error_class_in(status) == abi::err_pending) return;
  if (!is_gone(call, one, 1)) return;
  end(*one.operation, status && error_class_in(status) == 0, status, frees);
}

}  // namespace

Word complete_one(HostCall call, const CompletionPlaces& places) {
  test_abandoned();
  // MPI_Request_get_status takes its request by value in C.
  const bool by_value = !places.frees && !call.from_fortran();
  const Word request = by_value ? abi::handle(call.word(0)) : request_at(call, 0, 0);
  Operation* const operation = find_operation(request);
  if (!operation || !operation->active) return call.pass(passed);
  if (!operation->received()) {
    const Found one{0, operation, by_value ? 0 : stored_request_at(call, 0, 0)};
    const Word result = call.pass(passed);
    const bool ended = call.succeeded(result) ? is_set(call, places.flag) : places.frees && is_gone(call, one, 0);
    if (ended) end(*operation, false, nullptr, places.frees);
    return result;
  }
  const Found one{0, operation, by_value ? 0 : stored_request_at(call, 0, 0)};
  StatusArgument status(call, places.status);
  const Word result = call.pass(passed);
  if (call.succeeded(result)) {
    if (is_set(call, places.flag)) end(*operation, true, status.at(0), places.frees);
  } else if (places.frees && is_gone(call, one, 0)) {
    end(*operation, false, nullptr, true);
  }
  return result;
}

Word complete_all(HostCall call, const CompletionPlaces& places) {
  test_abandoned();
  const std::vector<Found> found = find_all(call);
  if (found.empty()) return call.pass(passed);
  const int count = call.integer(0);
  std::optional<StatusArgument> statuses;
  if (any_receives(found)) statuses.emplace(call, places.status, count);
  if (statuses && !statuses->has_memory()) return fail(call);
  const Word result = call.pass(passed);
  const bool succeeded = call.succeeded(result);
  if (succeeded && !is_set(call, places.flag)) return result;
  for (const Found& one : found) {
    const void* const status = statuses ? statuses->at(one.index) : nullptr;
    if (succeeded)
      end(*one.operation, true, status, places.frees);
    else if (places.frees)
      end_with_errors(call, one, status, true);
  }
  return result;
}

Word complete_any(HostCall call, const CompletionPlaces& places) {
  test_abandoned();
  const std::vector<Found> found = find_all(call);
  if (found.empty()) return call.pass(passed);
  std::optional<StatusArgument> status;
  if (any_receives(found)) status.emplace(call, places.status);
  const Word result = call.pass(passed);
  if (!call.succeeded(result)) {
    for (const Found& one : found)
      if (places.frees && !one.operation->persistent && is_gone(call, one, 1))
        end(*one.operation, false, nullptr, true);
    return result;
  }
  if (!is_set(call, places.flag)) return result;
  const int index = *static_cast<const int*>(as_pointer(call.word(2)));
  if (index == abi::undefined) return result;
  if (const Found* const one = found_at(found, index - call.from_fortran()))
    end(*one->operation, true, status ? status->at(0) : nullptr, places.frees);
  return result;
}

Word complete_some(HostCall call, const CompletionPlaces& places) {
  test_abandoned();
  const std::vector<Found> found = find_all(call);
  if (found.empty()) return call.pass(passed);
  std::optional<StatusArgument> statuses;
  if (any_receives(found)) statuses.emplace(call, places.status, call.integer(0));
  if (statuses && !statuses->has_memory()) return fail(call);
  const Word result = call.pass(passed);
  const int completed = *static_cast<const int*>(as_pointer(call.word(2)));
  const int* const indices = static_cast<const int*>(as_pointer(call.word(3)));
  if (completed == abi::undefined) return result;
  for (int i = 0; i < completed; ++i) {
    const Found* const one = found_at(found, indices[i] - call.from_fortran());
    if (!one) continue;
    const void* const status = statuses ? statuses->at(i) : nullptr;
    if (call.succeeded(result))
      end(*one->operation, true, status, places.frees);
    else if (places.frees)
      end_with_errors(call, *one, status, true);
  }
  return result;
}

}  // namespace millrace::shim
