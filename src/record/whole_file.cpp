#include "record/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/file_name.h"
#include "base/hash.h"

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

// After a failure: what is there no longer matters, what went wrong does.
void unlink_keeping_errno(const std::string& path) {
  const int before = errno;
  unlink(path.c_str());
  errno = before;
}

// A name beside `path` that nobody else has: processes of two nodes may have the same number.
std::string name_beside(const std::string& path, const char* what) {
  return fmt::format("{}.{:x}-{}.{}", path, fnv1a(node_name()) & 0xffff, getpid(), what);
}

// `text` in a file beside `path`; empty if that failed.
std::string write_beside(const std::string& path, std::string_view text) {
  std::string temporary = name_beside(path, "tmp");
  if (write_to(temporary, O_CREAT | O_EXCL, text)) return temporary;
  if (errno != EEXIST) unlink_keeping_errno(temporary);
  return {};
}

bool replace_file(const std::string& path, std::string_view text) {
  const std::string temporary = write_beside(path, text);
  if (temporary.empty()) return false;
  if (rename(temporary.c_str(), path.c_str()) == 0) return true;
  unlink_keeping_errno(temporary);
  return false;
}

// "a/run.json", 2 -> "a/run.2.json"
std::string numbered(const std::string& path, int number) {
  const std::size_t name = path.rfind('/') + 1;  // 0 without a directory
  const std::size_t dot = path.rfind('.');
  const bool has_suffix = dot != std::string::npos && dot > name;
  const std::string stem = has_suffix ? path.substr(0, dot) : path;
  return fmt::format("{}.{}{}", stem, number, has_suffix ? path.substr(dot) : "");
}

// Gives what is at `from` the first numbered name of `path` that is free. Empty: it could not.
std::string keep_numbered(const std::string& from, const std::string& path) {
  constexpr int most = 100'000;
  for (int number = 1; number <= most; ++number) {
    std::string name = numbered(path, number);
    const int taken = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (taken < 0 && errno == EEXIST) continue;
    if (taken < 0) break;
    close(taken);
    if (rename(from.c_str(), name.c_str()) == 0) return name;
    unlink_keeping_errno(name);
    break;
  }
  return {};
}

// Whatever is at `path` is moved aside in one step, so that it is lost to nobody, and only what is not there is made:
// link() fails where somebody was faster, and then that is moved aside as well. Where there are no hard links, what
// comes in between is replaced.
bool put_in_place(const std::string& temporary, const std::string& path, std::string& kept) {
  constexpr int most_rounds = 1000;
  const std::string aside = name_beside(path, "old");
  for (int round = 0; round < most_rounds; ++round) {
    if (link(temporary.c_str(), path.c_str()) == 0) {
      unlink(temporary.c_str());
      return true;
    }
    const bool is_there = errno == EEXIST || access(path.c_str(), F_OK) == 0;
    if (!is_there) return rename(temporary.c_str(), path.c_str()) == 0;
    if (rename(path.c_str(), aside.c_str()) != 0) {
      if (errno == ENOENT) continue;  // somebody else has moved it
      return false;
    }
    kept = keep_numbered(aside, path);
    if (!kept.empty()) continue;
    const int why = errno;
    rename(aside.c_str(), path.c_str());  // as it was
    errno = why;
    return false;
  }
  errno = EAGAIN;
  return false;
}

bool keep_and_write(const std::string& path, std::string_view text, std::string& kept) {
  const std::string temporary = write_beside(path, text);
  if (temporary.empty()) return false;
  if (put_in_place(temporary, path, kept)) return true;
  unlink_keeping_errno(temporary);
  return false;
}

bool is_special(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
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
  if (is_special(path) ? write_to(path, 0, text) : replace_file(resolved(path), text)) return Status::ok;
  error = std::strerror(errno);
  return Status::system_error;
}

Status write_beside_older(const std::string& path, std::string_view text, std::string& kept, std::string& error) {
  kept.clear();
  if (is_special(path) ? write_to(path, 0, text) : keep_and_write(resolved(path), text, kept)) return Status::ok;
  error = std::strerror(errno);
  return Status::system_error;
}

std::string obstacle_to_file(const std::string& path) {
  struct stat found;
  const bool is_there = stat(path.c_str(), &found) == 0;
  if (is_there && S_ISDIR(found.st_mode)) return std::strerror(EISDIR);
  if (is_there && !S_ISREG(found.st_mode)) return access(path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
  const std::string real = resolved(path);
  const std::size_t slash = real.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : slash == 0 ? "/" : real.substr(0, slash);
  struct stat place;
  int why = 0;
  if (stat(directory.c_str(), &place) == 0 && !S_ISDIR(place.st_mode)) {
    why = ENOTDIR;
  } else if (access(directory.c_str(), W_OK | X_OK) != 0) {
    why = errno;
  }
  return why == 0 ? std::string() : fmt::format("{}: {}", directory, std::strerror(why));
}

}  // namespace millrace::record
