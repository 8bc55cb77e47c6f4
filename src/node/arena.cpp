// The memory of a board: mapping the file and the arena, and pieces of it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "node/board.h"
#include "node/board_file.h"
#include "shared_memory/read_once.h"

namespace millrace::node {
namespace {

using shared_memory::read_once;

// Enough for the records of ranks that report, if for nothing else.
constexpr std::uint64_t least_arena_bytes = region_table_bytes + (std::uint64_t{64} << 10);
// Of what is left on the node: what ranks share is only worth having as long as the program has what it needs.
constexpr std::uint64_t share_of_memory = 8;

std::uint64_t whole_memory_bytes() {
  struct sysinfo machine {};
  return sysinfo(&machine) == 0 ? std::uint64_t{machine.totalram} * machine.mem_unit : 0;
}

std::uint64_t limit_of(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::uint64_t>::max();
  return limit.rlim_cur;
}

// Maps without filling a page, also where the program has asked for all of its memory to be locked (mlockall).
char* map_sparse(int file, std::uint64_t offset_bytes, std::uint64_t bytes) {
  void* const base = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, static_cast<off_t>(offset_bytes));
  if (base == MAP_FAILED) return nullptr;
  munlock(base, bytes);
  madvise(base, bytes, MADV_DONTDUMP);
  if (mprotect(base, bytes, PROT_READ | PROT_WRITE) == 0) return static_cast<char*>(base);
  munmap(base, bytes);
  return nullptr;
}

// By the system call itself: libraries of some hosts (UCX) replace madvise() to hear which memory goes, and keep some
// 150 bytes of each such news for ever. They have nothing to hear: what ranks share is never given to the host.
bool remove_pages(char* base, std::uint64_t bytes) { return syscall(SYS_madvise, base, bytes, MADV_REMOVE) == 0; }

// Whether a page that is said to be removed is zeroed. Most advice may be passed over, and an emulator (qemu-user)
// passes over this one and says that it is done.
bool removes_pages() {
  void* const page = mmap(nullptr, board_page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  volatile char& first = *static_cast<char*>(page);
  first = 1;
  const bool is_zeroed = remove_pages(static_cast<char*>(page), board_page_bytes) && first == 0;
  munmap(page, board_page_bytes);
  return is_zeroed;
}

bool give_back_pages(char* base, std::uint64_t bytes) {
  static const bool can_be = removes_pages();
  return can_be && remove_pages(base, bytes);
}

// Nobody can make it smaller under those who have mapped it.
constexpr int arena_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// A file that others find through our /proc: they may only look there if we may be looked at.
int make_memfd(std::uint64_t bytes) {
  const int made = memfd_create("millrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return -1;
  const int kept = keep_descriptor(made);
  close(made);
  const int found = kept >= 0 ? open(fmt::format("/proc/{}/fd/{}", getpid(), kept).c_str(), O_RDWR | O_CLOEXEC) : -1;
  if (found >= 0) close(found);
  if (found >= 0 && ftruncate(kept, static_cast<off_t>(bytes)) == 0 && fcntl(kept, F_ADD_SEALS, arena_seals) == 0)
    return kept;
  if (kept >= 0) close(kept);
  return -1;
}

bool has_room(int file, std::uint64_t offset_bytes, std::uint64_t bytes) {
  return posix_fallocate(file, static_cast<off_t>(offset_bytes), static_cast<off_t>(bytes)) == 0;
}

// Half of what the file system has left, for other jobs want some of it too.
std::uint64_t room_of_file_system(int file) {
  struct statfs where {};
  if (fstatfs(file, &where) != 0) return 0;
  return static_cast<std::uint64_t>(where.f_bavail) * static_cast<std::uint64_t>(where.f_bsize) / 2;
}

}  // namespace

Status Board::make_head(int file, const JoinRequest& request) {
  const std::uint64_t longest = limit_of(RLIMIT_FSIZE);  // beyond it a signal would come
  const std::uint64_t file_bytes = board_bytes(request.world_ranks);
  if (longest < file_bytes || ftruncate(file, static_cast<off_t>(file_bytes)) != 0) return Status::system_error;
  // Pages of members come when these join.
  if (!has_room(file, 0, used_head_bytes(request.world_ranks))) return Status::no_memory;
  void* const base = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (base == MAP_FAILED) return Status::no_memory;
  head_ = static_cast<BoardHead*>(base);
  head_bytes_ = file_bytes;

  // Addresses only; budget_bytes() says how much of it may be used.
  const std::uint64_t most_budget_bytes = whole_memory_bytes() / share_of_memory;
  std::uint64_t arena_bytes = std::min({2 * most_budget_bytes, longest, limit_of(RLIMIT_AS) / 4});
  arena_bytes = arena_bytes / board_page_bytes * board_page_bytes;
  memfd_ = request.try_memfd && arena_bytes >= least_arena_bytes ? make_memfd(arena_bytes) : -1;
  struct stat arena {};
  if (memfd_ < 0) {
    const std::uint64_t room = std::min(room_of_file_system(file), longest - file_bytes);
    arena_bytes = std::min(arena_bytes, room) / board_page_bytes * board_page_bytes;
    head_->arena_offset_bytes = file_bytes;
    if (ftruncate(file, static_cast<off_t>(file_bytes + arena_bytes)) != 0) return Status::system_error;
  } else if (fstat(memfd_, &arena) != 0) {
    return Status::system_error;
  }
  if (arena_bytes < least_arena_bytes) return Status::no_memory;
  if (memfd_ < 0 && !has_room(file, file_bytes, region_table_bytes)) return Status::no_memory;
  head_->arena_used_bytes = region_table_bytes;
  head_->arena_descriptor = memfd_;
  head_->arena_device = arena.st_dev;
  head_->arena_inode = arena.st_ino;
  head_->arena_bytes = arena_bytes;

  head_->version = board_version;
  head_->world_ranks = request.world_ranks;
  std::strncpy(head_->key, request.key.c_str(), sizeof head_->key - 1);
  head_->maker = self_;
  head_->regions_used = 1;
  head_->magic.store(board_magic, std::memory_order_release);  // partner: is_of()
  return Status::ok;
}

Status Board::map_arena(int file) {
  const std::uint64_t bytes = read_once(head_->arena_bytes);
  const std::uint64_t offset_bytes = read_once(head_->arena_offset_bytes);
  const std::int32_t descriptor = read_once(head_->arena_descriptor);
  if (bytes < least_arena_bytes || bytes % board_page_bytes != 0 || offset_bytes % board_page_bytes != 0)
    return Status::system_error;
  // Behind the head: where pages of that were in the arena, what is written there would change what was checked.
  if (descriptor < 0 && offset_bytes < head_bytes_) return Status::system_error;
  int opened = file;
  if (descriptor >= 0) {
    const std::string path = fmt::format("/proc/{}/fd/{}", read_once(head_->maker.pid), descriptor);
    opened = memfd_ >= 0 ? memfd_ : open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (opened < 0) return Status::system_error;
  }
  struct stat found {};
  bool right = fstat(opened, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid();
  const auto found_bytes = right ? static_cast<std::uint64_t>(found.st_size) : 0;
  right = right && offset_bytes <= found_bytes && bytes <= found_bytes - offset_bytes;
  if (descriptor >= 0) {
    // Only what make_memfd() has made, and no other file of the user's, whatever stands in the head.
    const int seals = fcntl(opened, F_GET_SEALS);
    right = right && seals >= 0 && (seals & arena_seals) == arena_seals && found.st_dev == head_->arena_device &&
            found.st_ino == head_->arena_inode;
  }
  arena_ = right ? map_sparse(opened, offset_bytes, bytes) : nullptr;
  if (opened != file && opened != memfd_) close(opened);
  arena_bytes_ = bytes;
  in_file_ = descriptor < 0;
  arena_offset_bytes_ = offset_bytes;
  return arena_ ? Status::ok : Status::system_error;
}

// not_supported: the file is no board of this job; the caller calls forget_maps() for anything but ok.
Status Board::map(int file, bool make, const JoinRequest& request) {
  world_ranks_ = request.world_ranks;
  if (make) {
    if (const Status status = make_head(file, request); status != Status::ok) return status;
  } else {
    struct stat found {};
    head_bytes_ = board_bytes(world_ranks_);
    if (fstat(file, &found) != 0 || static_cast<std::uint64_t>(found.st_size) < head_bytes_)
      return Status::not_supported;
    void* const base = mmap(nullptr, head_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) return Status::no_memory;
    head_ = static_cast<BoardHead*>(base);
    if (!is_of(request)) return Status::not_supported;
  }
  members_ = reinterpret_cast<BoardMember*>(reinterpret_cast<char*>(head_) + members_offset());
  const std::uint64_t own = members_offset() + request.rank * sizeof(BoardMember);
  if (!has_room(file, own, sizeof(BoardMember))) return Status::no_memory;
  return map_arena(file);
}

void Board::forget_maps() {
  if (arena_) munmap(arena_, arena_bytes_);
  if (head_) munmap(head_, head_bytes_);
  if (memfd_ >= 0) close(memfd_);
  arena_ = nullptr;
  head_ = nullptr;
  memfd_ = -1;
}

std::uint64_t Board::budget_bytes() {
  if (const std::uint64_t known = budget_bytes_.load(std::memory_order_relaxed); known != 0) return known;
  std::uint64_t budget = head_->budget_bytes.load(std::memory_order_relaxed);
  if (budget == 0) {
    // At least a page, for zero says that nobody has looked.
    const std::uint64_t found = available_memory_bytes() / share_of_memory / board_page_bytes * board_page_bytes;
    const std::uint64_t own = std::max<std::uint64_t>(std::min(found, arena_bytes_ / 2), board_page_bytes);
    // The first to look decides, so that all ranks make memory of the same shape.
    if (head_->budget_bytes.compare_exchange_strong(budget, own, std::memory_order_relaxed)) budget = own;
  }
  budget_bytes_.store(budget, std::memory_order_relaxed);
  return budget;
}

std::uint32_t Board::make_region(const Identity& identity, std::size_t bytes) {
  const std::uint32_t used = std::min(read_once(head_->regions_used), most_regions);
  const std::uint64_t budget = budget_bytes();
  if (bytes > budget || read_once(head_->in_use_bytes) > budget - bytes) return 0;
  std::uint32_t number = 0;
  for (std::uint32_t each = 1; each < used && number == 0; ++each)
    if (!regions()[each].in_use && regions()[each].bytes == bytes) number = each;
  if (number == 0) {
    const std::uint64_t offset_bytes = read_once(head_->arena_used_bytes);
    if (used == 0 || used >= most_regions || bytes > arena_bytes_ || offset_bytes > arena_bytes_ - bytes) return 0;
    number = used;
    regions()[number].offset_bytes = offset_bytes;
    regions()[number].bytes = bytes;
    head_->arena_used_bytes = offset_bytes + bytes;
    head_->regions_used = used + 1;
  }
  regions()[number].identity = identity;
  regions()[number].in_use = 1;
  head_->in_use_bytes += bytes;
  return number;
}

std::uint32_t Board::allocate(std::size_t bytes) { return make_region({}, round_to_pages(bytes)); }

std::uint32_t Board::find_record(const Identity& identity, std::uint32_t members) {
  const std::uint32_t used = std::min(read_once(head_->regions_used), most_regions);
  for (std::uint32_t number = 1; number < used; ++number)
    if (regions()[number].in_use && regions()[number].identity == identity)
      return region(number, record_bytes(members)) ? number : 0;
  const std::size_t bytes = round_to_pages(record_bytes(members));
  const std::uint32_t number = make_region(identity, bytes);
  if (number == 0) return 0;
  if (reserve(number, 0, bytes) != Status::ok) {
    release(number);
    return 0;
  }
  char* const base = region(number, bytes);
  if (!base) return 0;
  auto* record = new (base) AgreementRecord{};
  record->identity = identity;
  record->members = members;
  return number;
}

void Board::release(std::uint32_t number) {
  const Place place = place_of(number);
  if (!place.base || !regions()[number].in_use) return;
  Region& released = regions()[number];
  const std::uint64_t in_use_bytes = read_once(head_->in_use_bytes);
  head_->in_use_bytes = in_use_bytes - std::min(place.bytes, in_use_bytes);
  released.identity = {};
  // Zeroed again, and given back to the system. What cannot be is not used again.
  if (give_back_pages(place.base, place.bytes)) released.in_use = 0;
}

Board::Place Board::place_of(std::uint32_t number) const {
  if (number == 0 || number >= most_regions) return {nullptr, 0};
  const std::uint64_t offset_bytes = read_once(regions()[number].offset_bytes);
  const std::uint64_t bytes = read_once(regions()[number].bytes);
  if (bytes > arena_bytes_ || offset_bytes > arena_bytes_ - bytes || offset_bytes % board_page_bytes != 0)
    return {nullptr, 0};
  return {arena_ + offset_bytes, bytes};
}

char* Board::region(std::uint32_t number, std::size_t bytes) const {
  const Place place = place_of(number);
  return place.base && place.bytes >= bytes && bytes != 0 ? place.base : nullptr;
}

Status Board::reserve(std::uint32_t number, std::size_t offset_bytes, std::size_t bytes) const {
  if (comes_by_touch()) return Status::ok;
  const char* const base = region(number, offset_bytes + bytes);
  if (!base) return Status::bad_argument;
  struct stat found {};
  // The program may have closed it, and opened something else under its number.
  if (fstat(file_, &found) != 0 || found.st_dev != file_device_ || found.st_ino != file_inode_)
    return Status::system_error;
  const std::uint64_t begin = arena_offset_bytes_ + static_cast<std::uint64_t>(base - arena_) + offset_bytes;
  return has_room(file_, begin, bytes) ? Status::ok : Status::no_memory;
}

}  // namespace millrace::node
