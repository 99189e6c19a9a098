// The classes of the diagnosis are the words of the parameter file, and what a quick run makes of the options.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/diagnose/classes.h"
#include "apps/diagnose/diagnose.h"
#include "apps/diagnose/report.h"
#include "apps/parameters/words.h"
#include "tests/support/diagnosis.h"

namespace tensormg::diagnose
{
namespace
{
  TEST(DiagnoseOptions, QuickAndAll)
  {
    tensormg::DiagnoseOptions options;
    EXPECT_EQ(effective(options).classes.size(), class_rows().size());
    EXPECT_GE(effective(options).threads, 1);
    options.quick = true;
    EXPECT_LE(effective(options).max_seconds, 0.2);
    EXPECT_LT(effective(options).time_limit, 60.);
    options.quick = false;
    EXPECT_LT(effective(options).time_limit, 480.);
    options.time_limit = 3.;
    EXPECT_EQ(effective(options).time_limit, 3.);
    options.classes = {"gemm"};
    EXPECT_EQ(effective(options).classes, std::vector<std::string>{"gemm"});
  }

  TEST(DiagnoseClasses, StencilsRunLastAndAreReportedInTheirPlace)
  {
    tensormg::DiagnoseOptions options;
    options.classes = {"all"};
    EXPECT_EQ(effective(options).classes.back(), "stencil");
    const std::vector<std::string> all(diagnose_classes.begin(), diagnose_classes.end() - 1);
    EXPECT_EQ(report_order(options), all);
    options.classes = {"gemm", "scale"};
    EXPECT_EQ(effective(options).classes, options.classes);
    EXPECT_EQ(report_order(options), options.classes);

    // Who runs last gets all that is left.
    RunClock clock(1000.);
    EXPECT_NEAR(clock.begin_class(8., 8.), 1000., 1.);

    Diagnosis diagnosis;
    diagnosis.parameters.diagnose.classes = {"all"};
    diagnosis.machines.push_back(round_machine());
    for (const char *name : {"scale", "gemm", "stencil", "gemm"})
    {
      diagnosis.entries.push_back(
          measured_entry("kernel " + std::to_string(diagnosis.entries.size()), "FP64 FMA", 1.));
      diagnosis.entries.back().class_name = name;
    }
    std::ostringstream json, csv;
    write_json(diagnosis, json);
    const auto written = nlohmann::json::parse(json.str());
    std::vector<std::string> kernels, classes;
    for (const auto &entry : written["entries"])
      kernels.push_back(entry["kernel"]);
    EXPECT_EQ(kernels, (std::vector<std::string>{"kernel 0", "kernel 2", "kernel 1", "kernel 3"}));
    for (const auto &row : written["classes"])
      classes.push_back(row["name"]);
    EXPECT_EQ(classes, all);
    write_csv(diagnosis, csv);
    EXPECT_LT(csv.str().find("kernel 2"), csv.str().find("kernel 1"));
  }

  TEST(DiagnoseClasses, NothingIsUnwrittenThatIsALimitOfALibrary)
  {
    EXPECT_STREQ(find_class("gemm").missing, "");
    EXPECT_NE(std::string(find_class("gemm").about).find("BLAS in one thread"), std::string::npos);
  }

  TEST(DiagnoseClasses, AreTheWordsOfTheParameterFile)
  {
    ASSERT_EQ(class_rows().size() + 1, diagnose_classes.size());
    for (std::size_t i = 0; i < class_rows().size(); ++i)
    {
      EXPECT_NO_THROW(find_class(std::string(diagnose_classes[i])));
      if (class_rows()[i].run == nullptr)
      {
        EXPECT_STRNE(class_rows()[i].missing, "") << "must be said in the report";
      }
    }
    EXPECT_EQ(diagnose_classes.back(), "all");
    for (const CeilingRow &row : ceiling_rows())
      if (*row.plain != '\0')
      {
        EXPECT_TRUE(std::any_of(ceiling_rows().begin(), ceiling_rows().end(),
            [&](const CeilingRow &other) {
              return row.place == other.place && std::string(row.plain) == other.name;
            }))
            << row.name;
      }
  }
} // namespace
} // namespace tensormg::diagnose
