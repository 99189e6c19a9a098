// The classes of the diagnosis are the words of the parameter file, and what a quick run makes of the options.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/diagnose.h"
#include "apps/diagnose_classes.h"
#include "apps/parameter_words.h"

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

  TEST(DiagnoseClasses, AreTheWordsOfTheParameterFile)
  {
    ASSERT_EQ(class_rows().size() + 1, diagnose_classes.size());
    for (std::size_t i = 0; i < class_rows().size(); ++i)
    {
      EXPECT_EQ(class_rows()[i].name, diagnose_classes[i]);
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
