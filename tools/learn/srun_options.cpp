#include "tools/learn/srun_options.h"

#include <algorithm>

#include "tools/program.h"

namespace millrace::tools {
namespace {

// Of Slurm 22.05 as its --help says, and what newer ones have. What is in neither list is taken to have no value.
constexpr std::string_view letters_with_value = "AbBcCdDeFGiJLmMnNopPqrStTwWx";
constexpr std::string_view letters_with_value_attached = "IkK";
constexpr std::string_view names_with_value[] = {"accel-bind",
                                                 "account",
                                                 "acctg-freq",
                                                 "bb",
                                                 "bbf",
                                                 "bcast",
                                                 "bcast-exclude",
                                                 "begin",
                                                 "chdir",
                                                 "cluster",
                                                 "cluster-constraint",
                                                 "clusters",
                                                 "comment",
                                                 "constraint",
                                                 "container",
                                                 "container-id",
                                                 "core-spec",
                                                 "cores-per-socket",
                                                 "cpu-bind",
                                                 "cpu-freq",
                                                 "cpus-per-gpu",
                                                 "cpus-per-task",
                                                 "deadline",
                                                 "delay-boot",
                                                 "dependency",
                                                 "distribution",
                                                 "epilog",
                                                 "error",
                                                 "exclude",
                                                 "export",
                                                 "export-file",
                                                 "extra",
                                                 "extra-node-info",
                                                 "gid",
                                                 "gpu-bind",
                                                 "gpu-freq",
                                                 "gpus",
                                                 "gpus-per-node",
                                                 "gpus-per-socket",
                                                 "gpus-per-task",
                                                 "gres",
                                                 "gres-flags",
                                                 "het-group",
                                                 "hint",
                                                 "input",
                                                 "job-name",
                                                 "jobid",
                                                 "licenses",
                                                 "mail-type",
                                                 "mail-user",
                                                 "mcs-label",
                                                 "mem",
                                                 "mem-bind",
                                                 "mem-per-cpu",
                                                 "mem-per-gpu",
                                                 "mincpus",
                                                 "mpi",
                                                 "network",
                                                 "nodefile",
                                                 "nodelist",
                                                 "nodes",
                                                 "ntasks",
                                                 "ntasks-per-core",
                                                 "ntasks-per-gpu",
                                                 "ntasks-per-node",
                                                 "ntasks-per-socket",
                                                 "ntasks-per-tres",
                                                 "open-mode",
                                                 "output",
                                                 "pack-group",
                                                 "partition",
                                                 "power",
                                                 "prefer",
                                                 "priority",
                                                 "profile",
                                                 "prolog",
                                                 "qos",
                                                 "relative",
                                                 "reservation",
                                                 "segment",
                                                 "signal",
                                                 "slurmd-debug",
                                                 "sockets-per-node",
                                                 "switches",
                                                 "task-epilog",
                                                 "task-prolog",
                                                 "thread-spec",
                                                 "threads",
                                                 "threads-per-core",
                                                 "time",
                                                 "time-min",
                                                 "tmp",
                                                 "tree-width",
                                                 "tres-bind",
                                                 "tres-per-task",
                                                 "uid",
                                                 "wait",
                                                 "wckey"};

}  // namespace

bool is_srun(std::string_view program) { return base_name(program) == "srun"; }

std::size_t values_of_srun_option(std::string_view word) {
  if (word.starts_with("--"))
    return std::ranges::find(names_with_value, word.substr(2)) != std::end(names_with_value) ? 1 : 0;
  for (std::size_t index = 1; index < word.size(); ++index) {
    if (letters_with_value.find(word[index]) != std::string_view::npos) return index + 1 == word.size() ? 1 : 0;
    if (letters_with_value_attached.find(word[index]) != std::string_view::npos) return 0;
  }
  return 0;
}

bool has_multi_prog(std::span<const std::string> words) {
  // What stands behind a program is the program's own, so the first word that is no option ends it.
  if (words.empty() || !is_srun(words.front())) return false;
  for (std::size_t index = 1; index < words.size() && words[index].starts_with('-') && words[index] != "--";
       index += 1 + values_of_srun_option(words[index]))
    if (words[index] == "--multi-prog") return true;
  return false;
}

}  // namespace millrace::tools
