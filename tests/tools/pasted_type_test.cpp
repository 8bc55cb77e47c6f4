#include "tools/pasted_type.h"

#include <gtest/gtest.h>

#include "layout/notation.h"

namespace millrace::tools {
namespace {

// What is read must also be a notation.
std::string read(std::string_view text) {
  const PastedType pasted = read_pasted(text);
  EXPECT_EQ(pasted.complaint, "") << text;
  EXPECT_TRUE(layout::parse_notation(pasted.notation).description) << pasted.notation;
  return pasted.notation;
}

TEST(PastedType, EveryConstructorOfC) {
  EXPECT_EQ(read("MPI_Type_contiguous(3, MPI_INT, &t);"), "contiguous(3, MPI_INT)");
  EXPECT_EQ(read("MPI_Type_vector(1000, 1, 1000, MPI_DOUBLE, &t)"), "vector(1000, 1, 1000, MPI_DOUBLE)");
  EXPECT_EQ(read("MPI_Type_create_hvector(2, 1, -16, MPI_DOUBLE, &t)"), "hvector(2, 1, -16, MPI_DOUBLE)");
  EXPECT_EQ(read("MPI_Type_indexed(2, (int[]){1, 2}, (int[2]){0, 5}, MPI_INT, &t)"),
            "indexed([1, 2], [0, 5], MPI_INT)");
  EXPECT_EQ(read("MPI_Type_create_hindexed(2, {1, 2}, {0, 40}, MPI_INT, &t)"), "hindexed([1, 2], [0, 40], MPI_INT)");
  EXPECT_EQ(read("MPI_Type_create_indexed_block(2, 3, {0, 4}, MPI_INT, &t)"), "indexed_block(3, [0, 4], MPI_INT)");
  EXPECT_EQ(read("MPI_Type_create_hindexed_block(1, 3, {8}, MPI_INT, &t)"), "hindexed_block(3, [8], MPI_INT)");
  EXPECT_EQ(read("MPI_Type_create_struct(2, {1, 3}, {0, 8}, {MPI_INT, MPI_DOUBLE}, &t)"),
            "struct([1, 3], [0, 8], [MPI_INT, MPI_DOUBLE])");
  EXPECT_EQ(read("MPI_Type_create_subarray(2, {9, 9}, {3, 3}, {1, 1}, MPI_ORDER_FORTRAN, MPI_FLOAT, &t)"),
            "subarray([9, 9], [3, 3], [1, 1], fortran, MPI_FLOAT)");
  EXPECT_EQ(read("MPI_Type_create_darray(4, 0, 2, {8, 8}, {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, "
                 "{MPI_DISTRIBUTE_DFLT_DARG, 2}, {2, 2}, MPI_ORDER_C, MPI_INT, &t)"),
            "darray(4, 0, [8, 8], [block, cyclic], [default, 2], [2, 2], c, MPI_INT)");
  EXPECT_EQ(read("MPI_Type_create_resized(MPI_INT, 0, 12, &t)"), "resized(0, 12, MPI_INT)");
  EXPECT_EQ(read("MPI_Type_dup(MPI_INT, &t)"), "dup(MPI_INT)");
}

TEST(PastedType, StatementsInTheirOrder) {
  EXPECT_EQ(read("enum { n = 100 };\n"
                 "int lengths[2] = {1, 3};  // of the parts\n"
                 "MPI_Aint places[] = {0, n * sizeof(double)};\n"
                 "MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, record;\n"
                 "MPI_Type_create_struct(2, lengths, places, types, &record);\n"
                 "/* with a gap */ MPI_Type_create_resized(record, 0, (n + 4) * 8, &record);\n"
                 "MPI_Type_commit(&record);\n"),
            "resized(0, 832, struct([1, 3], [0, 800], [MPI_INT, MPI_DOUBLE]))");
}

TEST(PastedType, FortranInItsOwnWords) {
  EXPECT_EQ(read("integer :: n = 10 ! rows\n"
                 "call MPI_TYPE_VECTOR(n, 1, n, MPI_DOUBLE_PRECISION, column, ierror)\n"
                 "call MPI_TYPE_INDEXED(2, (/1, 1/), [0, 3], column, two, ierror)\n"
                 "call MPI_TYPE_COMMIT(two, ierror)\n"),
            "indexed([1, 1], [0, 3], vector(10, 1, 10, MPI_DOUBLE_PRECISION))");
}

TEST(PastedType, WhatIsMissingIsNamed) {
  const auto complaint = [](std::string_view text) {
    const PastedType pasted = read_pasted(text);
    EXPECT_EQ(pasted.notation, "");
    EXPECT_EQ(pasted.complaint.find('\n'), std::string::npos);
    return pasted.complaint;
  };
  EXPECT_EQ(complaint("MPI_Type_vector(rows, 1, 2, MPI_INT, &t)"),
            "MPI_Type_vector: 'rows' has no value here: write its number in its place, or paste where it is set");
  EXPECT_NE(complaint("MPI_Type_indexed(2, lengths, {0, 1}, MPI_INT, &t)").find("the array 'lengths'"),
            std::string::npos);
  EXPECT_NE(complaint("MPI_Type_indexed(3, {1, 1}, {0, 1}, MPI_INT, &t)").find("has 2 elements, 3 are asked for"),
            std::string::npos);
  EXPECT_EQ(complaint("MPI_Type_vector(1, 2, MPI_INT, &t)"), "MPI_Type_vector has 5 arguments, 4 are given");
  EXPECT_NE(complaint("MPI_Type_contiguous(sizeof(struct x), MPI_INT, &t)").find("size of"), std::string::npos);
  EXPECT_NE(complaint("int n = m; int m = n; MPI_Type_contiguous(n, MPI_INT, &t)").find("circles"), std::string::npos);
  EXPECT_NE(complaint("MPI_Type_contiguous(9223372036854775807 + 1, MPI_INT, &t)").find("64 bits"), std::string::npos);
  EXPECT_NE(complaint("MPI_Type_contiguous(2.5, MPI_INT, &t)").find("whole number"), std::string::npos);
  EXPECT_NE(complaint("MPI_Type_vector(1, 2").find("no end"), std::string::npos);
  EXPECT_EQ(complaint("MPI_Type_commit(&t);"), "none of these calls makes a datatype");
  EXPECT_EQ(complaint("MPI_Type_"), "none of these calls makes a datatype");
}

TEST(PastedType, TheNotationIsNone) {
  EXPECT_TRUE(is_pasted("mpi_type_vector(1, 2, 3, MPI_INT, t)"));
  EXPECT_FALSE(is_pasted("vector(1, 2, 3, MPI_INT)"));
}

}  // namespace
}  // namespace millrace::tools
