#include "tools/job.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/settings.h"
#include "tools/executables.h"
#include "tools/learn/launched.h"
#include "tools/program.h"

namespace millrace::tools {
namespace {

// What this process reads and prints, and what it starts, comes from nowhere and goes to files meanwhile.
class Redirected {
 public:
  Redirected(const std::string& output, const std::string& errors) {
    const int files[] = {open("/dev/null", O_RDONLY | O_CLOEXEC),
                         open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600),
                         open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    for (int stream = 0; stream < 3; ++stream) {
      kept_[static_cast<std::size_t>(stream)] = fcntl(stream, F_DUPFD_CLOEXEC, 3);
      if (files[stream] < 0) continue;
      dup2(files[stream], stream);
      close(files[stream]);
    }
  }
  ~Redirected() {
    for (int stream = 0; stream < 3; ++stream) {
      const int kept = kept_[static_cast<std::size_t>(stream)];
      if (kept < 0) continue;
      dup2(kept, stream);
      close(kept);
    }
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  std::array<int, 3> kept_{-1, -1, -1};
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : std::string_view();
}

}  // namespace

Workplace::Workplace() {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "millrace-job-XXXXXX").string();
  if (!error && mkdtemp(path.data())) path_ = path;
}

Workplace::~Workplace() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

std::string Job::obstacle() const {
  if (words_.empty()) return "no program after '--', as in: -- mpirun -n 4 ./app";
  if (in_front_of_programs(words_, {own_path()}).empty())
    return "no program among the words after '--'; write 'millrace' in front of it";
  if (!read_settings(environ).enabled) return "MILLRACE=0 switches Millrace off: unset MILLRACE";
  if (variable("LD_PRELOAD").find("libmillrace-") != std::string_view::npos)
    return "LD_PRELOAD holds Millrace already: unset LD_PRELOAD";
  if (place_.path().empty()) return "no place for what it prints: set TMPDIR to a directory that can be written";
  return {};
}

JobRun Job::run(Millrace millrace, Streams streams) const {
  const bool has_ours =
      std::ranges::any_of(words_, [](const std::string& word) { return base_name(word) == "millrace"; });
  std::vector<std::string> command = words_;
  const std::string reports = place_.path() + "/reports";
  std::error_code error;
  if (millrace == Millrace::reporting) {
    std::filesystem::remove_all(reports, error);
    std::filesystem::create_directory(reports, error);
    command = in_front_of_programs(words_, {own_path(), "--report=" + reports + "/report.json"});
  } else if (millrace == Millrace::on) {
    command = in_front_of_programs(words_, {own_path()});
  } else if (has_ours) {
    command = in_front_of_programs(words_, {"env", "MILLRACE=0", own_path()});
  }
  JobRun run;
  const std::string output = place_.path() + "/output", errors = place_.path() + "/errors";
  {
    std::optional<Redirected> redirected;
    if (streams == Streams::kept) redirected.emplace(output, errors);
    const std::uint64_t begin_ns = monotonic_ns();
    run.exit_code = run_to_end(command);
    run.seconds = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
  }
  if (streams == Streams::shown) return run;
  run.output = text_of(output);
  run.errors = text_of(errors);
  return run;
}

std::vector<nlohmann::json> Job::reports() const {
  std::vector<nlohmann::json> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(place_.path() + "/reports", error)) {
    nlohmann::json report = nlohmann::json::parse(text_of(entry.path()), nullptr, false);
    if (!report.is_object() || report.value("schema", "") != "millrace-report") continue;
    report["file"] = entry.path().filename().string();
    found.push_back(std::move(report));
  }
  return found;
}

}  // namespace millrace::tools
