#include "plan/host_family.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace millrace::plan {
namespace {

HostFamily family_of(std::string_view text) { return host_family(host_version(text)); }

TEST(HostFamily, OfWhatHostsSay) {
  EXPECT_EQ(family_of("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), HostFamily::openmpi_4);
  EXPECT_EQ(family_of("Open MPI v5.0.11, package: Open MPI"), HostFamily::openmpi_5);
  EXPECT_EQ(family_of("MPICH Version:\t4.0.2\nMPICH Release date:"), HostFamily::mpich_4);
  EXPECT_EQ(family_of("MPICH Version:      5.0.2\n"), HostFamily::mpich_5);
  EXPECT_EQ(family_of("Intel(R) MPI Library 2021.18 for Linux* OS\n"), HostFamily::intel);
}

TEST(HostFamily, WhatWasNotMeasuredIsUnknown) {
  for (const char* text :
       {"", "Open MPI v", "Open MPI v3.1.6", "Open MPI v40.1", "MPICH Version:", "MPICH Version:\t3.4",
        "Intel(R) MPI Library 2019 Update 9", "MVAPICH2 Version : 2.3.7", "Cray MPICH version 8.1"})
    EXPECT_EQ(family_of(text), HostFamily::unknown) << text;
}

TEST(HostFamily, TheVersionIsRead) {
  const HostVersion version = host_version("MPICH Version:\t4.0.2\n");
  EXPECT_EQ(version.vendor, Vendor::mpich);
  EXPECT_EQ(version.major, 4);
  EXPECT_EQ(version.minor, 0);
  EXPECT_EQ(host_version("MPICH Version:\t3.4.1").minor, 4);
  EXPECT_EQ(host_version("Intel(R) MPI Library 2021.18 for Linux").minor, 18);
}

TEST(HostFamily, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::size_t family = 0; family < host_families; ++family)
    names.insert(host_family_name(static_cast<HostFamily>(family)));
  EXPECT_EQ(names.size(), host_families);
}

}  // namespace
}  // namespace millrace::plan
