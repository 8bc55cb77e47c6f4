// Reduce and Allreduce of up to some hundred bytes among many ranks, in rank order (mesh_plan.h). Each step looks at
// about as many cells as the square root of the ranks, where through cells, or in slices, somebody looks at all.
//
//   ranks            teams of three; two elements, so two columns
//   0 1 2            1. each leaves its row in its cell
//   3 4 5            2. member c of a team gathers column c of the team's rows: 0, 3, 6 the first, 1, 4, 7 the second
//   6 7 8            3. for each column, or piece of one, one of those members reads what they gathered and reduces it:
//                       0 the first, 4 the second
//                    4. Allreduce: the members of a column read its results ...
//                    5. ... and every rank those of its team
//
// Each step has a call of its own, so cells of its own, and ends it: with few cells in a row a later step waits for
// that.
#include "collective/algorithms.h"
#include "collective/mesh_plan.h"

namespace millrace::collective {
namespace {

class Mesh {
 public:
  Mesh(Group& group, std::size_t elements, const Reducer& reducer)
      : group_(group),
        reducer_(reducer),
        plan_(group.ranks(), elements, reducer.element_bytes),
        bytes_(plan_.bytes(elements)),
        team_(plan_.team_of(group.rank())),
        first_(plan_.begin_of(team_)),
        member_(group.rank() - first_) {}

  // Steps 1 to 3: afterwards the results of all pieces lie in cells.
  Result reduce(const Call& call, const void* in) {
    group_.begin_steps(call);
    Result result = leave(call, in);
    if (result == Result::ok) result = begin(gathered_);
    if (result == Result::ok && member_ < plan_.columns()) result = gather(call);
    if (result == Result::ok) group_.finish(call);
    if (result == Result::ok) result = begin(reduced_);
    if (result == Result::ok && reduces()) result = reduce_piece();
    if (result == Result::ok) group_.finish(gathered_);
    last_ = reduced_;
    return result;
  }

  // Steps 4 and 5, of Reduce only where a column has several results, and in the team of the root.
  Result allreduce(char* out) {
    Result result = begin(last_);
    if (result == Result::ok && member_ < plan_.columns()) result = pass_on();
    if (result == Result::ok) group_.finish(reduced_);
    return result == Result::ok ? take_from_team(out) : result;
  }
  Result reduce_to(std::uint32_t root, char* out) {
    const bool is_root = group_.rank() == root;
    if (plan_.pieces() == 1) {
      for (std::uint32_t column = 0; column < plan_.columns() && is_root; ++column)
        if (const Result result = take_column(column, out + offset_of(column)); result != Result::ok) return result;
      return Result::ok;
    }
    Result result = begin(last_);
    if (result == Result::ok && plan_.team_of(root) == team_ && member_ < plan_.columns()) result = pass_on();
    if (result == Result::ok) group_.finish(reduced_);
    return result == Result::ok && is_root ? take_from_team(out) : result;
  }

  // What this rank looked at belongs to this call or one before it.
  const Call& last() const { return last_; }

 private:
  std::size_t offset_of(std::uint32_t column) const { return plan_.bytes(plan_.column(column).begin); }
  std::size_t column_bytes(std::uint32_t column) const { return plan_.bytes(plan_.column(column).elements); }
  bool reduces() const { return member_ < plan_.columns() && plan_.piece_of(team_, member_) < plan_.pieces(); }

  // Each call of the steps.
  Result begin(Call& call) { return group_.enter(Kind::allreduce, bytes_, 0, call); }

  Result leave(const Call& call, const void* in) {
    if (const Result result = group_.cell_free(call, bytes_); result != Result::ok) return result;
    group_.copy(group_.data(group_.rank(), call, bytes_), in, bytes_);
    group_.post(call);
    return Result::ok;
  }

  Result gather(const Call& call) {
    const std::size_t all_bytes = plan_.gathered_bytes(team_, member_);
    if (const Result result = group_.cell_free(gathered_, all_bytes); result != Result::ok) return result;
    char* const cell = group_.data(group_.rank(), gathered_, all_bytes);
    const std::uint32_t rows = plan_.ranks_of(team_);
    for (std::uint32_t turn = 0; turn < rows; ++turn) {
      const std::uint32_t row = (member_ + turn) % rows, rank = first_ + row;  // not all at the same one at once
      if (rank != group_.rank())
        if (const Result result = group_.receive(rank, call); result != Result::ok) return result;
      const char* const from = group_.data(rank, call, bytes_);
      for (std::uint32_t index = 0; index < plan_.pieces(); ++index) {
        const Extent piece = plan_.piece(member_, index);
        const std::size_t bytes = plan_.bytes(piece.elements);
        group_.copy(cell + plan_.gathered_offset(team_, member_, index) + row * bytes, from + plan_.bytes(piece.begin),
                    bytes);
      }
    }
    group_.post(gathered_);
    return Result::ok;
  }

  // The rows of a piece, in rank order, out of the cells of those who gathered them.
  Result reduce_piece() {
    const std::uint32_t index = plan_.piece_of(team_, member_);
    const Extent piece = plan_.piece(member_, index);
    const std::size_t bytes = plan_.bytes(piece.elements);
    if (const Result result = group_.cell_free(reduced_, bytes); result != Result::ok) return result;
    for (std::uint32_t turn = 0; turn < plan_.teams(); ++turn) {
      const std::uint32_t team = (team_ + turn) % plan_.teams();
      const std::uint32_t gatherer = plan_.begin_of(team) + member_;
      if (team != team_)
        if (const Result result = group_.receive(gatherer, gathered_); result != Result::ok) return result;
      const char* const rows = group_.data(gatherer, gathered_, plan_.gathered_bytes(team, member_)) +
                               plan_.gathered_offset(team, member_, index);
      const void** const inputs = group_.inputs() + plan_.begin_of(team);
      for (std::uint32_t row = 0; row < plan_.ranks_of(team); ++row) inputs[row] = rows + row * bytes;
    }
    fold(reducer_, group_.inputs(), group_.ranks(), group_.data(group_.rank(), reduced_, bytes), piece.elements,
         group_.scratch());
    group_.post(reduced_);
    return Result::ok;
  }

  // Copies all results of a column to where its first element belongs.
  Result take_column(std::uint32_t column, char* to) {
    for (std::uint32_t turn = 0; turn < plan_.pieces(); ++turn) {
      const std::uint32_t index = (team_ + turn) % plan_.pieces();
      const std::uint32_t reducer = plan_.reducer_of(column, index);
      if (reducer != group_.rank())
        if (const Result result = group_.receive(reducer, reduced_); result != Result::ok) return result;
      const Extent piece = plan_.piece(column, index);
      const std::size_t bytes = plan_.bytes(piece.elements);
      group_.copy(to + plan_.bytes(piece.begin - plan_.column(column).begin), group_.data(reducer, reduced_, bytes),
                  bytes);
    }
    return Result::ok;
  }

  // The results of the own column, for the team.
  Result pass_on() {
    const std::size_t bytes = column_bytes(member_);
    if (const Result result = group_.cell_free(last_, bytes); result != Result::ok) return result;
    if (const Result result = take_column(member_, group_.data(group_.rank(), last_, bytes)); result != Result::ok)
      return result;
    group_.post(last_);
    return Result::ok;
  }

  Result take_from_team(char* out) {
    for (std::uint32_t turn = 0; turn < plan_.columns(); ++turn) {
      const std::uint32_t column = (member_ + turn) % plan_.columns();
      if (column != member_)
        if (const Result result = group_.receive(first_ + column, last_); result != Result::ok) return result;
      const std::size_t bytes = column_bytes(column);
      group_.copy(out + offset_of(column), group_.data(first_ + column, last_, bytes), bytes);
    }
    return Result::ok;
  }

  Group& group_;
  const Reducer& reducer_;
  const MeshPlan plan_;
  const std::size_t bytes_;
  const std::uint32_t team_, first_, member_;
  Call gathered_{}, reduced_{}, last_{};
};

}  // namespace

Result reduce_mesh(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                   const Reducer& reducer, std::uint32_t root) {
  Mesh mesh(group, elements, reducer);
  Result result = mesh.reduce(call, in);
  if (result == Result::ok) result = mesh.reduce_to(root, static_cast<char*>(out));
  if (result == Result::ok) group.finish(mesh.last());
  return result;
}

// Whoever has a piece has heard from all.
Result allreduce_mesh(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer) {
  Mesh mesh(group, elements, reducer);
  Result result = mesh.reduce(call, in);
  if (result == Result::ok) result = mesh.allreduce(static_cast<char*>(out));
  if (result != Result::ok) return result;
  group.finish(mesh.last());
  group.all_heard(call);
  return Result::ok;
}

}  // namespace millrace::collective
