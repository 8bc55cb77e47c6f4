// A collective of blocks with derived datatypes, packed and unpacked by us around the host's own call.
//
// Each rank decides for itself, and each side of a rank: signatures have to match between ranks (MPI 4.1, 6.1), and
// what a rank sends packed has the signature, the count and the size of type that it had before.
#pragma once

#include "shim/packed/packed_side.h"

namespace millrace::shim {

class PackedExchange {
 public:
  // Reads the arguments that are significant on this rank. Throws std::bad_alloc.
  PackedExchange(const ExchangeCall& call, bool types_at_once);
  PackedExchange(const PackedExchange&) = delete;
  PackedExchange& operator=(const PackedExchange&) = delete;

  bool is_ours() const { return send_.is_ours() || receive_.is_ours(); }
  record::Reason reason() const { return reason_; }  // where it is not
  // After a call that has succeeded.
  void remember_unknown() const;
  bool receives() const { return receive_.is_ours() && receive_.receives(); }

  void pack() const;
  void unpack() const;
  void put_into(HostCall& call);

 private:
  bool find_ranks(Word comm);

  int rank_ = 0;
  int ranks_ = 0;
  record::Reason reason_ = record::Reason::not_accelerated;
  PackedSide send_, receive_;
};

}  // namespace millrace::shim
