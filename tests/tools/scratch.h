// A directory of its own for one test, removed at the end.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace millrace::tools {

class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "millrace-test-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

  // Writes a file, with the directories above it; returns its path.
  std::string write(std::string_view name, std::string_view text, bool is_executable = false) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    if (is_executable) std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

 private:
  std::string path_;
};

}  // namespace millrace::tools
