#pragma once

#include <cstdint>
#include <initializer_list>

namespace millrace::collective {

enum class Result : std::uint8_t {
  ok,
  not_supported,  // nothing was done, on any rank: let the host MPI do the call
  peer_died,      // a rank of the group ended, or the host says so
  mismatch,       // ranks called different collectives, or with different sizes or roots
  rank_failed,    // a rank could not do its part (no memory, or the host refused its datatype), and said so
  truncated,      // more bytes came than this rank expects, which got those that it does; nothing is broken
};

const char* result_name(Result result);

// What broke a group, from the word in shared memory that says so and may hold anything but 0.
constexpr Result verdict_result(std::uint32_t word) {
  for (const Result known : {Result::peer_died, Result::rank_failed})
    if (word == static_cast<std::uint32_t>(known)) return known;
  return Result::mismatch;
}

}  // namespace millrace::collective
