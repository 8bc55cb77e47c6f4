#include "shim/call/arguments.h"

#include <gtest/gtest.h>

#include <array>

// What the host's library says of Fortran: here a C handle is the integer, and one address stands for MPI_BOTTOM.
namespace millrace::shim::fortran {

int bottom = 0;
int in_place = 0;

Word to_datatype(Word address) { return as_word(to_int(address)); }
Word to_op(Word address) { return as_word(to_int(address)); }
Word to_comm(Word address) { return as_word(to_int(address)); }
Word to_request(Word address) { return as_word(to_int(address)); }
Word to_win(Word address) { return as_word(to_int(address)); }
bool is_in_place(Word address) { return address == as_word(&in_place); }
bool is_sentinel(Word address) { return address == as_word(&bottom) || is_in_place(address); }

}  // namespace millrace::shim::fortran

namespace millrace::shim {
namespace {

constexpr Word noise = 0xabcd'0000'0000'0000;  // what may stand above an argument that is narrower than a word
constexpr std::int64_t large = std::int64_t{5} << 32;

TEST(Arguments, OfCAreTheWordsThemselves) {
  const std::array<Word, 3> words{noise | 7, noise | 0x4c000000, as_word(-2) & 0xffffffff};
  const Arguments arguments(Symbol::MPI_Type_contiguous, words);
  EXPECT_FALSE(arguments.from_fortran());
  EXPECT_EQ(arguments.count(0), 7);
  EXPECT_EQ(arguments.datatype(1), 0x4c000000u);
  EXPECT_EQ(arguments.integer(2), -2);
}

TEST(Arguments, OfALargeTwinAreWide) {
  const std::array<std::int64_t, 2> counts{large, -1};
  const std::array<Word, 2> words{static_cast<Word>(large), as_word(counts.data())};
  const Arguments arguments(Symbol::MPI_Type_contiguous_c, words);
  EXPECT_TRUE(arguments.has_large_counts());
  EXPECT_EQ(arguments.count(0), large);
  EXPECT_EQ(arguments.count_at(1, 0), large);
  EXPECT_EQ(arguments.count_at(1, 1), -1);
}

TEST(Arguments, OfFortranGoByAddress) {
  int count = -7;
  int datatype = 0x4c000001;
  int error = 3;
  const std::array<Word, 3> words{as_word(&count), as_word(&datatype), as_word(&error)};
  constexpr Symbol symbol = Symbol::mpi_type_contiguous_f08_;
  const Arguments arguments(symbol, words);
  EXPECT_TRUE(arguments.from_fortran());
  EXPECT_EQ(arguments.count(0), -7);
  EXPECT_EQ(arguments.datatype(1), 0x4c000001u);
  EXPECT_EQ(arguments.datatype_at(1, 0), 0x4c000001u);
  EXPECT_FALSE(has_succeeded(symbol, 0, words));
  EXPECT_EQ(succeed(symbol, words), 0u);
  EXPECT_EQ(error, 0);
  EXPECT_TRUE(has_succeeded(symbol, 99, words)) << "what a subroutine returns is nothing";
}

// Two of the readers that there were took the address itself for the count.
TEST(Arguments, OfALargeTwinInFortranAreWideAndGoByAddress) {
  const std::int64_t count = large;
  const std::array<Word, 2> words{as_word(&count), 0};
  constexpr Symbol symbol = Symbol::mpi_type_contiguous_f08_large_;
  const Arguments arguments(symbol, words);
  EXPECT_EQ(arguments.count(0), large);
  EXPECT_TRUE(has_succeeded(symbol, 0, words)) << "mpi_f08 may leave the error out";
  EXPECT_EQ(succeed(symbol, words), 0u);
}

TEST(Arguments, ArraysHaveTheWidthOfTheLanguage) {
  const std::array<std::uint32_t, 2> c_types{1, 0x80000002};
  const std::array<int, 2> fortran_types{3, 4};
  const std::array<std::int64_t, 2> wide{large, 1};
  const std::array<int, 2> narrow{5, 6};
  const std::array<Word, 4> words{as_word(c_types.data()), as_word(fortran_types.data()), as_word(wide.data()),
                                  as_word(narrow.data())};
  EXPECT_EQ(Arguments(Symbol::MPI_Alltoallw, words).datatype_at(0, 1), 0x80000002u);
  const Arguments fortran(Symbol::mpi_type_contiguous_f08_, words);
  EXPECT_EQ(fortran.datatype_at(1, 1), 4u);
  EXPECT_EQ(fortran.request_at(1), 3u);
  EXPECT_EQ(fortran.element(2, 0, true), large);
  EXPECT_EQ(fortran.element(3, 1, false), 6);
}

TEST(Arguments, AddressesThatStandForSomethingElse) {
  int data = 0;
  const std::array<Word, 3> words{as_word(&data), as_word(&fortran::bottom), as_word(&fortran::in_place)};
  const Arguments fortran(Symbol::mpi_type_contiguous_f08_, words);
  EXPECT_EQ(fortran.buffer(0), as_word(&data));
  EXPECT_EQ(fortran.buffer(1), 0u);
  EXPECT_TRUE(fortran.is_in_place(2));
  EXPECT_FALSE(fortran.is_in_place(1));
  const std::array<Word, 2> c_words{abi::in_place, 0};
  const Arguments c(Symbol::MPI_Type_contiguous, c_words);
  EXPECT_TRUE(c.is_in_place(0));
  EXPECT_FALSE(c.is_in_place(1));
  EXPECT_EQ(c.buffer(1), 0u);
}

}  // namespace
}  // namespace millrace::shim
