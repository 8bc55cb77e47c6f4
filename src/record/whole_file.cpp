#include "record/whole_file.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace millrace::record {
namespace {

// Opens, writes, closes; close() is where network file systems report a full disk.
bool write_to(const std::string& path, int flags, std::string_view text) {
  const int descriptor = open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  const bool written = write_all(descriptor, text);
  const int write_errno = errno;
  const bool closed = close(descriptor) == 0;
  if (!written) errno = write_errno;
  return written && closed;
}

// The file behind symbolic links, so that a link stays a link.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), free);
  return real ? std::string(real.get()) : path;
}

bool replace_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  if (!write_to(temporary, O_CREAT | O_EXCL, text)) {
    const int write_errno = errno;
    if (write_errno != EEXIST) unlink(temporary.c_str());
    errno = write_errno;
    return false;
  }
  if (rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int rename_errno = errno;
  unlink(temporary.c_str());
  errno = rename_errno;
  return false;
}

}  // namespace

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd writable{descriptor, POLLOUT, 0};
      poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Status write_whole_file(const std::string& path, std::string_view text, std::string& error) {
  struct stat found;
  const bool exists = stat(path.c_str(), &found) == 0;
  const bool done = exists && !S_ISREG(found.st_mode) ? write_to(path, 0, text) : replace_file(resolved(path), text);
  if (done) return Status::ok;
  error = std::strerror(errno);
  return Status::system_error;
}

}  // namespace millrace::record
