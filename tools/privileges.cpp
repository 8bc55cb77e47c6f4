#include "tools/privileges.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace millrace::tools {

bool gains_privileges(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  // The same rules as the kernel's: none of it counts on a nosuid file system or after no_new_privs.
  if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return false;
  struct statvfs system;
  if (statvfs(path.c_str(), &system) == 0 && (system.f_flag & ST_NOSUID)) return false;
  if ((status.st_mode & S_ISUID) && status.st_uid != getuid()) return true;
  if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getgid()) return true;
  return getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

bool is_same_file(const std::string& left, const std::string& right) {
  struct stat one, other;
  return stat(left.c_str(), &one) == 0 && stat(right.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

}  // namespace millrace::tools
