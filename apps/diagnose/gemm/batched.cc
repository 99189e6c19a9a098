// Part of class `smallmat`: batches of products in single precision, corrected on tensor cores, against cuBLAS.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "apps/diagnose/run.h"
#include "kernels/core/array.h"
#include "kernels/core/random_numbers.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/device.h"

namespace tensormg::diagnose
{
namespace
{
  using gemm::Correction;
  using gemm::Format;
  using gemm::SinglePolicy;
  using gemm::Size;
  using gemm::Unit;

  constexpr std::uint64_t seed_a = 73, seed_b = 74;
  constexpr double tolerance = 5e-6; ///< relative to |A| |B|, sums of some hundred products

  Array<float> random_array(std::uint64_t seed, std::int64_t size)
  {
    Array<float> array(size);
    for (std::int64_t i = 0; i < size; ++i)
      array[i] = static_cast<float>(random_value(seed, static_cast<std::uint64_t>(i)));
    return array;
  }

  struct Inputs
  {
    Array<float> a, b;
  };

  /// `count` products of matrices of n x n. All kernels work on the same matrices, which are made when the first asks
  /// for them.
  class Problem
  {
  public:
    Problem(int n_, std::int64_t count_)
      : n(n_)
      , count(count_)
    {}
    std::shared_ptr<const Inputs> inputs() const
    {
      if (inputs_ == nullptr)
        inputs_ = std::make_shared<const Inputs>(
            Inputs{random_array(seed_a, entries()), random_array(seed_b, entries())});
      return inputs_;
    }
    int n;
    std::int64_t count;
    Size size() const { return {n, n, n}; }
    std::int64_t entries() const { return count * n * n; }
    Work work() const
    {
      const Work one = gemm::work(size(), sizeof(float));
      const auto number = static_cast<double>(count);
      return {number * one.flops, number * one.bytes};
    }

  private:
    mutable std::shared_ptr<const Inputs> inputs_;
  };

  /// The largest |C - A B| relative to |A| |B| of one row of each of some matrices, first and last among them; infinite
  /// if any entry is not finite.
  double batch_error(
      const Problem &problem, const Array<float> &a, const Array<float> &b, const Array<float> &c)
  {
    if (!std::all_of(c.begin(), c.end(), [](float x) { return std::isfinite(x); }))
      return std::numeric_limits<double>::infinity();
    const std::int64_t checked = std::min<std::int64_t>(problem.count, 200);
    const std::int64_t matrix_size = static_cast<std::int64_t>(problem.n) * problem.n;
    std::vector<double> exact(static_cast<std::size_t>(problem.n)), magnitude(exact.size());
    double error = 0.;
    for (std::int64_t i = 0; i < checked; ++i)
    {
      const std::int64_t matrix = checked == 1 ? 0 : i * (problem.count - 1) / (checked - 1);
      const std::int64_t row = 7 * i % problem.n, first = matrix * matrix_size;
      gemm::reference_row(problem.size(), row, a.data() + first, b.data() + first, exact.data());
      gemm::magnitude_row(
          problem.size(), row, a.data() + first, b.data() + first, magnitude.data());
      for (std::size_t j = 0; j < exact.size(); ++j)
      {
        const auto at = first + row * problem.n + static_cast<std::int64_t>(j);
        error = std::max(error, std::abs(static_cast<double>(c[at]) - exact[j]) / magnitude[j]);
      }
    }
    return error;
  }

  using Kernel = void(const Size &size, std::int64_t count, const float *a, const float *b,
      float *c, Stream stream);

  template <Kernel kernel, int products>
  class DeviceBatch : public Candidate
  {
  public:
    explicit DeviceBatch(const Problem &problem)
      : problem_(problem)
      , inputs_(problem.inputs())
      , a_(inputs_->a.size())
      , b_(a_.size())
      , c_(a_.size())
    {
      a_.copy_from_host(inputs_->a.data());
      b_.copy_from_host(inputs_->b.data());
      device::synchronize(nullptr);
    }

    Work work() const override { return problem_.work(); }
    double executed_flops() const override { return products * work().flops; }
    Items items() const override { return {static_cast<double>(problem_.count), "matrices"}; }

    double error() override
    {
      device::fill_bytes(
          c_.data(), 0xff, static_cast<std::size_t>(c_.size()) * sizeof(float), nullptr);
      device::synchronize(nullptr);
      milliseconds(1);
      Array<float> c(c_.size());
      c_.copy_to_host(c.data());
      return batch_error(problem_, inputs_->a, inputs_->b, c);
    }

    double milliseconds(int runs) override
    {
      timer_.start(stream_.get());
      for (int r = 0; r < runs; ++r)
        kernel(problem_.size(), problem_.count, a_.data(), b_.data(), c_.data(), stream_.get());
      return timer_.stop(stream_.get());
    }

  private:
    Problem problem_;
    std::shared_ptr<const Inputs> inputs_;
    DeviceArray<float> a_, b_, c_;
    OwnedStream stream_;
    DeviceTimer timer_;
  };

  template <Kernel kernel, int products = 1>
  std::unique_ptr<Candidate> make(const Problem &problem, ThreadTeam &)
  {
    require_host_bytes(problem.work().bytes, "the matrices");
    require_device_bytes(static_cast<std::int64_t>(problem.work().bytes), "the matrices");
    return std::make_unique<DeviceBatch<kernel, products>>(problem);
  }

  template <SinglePolicy policy>
  constexpr auto make_own =
      make<gemm::Single<policy>::multiply_batch, policy.correction == Correction::none ? 1 : 3>;

  constexpr std::array rows{
      Row<Problem>{"cublas_batched", "single", Place::device, "FP32 FMA", "", tolerance,
          make<gemm::cublas_fp32_batched>},
      Row<Problem>{"cuda_fp32", "single", Place::device, "FP32 FMA", "cublas_batched", tolerance,
          make_own<SinglePolicy{Unit::cuda_cores, Format::fp32}>},
      Row<Problem>{"wmma_tf32_corrected", "single", Place::device, "TF32 mma m16n8k4",
          "cublas_batched", tolerance,
          make_own<SinglePolicy{Unit::wmma, Format::tf32, Correction::outside}>},
      Row<Problem>{"mma_3xtf32", "single", Place::device, "TF32 mma", "cublas_batched", tolerance,
          make_own<SinglePolicy{Unit::mma, Format::tf32, Correction::three_products}>},
      Row<Problem>{"mma_tf32_corrected", "single", Place::device, "TF32 mma", "cublas_batched",
          tolerance, make_own<SinglePolicy{Unit::mma, Format::tf32, Correction::outside}>},
      Row<Problem>{"mma_fp16_corrected", "single", Place::device, "FP16 mma", "cublas_batched",
          tolerance, make_own<SinglePolicy{Unit::mma, Format::fp16, Correction::outside}>},
  };

  /// Enough for all multiprocessors, as far as the memory that the user allows goes.
  struct Batch
  {
    int n;
    std::int64_t most;
  };
  constexpr std::array batches{Batch{128, 1024}, Batch{512, 64}};
} // namespace

void run_batched_products(Run &run)
{
  check_rows<Problem>(rows); // also where none of them runs
  if (!run.diagnosis.wants(Place::device))
    return; // the host's BLAS is in class gemm
  for (const Batch &batch : batches)
  {
    const double bytes = gemm::work({batch.n, batch.n, batch.n}, sizeof(float)).bytes;
    const auto fitting = static_cast<std::int64_t>(1e6 * run.options.memory_megabytes / bytes);
    const Problem problem(batch.n, std::clamp<std::int64_t>(fitting, 1, batch.most));
    run_rows<Problem>(rows, "smallmat", problem,
        "products in single, " + std::to_string(problem.count) + " of " + std::to_string(batch.n) +
            " x " + std::to_string(batch.n),
        run);
  }
}
} // namespace tensormg::diagnose
