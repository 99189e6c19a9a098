// Kernels on batches of tensors in the comparison: their words, their check, and what runs without a device.
#include <cmath>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/compare/compare.h"
#include "apps/compare/report.h"
#include "apps/compare/tensor/candidate.h"
#include "apps/compare/tensor/conflicts.h"
#include "apps/parameters/words.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  /// The reference with one mistake at a time.
  enum class Mistake : std::uint8_t
  {
    none,
    wrong_entry,   ///< of the last tensor
    missing_entry, ///< not written
    outside        ///< a number that no tensor has is written
  };
  Mistake mistake = Mistake::none;

  void nodal_with_mistake(const nodal::Arguments<double> &a)
  {
    const tensor::Batch &batch = a.batch;
    const std::int64_t last = batch.position(
        {batch.count[0] - 1, batch.count[1] - 1, batch.count[2] - 1}, {batch.n - 1, 0, 0});
    const double before = a.dst[last];
    nodal::select<double>({}, batch.dim, batch.n).apply(a);
    if (mistake == Mistake::wrong_entry)
      a.dst[last] += 1e-9;
    if (mistake == Mistake::missing_entry)
      a.dst[last] = before;
    if (mistake == Mistake::outside)
      a.dst[0] = 0.;
  }

  using HostOperation = TensorOperation<NodalOperator, double, HostNumbers>;

  HostOperation operation_with(Mistake which, const TensorSetup &setup)
  {
    mistake = which;
    nodal::Kernel<double> kernel = nodal::select<double>({}, setup.batch.dim, setup.batch.n);
    kernel.apply = &nodal_with_mistake;
    return {setup, kernel, nullptr};
  }

  TEST(CompareTensor, CheckFindsMistakes)
  {
    for (const char *form : {"nodal", "nodal_cells"})
      for (const int dim : {2, 3})
      {
        SCOPED_TRACE(testing::Message() << form << " in " << dim << "D");
        for (const TensorSetup &small : small_tensors(form, dim, 2))
        {
          EXPECT_EQ(operation_with(Mistake::none, small).check_all(), 0.);
          EXPECT_GT(operation_with(Mistake::wrong_entry, small).check_all(), 1e-12);
          EXPECT_TRUE(std::isinf(operation_with(Mistake::missing_entry, small).check_all()));
        }
        const TensorSetup large = timed_tensors(form, dim, 2, 100'000);
        EXPECT_EQ(operation_with(Mistake::none, large).check_sample(), 0.);
        EXPECT_GT(operation_with(Mistake::wrong_entry, large).check_sample(), 1e-12);
        EXPECT_TRUE(std::isinf(operation_with(Mistake::missing_entry, large).check_sample()));
      }
    // Cell 0 belongs to no patch of an odd colour.
    EXPECT_TRUE(
        std::isinf(operation_with(Mistake::outside, small_tensors("nodal", 3, 1)[1]).check_all()));
  }

  // check_sample() asks for all to be finite.
  TEST(CompareTensor, EveryNumberThatIsTimedBelongsToATensor)
  {
    for (const char *form : tensor_forms)
      for (const int dim : {2, 3})
        for (const int degree : {1, 4, 7})
        {
          const TensorSetup setup = timed_tensors(form, dim, degree, 1 << 20);
          EXPECT_EQ(setup.batch.entries(), setup.size);
          EXPECT_NEAR(static_cast<double>(setup.size) / (1 << 20), 1., 0.35) << form << degree;
          EXPECT_EQ(setup.batch.n, tensor_size(form, degree));
        }
  }

  /// Every kernel of the table of kernels/nodal and kernels/patch_inverse can be asked for.
  TEST(CompareTensor, EveryKernelHasAWord)
  {
    std::set<std::string> words;
    for (const char *form : tensor_forms)
      for (const std::string_view precision : compare_precisions)
        for (const int dim : {2, 3})
          for (const int degree : {1, 3, 4, 7, 8})
            for (const nodal::Variant &variant :
                tensor_kernels(form, dim, degree, std::string(precision)))
            {
              const std::string word = backend_word(variant);
              words.insert(word);
              const std::vector<std::string> known = compare_backends();
              const bool is_word = std::find(known.begin(), known.end(), word) != known.end();
              EXPECT_TRUE(is_word) << word;
              const Choice choice{dim, degree, 1, "apply", form, std::string(precision), word};
              EXPECT_STREQ(find_implementation(choice).form, form);
              const auto found = find_tensor_kernels(choice);
              EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const nodal::Variant &other) {
                return backend_word(other) == word;
              })) << word;
            }
    EXPECT_EQ(words.count("mma_staged_padded_m16n8k16"), 1u);
    EXPECT_EQ(words.count("mma_registers_m8n8k4"), 1u);
    EXPECT_EQ(words.count("wmma"), 1u);
    for (const char *form : {"nodal", "patch_inverse"})
      for (const char *precision : {"tf32", "3xtf32", "3xfp16", "half", "double"})
        EXPECT_FALSE(tensor_kernels(form, 3, 7, precision).empty()) << form << precision;
  }

  TEST(CompareTensor, WhatIsMissingNamesWhatThereIs)
  {
    const auto reason = [](const Choice &choice) {
      return run_entry(choice, CompareOptions(), MPI_COMM_SELF).reason;
    };
    const std::string padded =
        reason({3, 2, 1000, "apply", "nodal", "double", "mma_staged_padded_m8n8k4"});
    EXPECT_NE(padded.find("no kernel for nodal double of degree 2 in 3D"), std::string::npos)
        << padded;
    EXPECT_NE(padded.find("mma_registers_m16n8k8"), std::string::npos) << padded;
    EXPECT_EQ(padded.find("mma_staged"), std::string::npos) << padded; // N = 6 fits into registers
    EXPECT_NE(reason({3, 2, 1000, "apply", "patch_inverse", "half", "wmma"}).find("there are"),
        std::string::npos);
    EXPECT_NE(reason({3, 2, 1000, "chebyshev", "nodal", "double", "reference"}).find("apply only"),
        std::string::npos);
  }

  // As the layouts have them (kernels/tensor/shared_accesses.h).
  TEST(CompareTensor, PredictedWavefronts)
  {
    using namespace nodal;
    using tensor::Arithmetic;
    const auto of = [](Arithmetic arithmetic, Staging staging, Instruction instruction, int n) {
      return predicted_wavefronts({Backend::mma, arithmetic, staging, instruction}, 3, n);
    };
    EXPECT_EQ(of(Arithmetic::fp64, Staging::plain, Instruction::m16n8k4, 16), 3584. / 1024.);
    EXPECT_EQ(of(Arithmetic::fp64, Staging::padded, Instruction::m16n8k4, 8), 192. / 128.);
    EXPECT_EQ(of(Arithmetic::fp64, Staging::permuted, Instruction::m16n8k16, 16), 1.);
    EXPECT_EQ(of(Arithmetic::tf32x3, Staging::plain, Instruction::m16n8k8, 8), 128. / 64.);
    EXPECT_EQ(of(Arithmetic::fp16, Staging::padded, Instruction::m16n8k16, 16), 768. / 512.);
    EXPECT_EQ(of(Arithmetic::fp64, Staging::registers, Instruction::m16n8k8, 8), std::nullopt);
    EXPECT_EQ(predicted_wavefronts({Backend::cuda, Arithmetic::fp64}, 3, 10), 620. / 390.);
    EXPECT_EQ(predicted_wavefronts({Backend::wmma, Arithmetic::fp64}, 3, 8), std::nullopt);
  }

  TEST(CompareTensor, ReferencesRunWithoutADevice)
  {
    const test::TemporaryDirectory directory;
    const Parameters parameters = default_parameters({"compare.degrees=1, 3", "compare.dofs=20000",
        "compare.backends=reference, cuda, mma_staged_plain", "compare.dimensions=2, 3",
        "compare.forms=nodal, nodal_cells, patch_inverse", "compare.steps=apply",
        "compare.repetitions=2", "compare.max_seconds=0.01",
        "compare.precisions=double, half, 3xfp16",
        "output.directory=" + directory.path().string()});
    std::ostringstream out, error;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, error);
    std::vector<std::size_t> kept;
    const Comparison comparison =
        run_comparison(parameters, MPI_COMM_SELF, console, [&](const Comparison &so_far) {
          EXPECT_FALSE(so_far.complete);
          kept.push_back(so_far.entries.size());
        });
    EXPECT_TRUE(comparison.complete);
    ASSERT_EQ(comparison.entries.size(), 108u); // 2D and 3D, three forms
    std::vector<std::size_t> measured;          // what is known when each is
    for (std::size_t i = 0; i < comparison.entries.size(); ++i)
      if (comparison.entries[i].outcome == Outcome::measured)
        measured.push_back(i + 1);
    EXPECT_GE(measured.size(), 24u);
    EXPECT_EQ(kept, measured);
    for (const CompareEntry &entry : comparison.entries)
    {
      SCOPED_TRACE(entry.choice.form + ' ' + entry.choice.precision + ' ' + entry.choice.backend);
      EXPECT_NE(entry.outcome, Outcome::failed) << entry.reason;
      const bool reference =
          entry.choice.backend == "reference" && entry.choice.precision != "3xfp16";
      if (reference)
      {
        EXPECT_EQ(entry.outcome, Outcome::measured) << entry.reason;
        EXPECT_EQ(entry.error, 0.);
        EXPECT_GT(entry.dofs, 10'000);
        EXPECT_EQ(entry.work.bytes, entry.choice.precision == "half" ? 4. : 16.);
      }
      else if (entry.choice.backend == "reference")
      {
        EXPECT_NE(entry.reason.find("no kernel for"), std::string::npos) << entry.reason;
      }
      else if (!comparison.no_device.empty() && entry.choice.backend == "cuda" &&
          entry.choice.precision != "3xfp16")
      {
        EXPECT_NE(entry.reason.find("no device: "), std::string::npos) << entry.reason;
      }
    }
    EXPECT_NE(out.str().find("compared with the reference on the host"), std::string::npos);
    std::ostringstream json;
    write_compare_json(comparison, json);
    EXPECT_TRUE(test::parse_json(json.str())["entries"][0].contains("shared_wavefronts_of_least"));
  }
} // namespace
} // namespace tensormg
