// What others do, in the same time as ours: the algorithms of MPI libraries, made of messages between two ranks, and
// the design of Jain et al., SC18 (one tree of flags, cells of 8 KiB, the same choices everywhere). They are written
// down here from their descriptions; no result is checked, for no byte is moved.
#pragma once

#include "model/simulation.h"

namespace millrace::model {

enum class Other : std::uint8_t {
  flat,      // the root sends to all, or hears from all
  binomial,  // a binomial tree of messages
  doubling,  // recursive doubling; a barrier by dissemination
  ring,      // each has a part: it goes round, or what comes round is reduced
  sc18,
};
inline constexpr Other all_others[] = {Other::flat, Other::binomial, Other::doubling, Other::ring, Other::sc18};
const char* other_name(Other other);

// A message: up to so many bytes through a ring of cells of the receiver, else read from its sender's memory by the
// kernel. Each side has instructions of its own for it: matching, requests, progress.
inline constexpr std::size_t eager_bytes = 4096;
inline constexpr double message_ns = 100;

// Answer::failure says so where there is no such algorithm. Over several nodes flat, binomial and sc18 are steps in the
// node, with what wire_time() says between their leaders.
Answer simulate_other(const Question& question, Other other);

}  // namespace millrace::model
