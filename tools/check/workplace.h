// A directory of its own for the programs, gone when the object is.
#pragma once

#include <filesystem>

namespace millrace::tools::check {

class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const std::filesystem::path& path() const { return path_; }  // empty if none could be made

 private:
  std::filesystem::path path_;
};

}  // namespace millrace::tools::check
