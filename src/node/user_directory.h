// A place in memory of the node where processes of one user find each other, and nobody else can put anything.
#pragma once

#include <string>
#include <vector>

namespace millrace::node {

struct UserDirectory {
  int descriptor = -1;  // of the directory; the caller closes it
  std::string path;     // for messages
};

// Opens the user's directory, makes it if need be: mode 0700, owned by this process's effective user, on a file system
// in memory, no symbolic link. What another user has put under its name is passed over for the next name. -1 if there
// is none. The same for all processes of a user that see the same file systems. Thread-safe.
UserDirectory open_user_directory();
// The same below these places instead of /dev/shm and /run/user/UID, for tests.
UserDirectory open_user_directory(const std::vector<std::string>& places);

// Opens or makes a file of that name in the directory: regular, mode 0600, one link, owned by this user. -1 if not.
int open_user_file(int directory, const std::string& name, bool make);

}  // namespace millrace::node
