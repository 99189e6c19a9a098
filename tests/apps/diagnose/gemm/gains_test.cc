// What products gain from tensor cores, beside the comparison with their twin.
#include "apps/diagnose/gemm/gains.h"

#include <gtest/gtest.h>

#include "tests/support/diagnosis.h"

namespace tensormg::diagnose
{
namespace
{
  /// Kernels of a product in double: one on CUDA cores, the library, and one of tensor cores with the library as twin.
  Diagnosis products()
  {
    Diagnosis diagnosis = pair_of_kernels();
    diagnosis.entries.clear();
    diagnosis.entries.push_back(measured_entry("cuda_fp64", "FP64 FMA", 4.));
    diagnosis.entries.push_back(measured_entry("cublas", "FP64 mma", 1.));
    diagnosis.entries.back().twin = "cuda_fp64";
    diagnosis.entries.push_back(measured_entry("mma", "FP64 mma", 2.));
    diagnosis.entries.back().twin = "cublas";
    diagnosis.entries.back().gain_by_turns = 0.9;
    for (Entry &entry : diagnosis.entries)
      entry.work = {1e12, 1e8};
    return diagnosis;
  }

  TEST(DiagnoseGemmGains, AreFiguresOfKernelsWithAnotherTwin)
  {
    Diagnosis diagnosis = products();
    const std::string text = gemm_class::add_gains(diagnosis, 0);
    EXPECT_TRUE(diagnosis.entries[0].figures.empty());
    EXPECT_TRUE(diagnosis.entries[1].figures.empty()); // its twin
    const Entry &entry = diagnosis.entries[2];
    ASSERT_EQ(entry.figures.size(), 3u);
    EXPECT_EQ(entry.figures[0].name, "gain over cuda_fp64");
    EXPECT_EQ(
        entry.figures[0].value, 2.); // not the quotient by turns, which is that of the library
    Entry against = entry;
    against.twin = "cuda_fp64";
    EXPECT_EQ(entry.figures[1].value, gain(against, diagnosis)->overlapped);
    EXPECT_EQ(entry.figures[2].value, gain(against, diagnosis)->bound);
    EXPECT_EQ(entry.twin, "cublas");
    EXPECT_EQ(entry.gain_by_turns, 0.9);
    EXPECT_NE(text.find("gain over cuda_fp64: mma 2"), std::string::npos) << text;
  }

  TEST(DiagnoseGemmGains, NeedBothTimes)
  {
    Diagnosis diagnosis = products();
    EXPECT_EQ(gemm_class::add_gains(diagnosis, 3), "");
    diagnosis.entries[0].outcome = Outcome::not_available;
    EXPECT_EQ(gemm_class::add_gains(diagnosis, 0), "");
    diagnosis = products();
    diagnosis.entries[2].outcome = Outcome::failed;
    EXPECT_EQ(gemm_class::add_gains(diagnosis, 0), "");
    diagnosis = products();
    diagnosis.entries[2].precision = "single"; // has twins in its table
    EXPECT_EQ(gemm_class::add_gains(diagnosis, 0), "");
    EXPECT_TRUE(diagnosis.entries[2].figures.empty());
  }

  TEST(DiagnoseGemmGains, AreOfTheSameProduct)
  {
    Diagnosis diagnosis = products();
    diagnosis.entries[0].problem = "another one";
    EXPECT_EQ(gemm_class::add_gains(diagnosis, 0), "");
  }
} // namespace
} // namespace tensormg::diagnose
