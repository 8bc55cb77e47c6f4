// Barrier, Bcast, Reduce and Allreduce of up to a cell along a tree: every rank waits for its children, or for its
// parent, or first for these and then for that. For so many ranks that reading everybody's cell takes longer than a
// tree is deep.
#include "collective/algorithms.h"

namespace millrace::collective {
namespace {

// Waits for the children's cells and folds own elements and theirs, in the order of the tree, into `into`, which is the
// own cell or, at the root, `out`. Kernels only. elements may be 0.
Result gather(Group& group, const Call& call, const void* in, void* into, std::size_t elements, const Reducer* reducer,
              std::uint32_t root) {
  const TreeNode& node = group.tree_node(Way::to_root, root);
  const std::size_t bytes = reducer ? elements * reducer->element_bytes : 0;
  if (bytes != 0 && into != in) group.copy(into, in, bytes);
  for (std::uint32_t index = 0; index < node.child_count; ++index) {
    const std::uint32_t child = group.tree_child(Way::to_root, node, index, root);
    if (const Result result = group.receive(child, call); result != Result::ok) return result;
    if (bytes != 0) reducer->reduce2(group.data(child, call, bytes), into, elements);
  }
  return Result::ok;
}

Result up(Group& group, const Call& call, const void* in, void* out, std::size_t elements, const Reducer* reducer,
          std::uint32_t root) {
  void* into = out;
  if (group.rank() != root) {
    if (const Result result = group.cell_free(call); result != Result::ok) return result;
    into = group.data(group.rank(), call, reducer ? elements * reducer->element_bytes : 0);
  }
  if (const Result result = gather(group, call, in, into, elements, reducer, root); result != Result::ok) return result;
  if (group.rank() != root) group.post(call);
  group.finish(call);
  return Result::ok;
}

}  // namespace

Result bcast_tree(Group& group, const Call& call, void* buffer, std::size_t& bytes, std::uint32_t root) {
  const TreeNode& node = group.tree_node(Way::from_root, root);
  const char* from = static_cast<const char*>(buffer);
  if (group.rank() != root) {
    const std::uint32_t parent = group.tree_parent(node, root);
    if (const Result result = group.receive(parent, call); result != Result::ok) return result;
    from = group.data(parent, call, bytes);
  }
  if (node.child_count != 0) {
    if (const Result result = group.cell_free(call); result != Result::ok) return result;
    if (bytes != 0) group.copy(group.data(group.rank(), call, bytes), from, bytes);
    group.post(call);
  }
  if (group.rank() != root && bytes != 0) group.copy(buffer, from, bytes);
  group.finish(call);
  return Result::ok;
}

Result reduce_tree(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                   const Reducer& reducer, std::uint32_t root) {
  return up(group, call, in, out, elements, &reducer, root);
}

Result allreduce_tree(Group& group, const Call& call, const void* in, void* out, std::size_t elements,
                      const Reducer& reducer) {
  if (const Result result = up(group, call, in, out, elements, &reducer, 0); result != Result::ok) return result;
  std::size_t bytes = elements * reducer.element_bytes;
  Call down;
  if (const Result result = group.enter(Kind::bcast, bytes, 0, down); result != Result::ok) return result;
  if (const Result result = bcast_tree(group, down, out, bytes, 0); result != Result::ok) return result;
  group.all_heard(call);
  return Result::ok;
}

Result barrier_tree(Group& group, const Call& call) {
  if (const Result result = up(group, call, nullptr, nullptr, 0, nullptr, 0); result != Result::ok) return result;
  Call down;
  if (const Result result = group.enter(Kind::bcast, 0, 0, down); result != Result::ok) return result;
  std::size_t none = 0;
  if (const Result result = bcast_tree(group, down, nullptr, none, 0); result != Result::ok) return result;
  group.all_heard(call);
  return Result::ok;
}

}  // namespace millrace::collective
