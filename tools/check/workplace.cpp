#include "tools/check/workplace.h"

#include <cstdlib>
#include <string>

namespace millrace::tools::check {

Workplace::Workplace() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "millrace-check-XXXXXX").string();
  if (!error && mkdtemp(name.data())) path_ = name;
}

Workplace::~Workplace() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace millrace::tools::check
