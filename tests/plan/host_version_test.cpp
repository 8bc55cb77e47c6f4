#include "plan/host_version.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "plan/hosts/hosts.h"

namespace millrace::plan {
namespace {

const HostFacts& facts_of(std::string_view text) { return host_facts(host_version(text)); }

TEST(HostFacts, OfWhatHostsSay) {
  EXPECT_EQ(&facts_of("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), &hosts::openmpi_4);
  EXPECT_EQ(&facts_of("Open MPI v5.0.11, package: Open MPI"), &hosts::openmpi_5);
  EXPECT_EQ(&facts_of("MPICH Version:\t4.0.2\nMPICH Release date:"), &hosts::mpich_4);
  EXPECT_EQ(&facts_of("MPICH Version:      5.0.2\n"), &hosts::mpich_5);
  EXPECT_EQ(&facts_of("Intel(R) MPI Library 2021.18 for Linux* OS\n"), &hosts::intel);
}

TEST(HostFacts, WhatWasNotMeasuredIsUnknown) {
  for (const char* text :
       {"", "Open MPI v", "Open MPI v3.1.6", "Open MPI v40.1", "MPICH Version:", "MPICH Version:\t3.4",
        "Intel(R) MPI Library 2019 Update 9", "MVAPICH2 Version : 2.3.7", "Cray MPICH version 8.1"})
    EXPECT_EQ(&facts_of(text), &hosts::unknown) << text;
}

TEST(HostFacts, EachHasANameAndVersionsOfItsOwn) {
  std::set<std::string> names{hosts::unknown.name};
  for (const HostFacts* host : hosts::measured) {
    EXPECT_TRUE(names.insert(host->name).second) << host->name;
    EXPECT_EQ(hosts::measured[hosts::index_of(host->name)], host);
    EXPECT_EQ(&host_facts({host->vendor, host->major, host->least_minor}), host) << host->name;
  }
  EXPECT_EQ(hosts::index_of(hosts::unknown.name), std::size(hosts::measured));
}

TEST(HostVersion, IsRead) {
  const HostVersion version = host_version("MPICH Version:\t4.0.2\n");
  EXPECT_EQ(version.vendor, Vendor::mpich);
  EXPECT_EQ(version.major, 4);
  EXPECT_EQ(version.minor, 0);
  EXPECT_EQ(host_version("MPICH Version:\t3.4.1").minor, 4);
  EXPECT_EQ(host_version("Intel(R) MPI Library 2021.18 for Linux").minor, 18);
}

}  // namespace
}  // namespace millrace::plan
