#include "tools/variant.h"

#include <gtest/gtest.h>

namespace millrace::tools {
namespace {

// For a host: each letter stands for an entry.
Defines host(std::string letters) {
  return [=](std::string_view name) { return letters.find(name.back()) != std::string::npos; };
}

constexpr std::string_view base[] = {"MPI_a", "MPI_b", "MPI_c"};
constexpr std::string_view of_4_0[] = {"MPI_d", "MPI_a", "MPI_b", "MPI_c"};
constexpr std::string_view of_5_0[] = {"MPI_d", "MPI_e", "MPI_f", "MPI_a", "MPI_b", "MPI_c"};
constexpr std::string_view of_impi[] = {"MPI_e", "MPI_g", "MPI_a", "MPI_b", "MPI_c"};
const std::vector<ExportList> lists{{"/p/libmillrace-mpich-4.0.so", of_4_0},
                                    {"/p/libmillrace-mpich-5.0.so", of_5_0},
                                    {"/p/libmillrace-mpich-impi.so", of_impi},
                                    {"/p/libmillrace-mpich.so", base}};

std::string chosen(const std::string& letters) {
  const ExportList* list = choose_export_list(lists, Abi::mpich, host(letters));
  return list ? list->path : "none";
}

TEST(Variant, TheFullestThatTheHostCovers) {
  EXPECT_EQ(chosen("abcdef"), "/p/libmillrace-mpich-5.0.so");
  EXPECT_EQ(chosen("abcdefxyz"), "/p/libmillrace-mpich-5.0.so");
  EXPECT_EQ(chosen("abceg"), "/p/libmillrace-mpich-impi.so");
  EXPECT_EQ(chosen("abcdg"), "/p/libmillrace-mpich-4.0.so");
  EXPECT_EQ(chosen("abcdefg"), "/p/libmillrace-mpich-5.0.so");
}

TEST(Variant, OfTwoWithAsManyEntriesTheBaseListIsTheLast) {
  const ExportList alike[] = {{"/p/libmillrace-openmpi-4.1.so", base}, {"/p/libmillrace-openmpi.so", base}};
  EXPECT_EQ(choose_export_list(alike, Abi::openmpi, host("abc"))->path, "/p/libmillrace-openmpi-4.1.so");
  EXPECT_EQ(choose_export_list(alike, Abi::openmpi, nullptr)->path, "/p/libmillrace-openmpi.so");
}

TEST(Variant, OneMissingEntryExcludesAList) {
  EXPECT_EQ(chosen("abcde"), "/p/libmillrace-mpich-4.0.so");
  EXPECT_EQ(chosen("abcef"), "/p/libmillrace-mpich.so");
}

TEST(Variant, AHostBelowTheBaseListGetsNone) {
  EXPECT_EQ(chosen("abd"), "none");
  EXPECT_EQ(chosen(""), "none");
  EXPECT_EQ(missing_entry(lists.back(), host("abd")), "MPI_c");
  EXPECT_EQ(missing_entry(lists.back(), host("abcz")), "");
}

TEST(Variant, AnUnknownHostGetsTheBaseList) {
  EXPECT_EQ(choose_export_list(lists, Abi::mpich, nullptr)->path, "/p/libmillrace-mpich.so");
  EXPECT_EQ(choose_export_list(std::span(lists).first(3), Abi::mpich, nullptr), nullptr);
  EXPECT_EQ(choose_export_list({}, Abi::mpich, nullptr), nullptr);
}

TEST(Preload, OursComesFirstAndTheRestStays) {
  EXPECT_EQ(with_preload("", "/p/libmillrace-abi.so"), "/p/libmillrace-abi.so");
  EXPECT_EQ(with_preload("libtool.so:/a/libb.so", "/p/libmillrace-abi.so"),
            "/p/libmillrace-abi.so:libtool.so:/a/libb.so");
  EXPECT_EQ(with_preload(" libtool.so  /a/libb.so: ", "/p/libmillrace-abi.so"),
            "/p/libmillrace-abi.so:libtool.so:/a/libb.so");
}

TEST(Preload, ItIsNeverThereTwice) {
  const std::string once = with_preload("libtool.so", "/p/libmillrace-abi.so");
  EXPECT_EQ(with_preload(once, "/p/libmillrace-abi.so"), once);
  // Another variant, or another installation's, gives way.
  EXPECT_EQ(with_preload("libtool.so:/q/libmillrace-mpich-5.0.so", "/p/libmillrace-abi.so"),
            "/p/libmillrace-abi.so:libtool.so");
}

}  // namespace
}  // namespace millrace::tools
