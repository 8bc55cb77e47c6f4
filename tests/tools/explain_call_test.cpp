#include "tools/explain_call.h"

#include <gtest/gtest.h>

namespace millrace::tools {
namespace {

constexpr const char* no_settings[] = {nullptr};

TEST(ExplainCall, NamesTheAlgorithm) {
  EXPECT_NE(explain_call("allreduce", 8, 2, false, no_settings).text.find("pair"), std::string::npos);
  EXPECT_NE(explain_call("MPI_Allreduce", 8, 5, false, no_settings).text.find("cells"), std::string::npos);
  EXPECT_NE(explain_call("reduce", 1 << 20, 8, false, no_settings).text.find("slices"), std::string::npos);
  EXPECT_NE(explain_call("alltoall", 1 << 20, 8, false, no_settings).text.find("alltoall_mail"), std::string::npos);
  EXPECT_NE(explain_call("alltoall", 8, 700, false, no_settings).text.find("host MPI"), std::string::npos);
  EXPECT_NE(explain_call("BCAST", 1 << 20, 8, false, no_settings).text.find("chunks"), std::string::npos);
  EXPECT_NE(explain_call("MPI_Scan", 8, 2, false, no_settings).text.find("scan_cells"), std::string::npos);
  EXPECT_NE(explain_call("exscan", 1 << 20, 4, false, no_settings).text.find("exscan_chain"), std::string::npos);
  EXPECT_NE(explain_call("reduce_scatter", 1 << 20, 4, false, no_settings).text.find("reduce_scatter_slices"),
            std::string::npos);
  EXPECT_NE(explain_call("reduce", 1 << 20, 8, true, no_settings).text.find("chain"), std::string::npos);
}

TEST(ExplainCall, FollowsTheSettings) {
  const char* const settings[] = {"MILLRACE_ALGORITHM=allreduce=slices", nullptr};
  EXPECT_NE(explain_call("allreduce", 8, 5, false, settings).text.find("slices"), std::string::npos);
  EXPECT_NE(explain_call("bcast", 100000, 2, false, no_settings).text.find("bcast_single_copy"), std::string::npos);
  const char* const two_copies[] = {"MILLRACE_SINGLE_COPY=never", nullptr};
  EXPECT_NE(explain_call("bcast", 100000, 2, false, two_copies).text.find("bcast_chunks"), std::string::npos);
  const char* const wrong[] = {"MILLRACE_TREE=oak", nullptr};
  EXPECT_NE(explain_call("allreduce", 8, 5, false, wrong).text.find("oak"), std::string::npos);
}

TEST(ExplainCall, SaysWhatItDoesNotKnow) {
  EXPECT_FALSE(explain_call("iscan", 8, 2, false, no_settings).is_understood);
  EXPECT_NE(explain_call("iscan", 8, 2, false, no_settings).text.find("iscan"), std::string::npos);
}

}  // namespace
}  // namespace millrace::tools
