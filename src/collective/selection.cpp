#include "collective/selection.h"

namespace millrace::collective {
const Selection& standard_selection() {
  static constexpr Selection selection{};
  return selection;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::barrier: return "barrier";
    case Kind::bcast: return "bcast";
    case Kind::reduce: return "reduce";
    case Kind::allreduce: return "allreduce";
    case Kind::gather: return "gather";
    case Kind::scatter: return "scatter";
    case Kind::allgather: return "allgather";
    case Kind::alltoall: return "alltoall";
    case Kind::neighbor: return "neighbor";
    case Kind::reduce_scatter: return "reduce_scatter";
    case Kind::scan: return "scan";
    case Kind::exscan: return "exscan";
  }
  return "?";
}

}  // namespace millrace::collective
