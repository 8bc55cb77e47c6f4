#include "shared_memory/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace millrace::shared_memory {
namespace {

constexpr std::size_t page_bytes = 4096;  // rounding to less than the machine's page is harmless

std::uint64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// Unlike any other: pid and time tell processes apart, the count tells segments of a process apart.
SegmentName fresh_name() {
  static std::atomic<unsigned> count{0};
  SegmentName name{};
  fmt::format_to_n(name.text, sizeof name.text - 1, "/millrace-{:x}-{:x}-{:x}-{:x}", geteuid(), getpid(), clock_ns(),
                   count.fetch_add(1, std::memory_order_relaxed));
  return name;
}

Status map(int descriptor, std::size_t bytes, Segment& segment) {
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (base == MAP_FAILED) return Status::system_error;
  segment.base = static_cast<char*>(base);
  segment.bytes = bytes;
  segment.descriptor = descriptor;
  return Status::ok;
}

}  // namespace

Status create_segment(SegmentKind kind, std::size_t bytes, Segment& segment) {
  Segment made;
  made.kind = kind;
  made.creator = true;
  int descriptor = -1;
  if (kind != SegmentKind::shm_open) {
    descriptor = kind == SegmentKind::memfd
                     ? memfd_create("millrace", MFD_CLOEXEC)
                     : open("/dev/shm", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor >= 0)
      fmt::format_to_n(made.name.text, sizeof made.name.text - 1, "/proc/{}/fd/{}", getpid(), descriptor);
  } else {
    made.name = fresh_name();
    descriptor = shm_open(made.name.text, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
  }
  if (descriptor < 0) return Status::system_error;
  Status status = Status::system_error;
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) == 0) status = map(descriptor, bytes, made);
  if (status != Status::ok) {
    if (kind == SegmentKind::shm_open) shm_unlink(made.name.text);
    close(descriptor);
    return status;
  }
  segment = made;
  return Status::ok;
}

Status open_segment(SegmentKind kind, const SegmentName& name, std::size_t bytes, Segment& segment) {
  Segment opened;
  opened.kind = kind;
  opened.name = name;
  opened.name.text[sizeof opened.name.text - 1] = 0;
  const int descriptor = kind == SegmentKind::shm_open ? shm_open(opened.name.text, O_RDWR, 0)
                                                       : open(opened.name.text, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return Status::system_error;
  struct stat found {};
  // A file of another size is not the creator's: /proc/PID may be another process in another pid namespace.
  if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size != static_cast<off_t>(bytes) ||
      map(descriptor, bytes, opened) != Status::ok) {
    close(descriptor);
    return Status::system_error;
  }
  segment = opened;
  return Status::ok;
}

Status reserve_pages(const Segment& segment, std::size_t offset_bytes, std::size_t bytes) {
  const std::size_t begin = offset_bytes / page_bytes * page_bytes;
  const std::size_t end = offset_bytes + bytes;
  if (end > segment.bytes || segment.descriptor < 0) return Status::bad_argument;
  int error = 0;
  do {
    error = posix_fallocate(segment.descriptor, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
  } while (error == EINTR);
  return error == 0 ? Status::ok : Status::no_memory;
}

void forget_name(Segment& segment) {
  if (segment.creator && segment.kind == SegmentKind::shm_open && segment.name.text[0]) shm_unlink(segment.name.text);
  segment.name.text[0] = 0;
  if (segment.descriptor >= 0) close(segment.descriptor);
  segment.descriptor = -1;
}

void close_segment(Segment& segment) {
  forget_name(segment);
  if (segment.base) munmap(segment.base, segment.bytes);
  segment = Segment{};
}

}  // namespace millrace::shared_memory
