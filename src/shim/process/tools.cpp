#include "shim/process/tools.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <string>
#include <vector>

#include "base/log.h"
#include "shim/bind/dynamic_symbols.h"
#include "shim/bind/host.h"
#include "shim/bind/sent_messages.h"
#include "shim/call/arguments.h"
#include "shim/host/bypass.h"
#include "shim/process/runtime.h"

namespace millrace::shim {

constinit std::atomic<bool> any_tool_below{false};

namespace {

using Entries = std::bitset<entry_count>;

constinit std::atomic<void*> tool_functions[symbol_count] = {};
constinit std::atomic<bool> past_us[symbol_count] = {};

// What the program has asked a tool for, until the tool has called it.
struct Asked {
  Entry entry = Entry::count;  // of nothing
  Word comm = 0;               // C handle; 0 where the call has none
  bool steps_past = false;
};
thread_local constinit Asked asked __attribute__((tls_model("initial-exec")));

// Only once handles can be read: before that nothing is ours anyway.
Word comm_of(Symbol symbol, std::span<const Word> words) {
  const auto position = bytes_rule(symbol_entry(symbol)).comm;
  if (position < 0 || !(current_mode() & accelerating)) return 0;
  return Arguments(symbol, words).comm(static_cast<std::size_t>(position));
}

const ToolEntry* tool_entry(const char* name) {
  const auto entries = tool_entries();
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), name,
                       [](const ToolEntry& entry, const char* key) { return std::strcmp(entry.name, key) < 0; });
  return found != entries.end() && std::strcmp(found->name, name) == 0 ? &*found : nullptr;
}

// "MPI_...", "mpi_...", or Open MPI's "ompi_...": of thousands of names hardly any other begins so.
bool may_be_mpi(const char* name) { return starts_with_mpi(name[0] == 'o' ? name + 1 : name); }
bool may_be_pmpi(const char* name) { return (name[0] | 0x20) == 'p' && may_be_mpi(name + 1); }

struct Object {
  dl_phdr_info info;
  std::vector<const ToolEntry*> defined;
  Entries entries;       // of those
  Entries come_back;     // it calls their PMPI names, which are ours now
  bool is_host = false;  // defines PMPI names: what others take for the MPI library, not a tool

  std::string path() const { return info.dlpi_name; }
};

void note_definition(const char* name, void* object) {
  Object& in = *static_cast<Object*>(object);
  if (may_be_pmpi(name)) in.is_host = in.is_host || tool_entry(name + 1);
  if (!may_be_mpi(name)) return;
  if (const ToolEntry* const entry = tool_entry(name)) {
    in.defined.push_back(entry);
    in.entries.set(static_cast<std::size_t>(symbol_entry(entry->symbol)));
  }
}

void* what_is_behind(const char* name, void* context) {
  auto& object = *static_cast<Object*>(context);
  const ToolEntry* const entry = tool_entry(name + 1);
  if (!entry) return nullptr;
  const auto number = static_cast<std::size_t>(symbol_entry(entry->symbol));
  if (!object.entries.test(number)) return nullptr;
  object.come_back.set(number);
  return entry->behind;
}

struct Search {
  const void* host = nullptr;
  std::string host_path;
  bool is_behind_us = false;
  std::vector<Object> objects;
};

// In the order in which symbols are looked for.
int search_object(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (holds(*info, search.host)) return 1;
  if (holds(*info, reinterpret_cast<const void*>(&find_tools_below))) {
    search.is_behind_us = true;
    return 0;
  }
  // The host's Fortran library has thousands of such names: who it is comes first.
  if (!search.is_behind_us || is_part_of_host(*info, search.host_path)) return 0;
  Object object{*info, {}, {}, {}, false};
  visit_definitions(*info, note_definition, &object);
  if (!object.defined.empty() && !object.is_host) search.objects.push_back(std::move(object));
  return 0;
}

// What stands behind a symbol of ours is one of these objects; an object that is not visible to all stands behind none.
const Object* object_of(const std::vector<Object>& objects, const void* function) {
  for (const Object& object : objects)
    if (holds(object.info, function)) return &object;
  return nullptr;
}

void put_before_host(const ToolEntry& entry, const Search& search, const Entries& come_back) {
  void* const function = find_next_function(entry.name);
  const Object* const object = function ? object_of(search.objects, function) : nullptr;
  if (!object) return;
  const auto place = static_cast<std::size_t>(entry.symbol);
  const Entry mpi_entry = symbol_entry(entry.symbol);
  if (come_back.test(static_cast<std::size_t>(mpi_entry))) {
    next_definitions[place].store(resolve_host_function(entry.symbol), std::memory_order_relaxed);
  } else {
    // The answer of a question may have to be asked for twice.
    if (answer_of(entry.symbol) >= 0 && !is_about_requests(mpi_entry)) return;
    past_us[place].store(true, std::memory_order_relaxed);
    note_bypassed(mpi_entry, object->path());
  }
  tool_functions[place].store(function, std::memory_order_relaxed);
  any_tool_below.store(true, std::memory_order_relaxed);
}

void search_tools() {
  static std::atomic<bool> done{false};
  if (done.exchange(true, std::memory_order_relaxed)) return;
  if (!runtime().settings.enabled) return;
  Search search;
  search.host = find_next_function("PMPI_Init");
  search.host_path = path_of_object(search.host);
  dl_iterate_phdr(search_object, &search);
  if (search.objects.empty()) return;
  Entries come_back;
  for (Object& object : search.objects) {
    const bool is_visible = std::any_of(object.defined.begin(), object.defined.end(), [&](const ToolEntry* entry) {
      return holds(object.info, find_next_function(entry->name));
    });
    if (!is_visible || !redirect_references(object.info, may_be_pmpi, what_is_behind, &object)) continue;
    come_back |= object.come_back;
    log(LogLevel::info, fmt::format("{} stands between the program and the host MPI: it sees every call, also those "
                                    "that Millrace does",
                                    object.path()));
  }
  for (const Object& object : search.objects)
    for (const ToolEntry* const entry : object.defined) put_before_host(*entry, search, come_back);
}

}  // namespace

void find_tools_below() noexcept try { search_tools(); } catch (...) {
  log(LogLevel::error, "out of memory: a tool may not see all calls");
}

void* tool_before(Symbol symbol) {
  if (asked.steps_past) {
    asked.steps_past = false;
    return nullptr;
  }
  return tool_functions[static_cast<std::size_t>(symbol)].load(std::memory_order_relaxed);
}

void step_past_tool() { asked.steps_past = true; }

bool goes_past_us(Symbol symbol) { return past_us[static_cast<std::size_t>(symbol)].load(std::memory_order_relaxed); }

InsideTool::InsideTool(Symbol symbol, std::span<const Word> words)
    : symbol_(symbol), words_(words), outer_entry_(asked.entry), outer_comm_(asked.comm) {
  asked.entry = symbol_entry(symbol);
  asked.comm = comm_of(symbol, words);
}

InsideTool::~InsideTool() {
  asked.entry = outer_entry_;
  asked.comm = outer_comm_;
}

void InsideTool::returned(Word result) noexcept try {
  const Entry entry = symbol_entry(symbol_);
  if (asked.entry != entry) return;
  if (current_mode() & recording) {
    ObservedCall observed(symbol_);
    observed.stop();
    const bool succeeded = has_succeeded(symbol_, result, words_);
    const std::uint64_t bytes = succeeded ? posted_bytes(symbol_, words_) : 0;
    if (succeeded)
      observed.add(bytes, record::no_algorithm, record::Reason::unseen_calls, words_);
    else
      observed.add(bytes, record::no_algorithm, record::Reason::unseen_calls);
    if (entry == Entry::Comm_set_name) note_communicator_name(symbol_, result, words_);
    if (succeeded && sends(symbol_)) note_sent(symbol_, words_, bytes);
  }
  // What completes requests may be one call for another, and comes back under that name.
  if (!is_about_requests(entry)) note_bypassed(entry, "a tool");
} catch (...) {
  expect_unseen_completions("no memory to note what a tool does");
}

Maker maker_of(Symbol symbol, std::span<const Word> words) {
  const Entry entry = symbol_entry(symbol);
  if (asked.entry == entry && asked.comm == comm_of(symbol, words)) {
    asked.entry = Entry::count;
    return Maker::program;
  }
  return is_about_requests(entry) ? Maker::tool : Maker::host;
}

}  // namespace millrace::shim
