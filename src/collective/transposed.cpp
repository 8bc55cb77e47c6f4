#include "collective/transposed.h"

namespace millrace::collective {

std::size_t Transposed::gathered_bytes(std::uint32_t of_team, std::uint32_t member) const {
  const std::uint32_t rows = plan_.ranks_of(of_team);
  std::size_t blocks = 0;
  for (std::uint32_t team = member; team < plan_.teams(); team += rows) blocks += plan_.ranks_of(team);
  return blocks * rows * bytes_;
}

// Labels of small blocks do not tell their sizes apart.
Result Transposed::receive_row(std::uint32_t rank, const Call& call) {
  std::size_t bytes = 0;
  if (const Result result = group_.receive_sized(rank, call, bytes); result != Result::ok) return result;
  return bytes == bytes_ * group_.ranks() ? Result::ok : group_.fail(Result::mismatch);
}

Result Transposed::gather(const Call& call) {
  group_.post_sized(call, bytes_ * group_.ranks());
  if (const Result result = group_.enter(Kind::alltoall, bytes_, 0, gathered_); result != Result::ok) return result;
  const std::uint32_t first = plan_.begin_of(team_), rows = plan_.ranks_of(team_), member = group_.rank() - first;
  const std::size_t all_bytes = gathered_bytes(team_, member);
  if (all_bytes == 0) {
    group_.finish(call);
    return Result::ok;
  }
  if (const Result result = group_.cell_free(gathered_, all_bytes); result != Result::ok) return result;
  char* const cell = group_.data(group_.rank(), gathered_, all_bytes);
  for (std::uint32_t turn = 0; turn < rows; ++turn) {
    const std::uint32_t row = (member + turn) % rows, rank = first + row;  // not all at the same one at once
    if (rank != group_.rank())
      if (const Result result = receive_row(rank, call); result != Result::ok) return result;
    const char* const from = group_.data(rank, call, bytes_ * group_.ranks());
    char* to = cell + row * bytes_;
    for (std::uint32_t team = member; team < plan_.teams(); team += rows)
      for (std::uint32_t reader = plan_.begin_of(team); reader < plan_.begin_of(team + 1); ++reader) {
        group_.copy(to, from + reader * bytes_, bytes_);
        to += rows * bytes_;
      }
  }
  group_.post(gathered_);
  group_.finish(call);
  return Result::ok;
}

Result Transposed::take(std::uint32_t team, const char*& blocks) {
  const std::uint32_t rows = plan_.ranks_of(team), member = team_ % rows;
  const std::uint32_t rank = plan_.begin_of(team) + member;
  if (rank != group_.rank())
    if (const Result result = group_.receive(rank, gathered_); result != Result::ok) return result;
  blocks = group_.data(rank, gathered_, gathered_bytes(team, member));
  std::size_t readers = group_.rank() - plan_.begin_of(team_);
  for (std::uint32_t before = member; before < team_; before += rows) readers += plan_.ranks_of(before);
  blocks += readers * rows * bytes_;
  return Result::ok;
}

}  // namespace millrace::collective
