// What tensor cores execute in the contractions of the operator: products of a split, and padding of the tiles.
#include "apps/diagnose/gemm/contractions.h"

#include <gtest/gtest.h>

#include "kernels/diagnostics/nodal/nodal.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::diagnose
{
namespace
{
  double rank2(const ContractionKernel &kernel, int degree)
  {
    return executed_contraction_flops(
        kernel, false, degree, laplace::work_per_dof(laplace::Form::apply, 3, 8).flops);
  }
  double nodal(const ContractionKernel &kernel, int degree)
  {
    return executed_contraction_flops(
        kernel, true, degree, nodal::work_per_entry(3, 2 * (degree + 1), 8, false).flops);
  }

  TEST(DiagnoseContractions, CudaCoresExecuteWhatIsUseful)
  {
    const ContractionKernel cuda{"cuda", "double"};
    EXPECT_EQ(rank2(cuda, 3), 25.);
    EXPECT_EQ(nodal(cuda, 3), 112.);
    EXPECT_EQ(nodal(cuda, 7), 224.);
  }

  /// docs/kernels.md: 32 flops per unknown and direction on m16n8k*.
  TEST(DiagnoseContractions, TheLineKernelMultipliesOutAndPads)
  {
    const ContractionKernel mma{"mma", "double", 1, 8, 4, 8, true};
    EXPECT_EQ(rank2(mma, 3), 96.);
    EXPECT_EQ(rank2(mma, 7), 96.);
    EXPECT_EQ(rank2(mma, 8), 3. * 2. * 16. * 20. / 9.); // 9 modes in 16 columns
    const ContractionKernel wmma{"wmma", "3xtf32", 3, 16, 8, 16};
    EXPECT_EQ(rank2(wmma, 3), 3. * 3. * 64.);
    EXPECT_EQ(rank2(wmma, 7), 3. * 3. * 64.);
  }

  TEST(DiagnoseContractions, ASplitTakesThreeProducts)
  {
    const ContractionKernel once{"mma", "tf32", 1, 8, 8, 8, true},
        split{"mma", "3xtf32", 3, 8, 8, 8, true};
    for (const int degree : {3, 7})
    {
      EXPECT_EQ(rank2(split, degree), 3. * rank2(once, degree));
      EXPECT_EQ(nodal(split, degree), 3. * nodal(once, degree));
    }
    // A kernel whose padding is not counted.
    EXPECT_EQ(rank2({"mma", "half", 1, 0, 0, 8, true}, 3), 25.);
    EXPECT_EQ(rank2({"mma", "2xfp16", 2, 0, 0, 8, true}, 3), 50.);
  }

  TEST(DiagnoseContractions, NodalTensorsShareTiles)
  {
    const ContractionKernel registers{"mma", "double", 1, 8, 4, 8, true},
        small{"wmma", "double", 1, 8, 4, 8}, large{"wmma", "half", 1, 8, 16, 16};
    EXPECT_EQ(nodal(registers, 3), 96.); // without those along z
    EXPECT_EQ(nodal(registers, 7), 224.);
    EXPECT_EQ(nodal(small, 3), 112.);
    EXPECT_EQ(
        nodal(large, 3), 224.); // two tensors of 8 in a tile of 16: half of the matrix is zero
    EXPECT_EQ(nodal(large, 7), 224.);
    EXPECT_EQ(nodal(small, 4), 7. * 2. * 16. * 16. / 10.); // 10 padded to 16
  }
} // namespace
} // namespace tensormg::diagnose
