#include "base/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

namespace millrace {
namespace {

SettingValues read(std::initializer_list<const char*> entries) {
  std::vector<const char*> environment(entries);
  environment.push_back(nullptr);
  return read_settings(environment.data());
}

TEST(Settings, AnEmptyEnvironmentGivesTheDefaults) {
  const SettingValues values = read({"PATH=/bin", "MILLRACER=1", "XMILLRACE=0"});
  EXPECT_TRUE(values.enabled);
  EXPECT_FALSE(values.reports());
  EXPECT_EQ(values.isa, "auto");
  EXPECT_EQ(values.log, LogLevel::warning);
  EXPECT_TRUE(values.disabled.empty());
  EXPECT_TRUE(values.complaints.empty());
  EXPECT_TRUE(read_settings(nullptr).enabled);
}

TEST(Settings, EveryDefaultIsAcceptedByItsOwnSetting) {
  for (const Setting& setting : settings()) {
    EXPECT_FALSE(setting_complaint(setting, setting.standard)) << setting.variable;
    EXPECT_EQ(find_setting(setting.variable), &setting);
    EXPECT_GT(std::string_view(setting.doc).size(), 10u) << setting.variable;
    EXPECT_EQ(std::string_view(setting.doc).find('\n'), std::string_view::npos) << setting.variable;
  }
  EXPECT_EQ(find_setting("MILLRACE_NONE"), nullptr);
}

TEST(Settings, OnAndOffHaveManySpellings) {
  for (const char* off : {"MILLRACE=0", "MILLRACE=off", "MILLRACE=No", "MILLRACE=FALSE"})
    EXPECT_FALSE(read({off}).enabled) << off;
  for (const char* on : {"MILLRACE=1", "MILLRACE=on", "MILLRACE=Yes", "MILLRACE=true", "MILLRACE="})
    EXPECT_TRUE(read({on}).enabled) << on;
}

TEST(Settings, AMalformedSwitchKeepsItsDefaultAndIsNamed) {
  const SettingValues values = read({"MILLRACE=2"});
  EXPECT_TRUE(values.enabled);
  ASSERT_EQ(values.complaints.size(), 1u);
  EXPECT_EQ(values.complaints[0], "MILLRACE=2 is not one of 0|1: using 1");
}

TEST(Settings, AChoiceIsCaseInsensitiveAndChecked) {
  EXPECT_EQ(read({"MILLRACE_ISA=AVX2"}).isa, "avx2");
  EXPECT_EQ(read({"MILLRACE_ISA=256"}).isa, "256");
  const SettingValues values = read({"MILLRACE_ISA=avx3"});
  EXPECT_EQ(values.isa, "auto");
  ASSERT_EQ(values.complaints.size(), 1u);
  EXPECT_NE(values.complaints[0].find("MILLRACE_ISA=avx3 is not one of auto|scalar"), std::string::npos);
  // A part of the list is no choice.
  EXPECT_EQ(read({"MILLRACE_ISA=auto|scalar"}).complaints.size(), 1u);
  EXPECT_EQ(read({"MILLRACE_LOG=warn"}).complaints.size(), 1u);
}

// A word that a row offers and its enumeration lacks is refused. Words in capitals stand for others.
TEST(Settings, EveryWordThatIsOfferedIsAccepted) {
  for (const Setting& setting : settings()) {
    std::string_view rest = setting.values;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('|'), rest.size());
      const std::string_view word = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (std::none_of(word.begin(), word.end(), [](char letter) { return letter >= 'A' && letter <= 'Z'; })) {
        EXPECT_FALSE(setting_complaint(setting, word)) << setting.variable << '=' << word;
      }
    }
  }
}

TEST(Settings, EveryWordOfAChoiceIsAValueOfItsOwn) {
  const auto values = [](const char* entry) { return read({entry}); };
  EXPECT_EQ(values("MILLRACE_COLLECTIVES=auto").collectives, When::automatic);
  EXPECT_EQ(values("MILLRACE_COLLECTIVES=ALWAYS").collectives, When::always);
  EXPECT_EQ(values("MILLRACE_SUBSTITUTE=never").substitute, When::never);
  EXPECT_EQ(values("MILLRACE_LAYOUTS=always").layouts, When::always);
  EXPECT_EQ(values("MILLRACE_SINGLE_COPY=never").single_copy, When::never);
  EXPECT_EQ(values("MILLRACE_MEASURE=always").measure, When::always);
  EXPECT_EQ(values("").measure, When::automatic);
  EXPECT_EQ(values("MILLRACE_SINGLE_COPY=always").complaints.size(), 1u) << "not offered by its row";
  EXPECT_EQ(values("MILLRACE_ORDER=rank").order, ReductionOrder::rank);
  EXPECT_EQ(values("MILLRACE_PMPI=alike").pmpi, PmpiCalls::alike);
  EXPECT_EQ(values("MILLRACE_WAIT=spin").wait, WaitMode::spin);
  EXPECT_EQ(values("MILLRACE_WAIT=yield").wait, WaitMode::yield);
  EXPECT_EQ(values("MILLRACE_WAIT=sleep").wait, WaitMode::sleep);
  EXPECT_EQ(values("MILLRACE_LOG=off").log, LogLevel::off);
  EXPECT_EQ(values("MILLRACE_LOG=debug").log, LogLevel::debug);
  EXPECT_EQ(values("MILLRACE_TREE=kary:3").tree, "kary:3");
  EXPECT_EQ(values("MILLRACE_ALGORITHM=bcast=flat").algorithm, "bcast=flat");
  EXPECT_EQ(values("MILLRACE_TUNING=none").tuning, "none");
}

TEST(Settings, TheStandardValuesAreThoseOfTheTable) {
  const SettingValues values;
  EXPECT_TRUE(values.enabled);
  EXPECT_EQ(values.collectives, When::automatic);
  EXPECT_EQ(values.threads, 0u);
  EXPECT_EQ(values.threads_bytes, 8 << 20);
  EXPECT_EQ(values.pmpi, PmpiCalls::host);
  EXPECT_EQ(values.isa, "auto");
  EXPECT_FALSE(values.report_table);
  EXPECT_EQ(values.report_file, "");
}

TEST(Settings, CountsEndAtTheMost) {
  EXPECT_EQ(read({"MILLRACE_THREADS=Auto"}).threads, 0u);
  EXPECT_EQ(read({"MILLRACE_THREADS=3"}).threads, 3u);
  EXPECT_EQ(read({"MILLRACE_THREADS=999999999999999"}).threads, 1024u);
  for (const char* wrong :
       {"MILLRACE_THREADS=0", "MILLRACE_THREADS=-1", "MILLRACE_THREADS=1.5", "MILLRACE_THREADS=many"})
    EXPECT_EQ(read({wrong}).complaints.size(), 1u) << wrong;
}

TEST(Settings, BytesHaveUnits) {
  EXPECT_EQ(read({}).buffers_bytes, 32 << 20);
  EXPECT_EQ(read({"MILLRACE_BUFFERS=0"}).buffers_bytes, 0);
  EXPECT_EQ(read({"MILLRACE_BUFFERS=4096"}).buffers_bytes, 4096);
  EXPECT_EQ(read({"MILLRACE_BUFFERS=512kib"}).buffers_bytes, 512 << 10);
  EXPECT_EQ(read({"MILLRACE_BUFFERS=2GiB"}).buffers_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(read({"MILLRACE_BUFFERS=3KB"}).buffers_bytes, 3000);
  EXPECT_EQ(read({"MILLRACE_BUFFERS=4mb"}).buffers_bytes, 4000000);
  EXPECT_EQ(read({"MILLRACE_BUFFERS=10Gb"}).buffers_bytes, 10000000000);
  EXPECT_EQ(read({"MILLRACE_BUFFERS=1TiB"}).complaints.size(), 1u);
  for (const char* wrong :
       {"MILLRACE_BUFFERS=-1", "MILLRACE_BUFFERS=MiB", "MILLRACE_BUFFERS=1 MiB", "MILLRACE_BUFFERS=1XB",
        "MILLRACE_BUFFERS=9999999999GiB", "MILLRACE_BUFFERS=9999999999GB"}) {
    const SettingValues values = read({wrong});
    EXPECT_EQ(values.buffers_bytes, 32 << 20) << wrong;
    EXPECT_EQ(values.complaints.size(), 1u) << wrong;
  }
}

TEST(Settings, NamesAreSplitAndEmptyOnesDropped) {
  const SettingValues values = read({"MILLRACE_DISABLE=,Reduce_local,,sum_f64,"});
  EXPECT_EQ(values.disabled, (std::vector<std::string>{"Reduce_local", "sum_f64"}));
}

TEST(Settings, CallsAndKernelsAreNamedInAnyCase) {
  const auto disabled = [](const char* entry) { return read({entry}).disabled; };
  using Names = std::vector<std::string>;
  EXPECT_EQ(disabled("MILLRACE_DISABLE=allreduce"), Names{"Allreduce"});
  EXPECT_EQ(disabled("MILLRACE_DISABLE=MPI_ALLREDUCE,mpi_allreduce,Allreduce"), Names{"Allreduce"});
  EXPECT_EQ(disabled("MILLRACE_DISABLE=REDUCE_SCATTER_BLOCK"), Names{"Reduce_scatter_block"});
  EXPECT_EQ(disabled("MILLRACE_DISABLE=SUM_F64,Maxloc_f64_i32,land_Bool8"),
            (Names{"land_bool8", "maxloc_f64_i32", "sum_f64"}));
  // Digits in a call make no kernel of it.
  EXPECT_EQ(disabled("MILLRACE_DISABLE=TYPE_CREATE_F90_REAL,status_f2f08,comm_F2C"),
            (Names{"Comm_f2c", "Status_f2f08", "Type_create_f90_real"}));
}

// Ranks compare the text in force (node_agreement.cpp): what means the same must not keep them apart.
TEST(Settings, TextsThatMeanTheSameAreInForceAsTheSame) {
  const auto in_force = [](const char* variable, const char* entry) {
    const char* environment[] = {entry, nullptr};
    return setting_text(*find_setting(variable), environment);
  };
  for (const char* same : {"MILLRACE_BUFFERS=32MiB", "MILLRACE_BUFFERS=32mib", "MILLRACE_BUFFERS=32768KiB",
                           "MILLRACE_BUFFERS=33554432", "MILLRACE_BUFFERS=33554432B", "MILLRACE_BUFFERS="})
    EXPECT_EQ(in_force("MILLRACE_BUFFERS", same), "32MiB") << same;
  EXPECT_EQ(in_force("MILLRACE_BUFFERS", "MILLRACE_BUFFERS=32MB"), "31250KiB");
  EXPECT_EQ(in_force("MILLRACE_BUFFERS", "MILLRACE_BUFFERS=0GiB"), "0");
  EXPECT_EQ(in_force("MILLRACE_BUFFERS", "MILLRACE_BUFFERS=1025"), "1025");
  EXPECT_EQ(in_force("MILLRACE_THREADS", "MILLRACE_THREADS=003"), "3");
  EXPECT_EQ(in_force("MILLRACE_THREADS", "MILLRACE_THREADS=99999"), "1024");
  for (const char* same : {"MILLRACE_DISABLE=bcast,MPI_Allreduce", "MILLRACE_DISABLE=Allreduce,,BCAST,bcast"})
    EXPECT_EQ(in_force("MILLRACE_DISABLE", same), "Allreduce,Bcast") << same;
}

TEST(Settings, VariablesThatAreDocumentedElsewhereAreKnown) {
  EXPECT_TRUE(read({"MILLRACE_LIBRARY=/a/libmillrace.so.0"}).complaints.empty());
  const SettingValues values = read({"MILLRACE_TASK_BYTES=4096"});
  ASSERT_EQ(values.complaints.size(), 1u);
  EXPECT_EQ(values.complaints[0],
            "MILLRACE_TASK_BYTES is a macro of millrace_mpi_tasks.h, no variable: compile with "
            "-DMILLRACE_TASK_BYTES=BYTES");
}

TEST(Settings, TheReportIsASwitchOrAJsonFile) {
  EXPECT_TRUE(read({"MILLRACE_REPORT=yes"}).report_table);
  EXPECT_FALSE(read({"MILLRACE_REPORT=0"}).reports());
  EXPECT_EQ(read({"MILLRACE_REPORT=/tmp/a b.json"}).report_file, "/tmp/a b.json");
  EXPECT_FALSE(read({"MILLRACE_REPORT=/tmp/a b.json"}).report_table);
  EXPECT_EQ(read({"MILLRACE_REPORT=on,run.json"}).report_file, "run.json");
  EXPECT_TRUE(read({"MILLRACE_REPORT=on,run.json"}).report_table);
  EXPECT_EQ(read({"MILLRACE_REPORT=a,run.json"}).report_file, "a,run.json");
  EXPECT_FALSE(read({"MILLRACE_REPORT=1,run.txt"}).reports());
  const SettingValues values = read({"MILLRACE_REPORT=report.txt"});
  EXPECT_FALSE(values.reports());
  EXPECT_EQ(values.complaints.size(), 1u);
  EXPECT_FALSE(read({"MILLRACE_REPORT=.json"}).reports());  // no name before the suffix
}

TEST(Settings, APercentSignThatMeansNothingIsNamed) {
  for (const char* variable : {"MILLRACE_REPORT", "MILLRACE_LEARN", "MILLRACE_TUNING"}) {
    const std::string name = std::string(variable) + "=run.%x%z.json";
    const SettingValues values = read({name.c_str()});
    EXPECT_FALSE(values.reports());
    ASSERT_EQ(values.complaints.size(), 1u);
    EXPECT_TRUE(values.complaints[0].starts_with(name + ": %x means nothing in the name of a file:"))
        << values.complaints[0];
    const std::string good = std::string(variable) + "=run.%j.%h.%p.%%.json";
    EXPECT_TRUE(read({good.c_str()}).complaints.empty());
  }
}

TEST(Settings, AnUnknownVariableIsNamedOnceWithItsNeighbour) {
  const SettingValues values = read({"MILLRACE_RPEORT=1", "MILLRACE_SOMETHING_ELSE=1", "MILLRACE_RPEORT=2"});
  ASSERT_EQ(values.complaints.size(), 2u);
  EXPECT_EQ(values.complaints[0], "unknown setting MILLRACE_RPEORT: did you mean MILLRACE_REPORT?");
  EXPECT_EQ(values.complaints[1], "unknown setting MILLRACE_SOMETHING_ELSE: 'millrace info' lists the settings");
}

TEST(Settings, OfTwoEntriesTheFirstCountsAsForGetenv) {
  const SettingValues values = read({"MILLRACE_ISA=avx2", "MILLRACE_ISA=nonsense"});
  EXPECT_EQ(values.isa, "avx2");
  EXPECT_TRUE(values.complaints.empty());
}

TEST(Settings, TheTextShownIsTheValueInForce) {
  const char* environment[] = {"MILLRACE_ISA=AVX2", "MILLRACE_LOG=loud", nullptr};
  EXPECT_EQ(setting_text(*find_setting("MILLRACE_ISA"), environment), "avx2");
  EXPECT_EQ(setting_text(*find_setting("MILLRACE_LOG"), environment), "warning");
  EXPECT_EQ(setting_text(*find_setting("MILLRACE"), environment), "1");
}

}  // namespace
}  // namespace millrace
