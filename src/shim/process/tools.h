// Tools below: objects between us and the host that define MPI_X and call PMPI_X, as profilers do.
//
// What we do without the host they would not see. So where there is such an MPI_X, a call of the program goes to it
// first, and its own call of PMPI_X comes back to us, who then do the call or hand it to the host:
//
//   program -> MPI_Allreduce (ours) -> MPI_Allreduce (the tool's) -> PMPI_Allreduce -> we again -> shared memory, or
//   host
//
// PMPI names stay the host's for everybody else: only the tool's references to them are written anew, in MPI_Init. Of
// what a tool calls by PMPI names, the first call of that entry on that communicator inside its MPI_X is the
// program's; all others are the tool's own and go to the host.
#pragma once

#include <array>
#include <atomic>
#include <span>

#include "entries.h"
#include "shim/bind/forward.h"
#include "shim/bind/observed.h"
#include "shim/bind/word.h"

namespace millrace::shim {

// A symbol of ours that may do a call otherwise than by one call of the next definition, and what a tool's reference to
// its PMPI name is made to refer to.
struct ToolEntry {
  const char* name;
  Symbol symbol;
  void* behind;
};
std::span<const ToolEntry> tool_entries();  // generated, ordered by name

// Looks for tools, the first time that it is called: before MPI_Init reaches the host.
void find_tools_below() noexcept;

// Whether there are any. False and never written in most programs: one load and a branch for each call.
extern std::atomic<bool> any_tool_below;
inline bool tools_below() { return any_tool_below.load(std::memory_order_relaxed); }

// The tool's function that this call must go through, or null: there is none, or the call comes from there.
[[gnu::cold]] void* tool_before(Symbol symbol);

// While a thread is in a tool's MPI_X for the program.
class InsideTool {
 public:
  InsideTool(Symbol symbol, std::span<const Word> words);
  ~InsideTool();
  InsideTool(const InsideTool&) = delete;
  InsideTool& operator=(const InsideTool&) = delete;

  // The tool has returned: if it has made no call of the PMPI name, what the program asked for went past us
  // or nowhere. It is counted, and no further communicator is shared by this rank: others could count otherwise.
  void returned(Word result) noexcept;

 private:
  Symbol symbol_;
  std::span<const Word> words_;
  Entry outer_entry_;
  Word outer_comm_;
};

// Whether it is not known how the tool goes on: then its call is the host's, and nothing comes back.
bool goes_past_us(Symbol symbol);

template <class... Words>
[[gnu::cold, gnu::noinline]] Word through_tool(Symbol symbol, void* tool, Words... words) {
  if (goes_past_us(symbol)) {
    if (current_mode() & (recording | checking))
      return observed_forward(symbol, tool, forwarded(record::Reason::unseen_calls), words...);
    return call(tool, words...);
  }
  const std::array<Word, sizeof...(words) + 1> all{words..., 0};  // never empty
  InsideTool inside(symbol, std::span(all).first(sizeof...(words)));
  const Word result = call(tool, words...);
  inside.returned(result);
  return result;
}

// Whose a call of a PMPI name is that a tool has made.
enum class Maker : std::uint8_t {
  program,  // what the program asked the tool for
  tool,     // its own, of a request that may be one of ours
  host      // its own
};
[[gnu::cold]] Maker maker_of(Symbol symbol, std::span<const Word> words);
// The next call of tool_before() by this thread answers null.
void step_past_tool();

template <Symbol symbol, class... Words>
[[gnu::cold]] Word behind_tool(Word (*ours)(Words...), std::type_identity_t<Words>... words) {
  const std::array<Word, sizeof...(words) + 1> all{words..., 0};
  switch (maker_of(symbol, std::span(all).first(sizeof...(words)))) {
    case Maker::program: step_past_tool(); return ours(words...);
    case Maker::tool: {
      const ObservedCall not_counted(symbol);
      step_past_tool();
      return ours(words...);
    }
    case Maker::host: break;
  }
  return call(host_function<symbol>(), words...);
}

}  // namespace millrace::shim
