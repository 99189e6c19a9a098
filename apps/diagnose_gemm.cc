// Class `gemm`: dense matrix products.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "apps/diagnose_run.h"
#include "kernels/core/device.h"
#include "kernels/gemm/device.h"
#include "kernels/gemm/gemm.h"
#include "operators/array.h"
#include "operators/random_numbers.h"

namespace tensormg::diagnose
{
namespace
{
  using gemm::Size;

  constexpr std::uint64_t seed_a = 51, seed_b = 52;
  // Of sums of some ten thousand products. Tensor cores cut sums off.
  constexpr double double_tolerance = 1e-14, single_tolerance = 5e-6, half_tolerance = 5e-5,
                   tf32_tolerance = 0x1p-10;

  template <typename Number>
  Array<Number> random_matrix(std::uint64_t seed, std::int64_t size)
  {
    Array<Number> matrix(size);
    for (std::int64_t i = 0; i < size; ++i)
    {
      const double value = random_value(seed, static_cast<std::uint64_t>(i));
      if constexpr (std::is_floating_point_v<Number>)
        matrix[i] = static_cast<Number>(value);
      else
        matrix[i] = Number(static_cast<float>(value));
    }
    return matrix;
  }

  /// The rows that are compared with the reference: all of a small product, otherwise some with the first and
  /// the last.
  std::vector<std::int64_t> checked_rows(const Size &size)
  {
    constexpr double most_flops = 4e8; // of the reference
    const auto affordable =
        static_cast<std::int64_t>(most_flops / (1. + gemm::work({1, size.n, size.k}, 8).flops));
    const std::int64_t count = std::min(size.m, std::max<std::int64_t>(2, affordable));
    std::vector<std::int64_t> rows;
    for (std::int64_t r = 0; r < count; ++r)
      rows.push_back(count == 1 ? 0 : r * (size.m - 1) / (count - 1));
    return rows;
  }

  /// What the reference takes: FP16 numbers as floats.
  inline const double *readable(const Array<double> &matrix, Array<float> &)
  {
    return matrix.data();
  }
  inline const float *readable(const Array<float> &matrix, Array<float> &) { return matrix.data(); }
  inline const float *readable(const Array<Half> &matrix, Array<float> &storage)
  {
    storage = Array<float>(matrix.size());
    for (std::int64_t i = 0; i < matrix.size(); ++i)
      storage[i] = static_cast<float>(matrix[i]);
    return storage.data();
  }

  /// Random matrices, and rows of what the reference makes of them.
  template <typename Number>
  struct Inputs
  {
    explicit Inputs(const Size &size)
      : a(random_matrix<Number>(seed_a, size.m * size.k))
      , b(random_matrix<Number>(seed_b, size.k * size.n))
    {
      Array<float> storage_a, storage_b;
      const auto *const readable_a = readable(a, storage_a);
      const auto *const readable_b = readable(b, storage_b);
      for (const std::int64_t row : checked_rows(size))
      {
        rows.push_back({row, std::vector<double>(static_cast<std::size_t>(size.n)),
            std::vector<double>(static_cast<std::size_t>(size.n))});
        gemm::reference_row(size, row, readable_a, readable_b, rows.back().exact.data());
        gemm::magnitude_row(size, row, readable_a, readable_b, rows.back().magnitude.data());
      }
    }
    struct Row
    {
      std::int64_t index;
      std::vector<double> exact, magnitude;
    };
    Array<Number> a, b;
    std::vector<Row> rows;
  };

  /// All kernels of a precision work on the same matrices, which are made when the first asks for them.
  class Problem
  {
  public:
    explicit Problem(const Size &size_)
      : size(size_)
    {}
    template <typename Number>
    std::shared_ptr<const Inputs<Number>> inputs() const
    {
      auto &known = std::get<std::shared_ptr<const Inputs<Number>>>(inputs_);
      if (known == nullptr)
        known = std::make_shared<const Inputs<Number>>(size);
      return known;
    }
    Size size;

  private:
    mutable std::tuple<std::shared_ptr<const Inputs<double>>, std::shared_ptr<const Inputs<float>>,
        std::shared_ptr<const Inputs<Half>>>
        inputs_;
  };

  /// The largest |C - A B| relative to |A| |B|; infinite if any entry is not finite.
  template <typename Number, typename Result>
  double relative_error(const Size &size, const Inputs<Number> &inputs, const Result *c)
  {
    if (!std::all_of(c, c + size.m * size.n, [](Result x) { return std::isfinite(x); }))
      return std::numeric_limits<double>::infinity();
    double error = 0.;
    for (const auto &row : inputs.rows)
      for (std::size_t j = 0; j < row.exact.size(); ++j)
        error = std::max(error,
            std::abs(static_cast<double>(c[row.index * size.n + static_cast<std::int64_t>(j)]) -
                row.exact[j]) /
                row.magnitude[j]);
    return error;
  }

  template <typename Number>
  using Kernel = void(const Size &size, const Number *a, const Number *b, Number *c);

  /// In one thread: a BLAS without threads of its own must not be called by several.
  template <typename Number, Kernel<Number> kernel>
  class HostProduct : public Candidate
  {
  public:
    explicit HostProduct(const Problem &problem)
      : size_(problem.size)
      , one_(1)
      , inputs_(problem.inputs<Number>())
      , c_(size_.m * size_.n)
    {}

    Work work() const override { return gemm::work(size_, sizeof(Number)); }

    double error() override
    {
      std::fill(c_.begin(), c_.end(), std::numeric_limits<Number>::quiet_NaN());
      milliseconds(1);
      return relative_error(size_, *inputs_, c_.data());
    }

    double milliseconds(int runs) override
    {
      return team_milliseconds(one_, runs,
          [this](int) { kernel(size_, inputs_->a.data(), inputs_->b.data(), c_.data()); });
    }

  private:
    Size size_;
    ThreadTeam one_;
    std::shared_ptr<const Inputs<Number>> inputs_;
    Array<Number> c_;
  };

  template <typename Number, Kernel<Number> kernel>
  std::unique_ptr<Candidate> make_on_host(const Problem &problem, ThreadTeam &)
  {
    const Size &size = problem.size;
    constexpr double most_flops = 5e10; // a second or so
    if (gemm::work(size, sizeof(Number)).flops > most_flops)
      throw NotAvailable("takes too long in one thread");
    require_host_bytes(gemm::work(size, sizeof(Number)).bytes, "the matrices");
    return std::make_unique<HostProduct<Number, kernel>>(problem);
  }

  template <typename Number, typename Result>
  using DeviceKernel = void(
      const Size &size, const Number *a, const Number *b, Result *c, Stream stream);

  /// `products` are those of tensor cores for each product of numbers.
  template <typename Number, typename Result, DeviceKernel<Number, Result> kernel, int products>
  class DeviceProduct : public Candidate
  {
  public:
    explicit DeviceProduct(const Problem &problem)
      : size_(problem.size)
      , inputs_(problem.inputs<Number>())
      , a_(inputs_->a.size())
      , b_(inputs_->b.size())
      , c_(size_.m * size_.n)
    {
      a_.copy_from_host(inputs_->a.data());
      b_.copy_from_host(inputs_->b.data());
      device::synchronize(nullptr);
    }

    Work work() const override
    {
      Work work = gemm::work(size_, sizeof(Number));
      work.bytes += static_cast<double>(c_.size()) * (sizeof(Result) - 1. * sizeof(Number));
      return work;
    }
    double executed_flops() const override { return products * work().flops; }

    double error() override
    {
      device::fill_bytes(
          c_.data(), 0xff, static_cast<std::size_t>(c_.size()) * sizeof(Result), nullptr);
      device::synchronize(nullptr);
      milliseconds(1);
      Array<Result> c(c_.size());
      c_.copy_to_host(c.data());
      return relative_error(size_, *inputs_, c.data());
    }

    double milliseconds(int runs) override
    {
      timer_.start(stream_.get());
      for (int r = 0; r < runs; ++r)
        kernel(size_, a_.data(), b_.data(), c_.data(), stream_.get());
      return timer_.stop(stream_.get());
    }

  private:
    Size size_;
    std::shared_ptr<const Inputs<Number>> inputs_;
    DeviceArray<Number> a_, b_;
    DeviceArray<Result> c_;
    OwnedStream stream_;
    DeviceTimer timer_;
  };

  template <typename Number, typename Result, DeviceKernel<Number, Result> kernel, int products = 1>
  std::unique_ptr<Candidate> make_on_device(const Problem &problem, ThreadTeam &)
  {
    const Size &size = problem.size;
    const double bytes =
        gemm::work(size, std::max(sizeof(Number), sizeof(Result))).bytes; // at least
    require_host_bytes(bytes, "the matrices");
    require_device_bytes(static_cast<std::int64_t>(bytes), "the matrices");
    return std::make_unique<DeviceProduct<Number, Result, kernel, products>>(problem);
  }

  template <gemm::Rung rung>
  constexpr auto make_fp16 = make_on_device<Half, float, gemm::fp16<rung>>;
  template <gemm::Fp64Shape shape>
  constexpr auto make_fp64 = make_on_device<double, double, gemm::fp64<shape>>;
  template <gemm::SingleMethod method, int products>
  constexpr auto make_single = make_on_device<float, float, gemm::single<method>, products>;

  using gemm::Fp64Shape;
  using gemm::Rung;
  using gemm::SingleMethod;

  constexpr std::array rows{
      Row<Problem>{"blas_one_thread", "double", Place::host, "FP64 FMA, one thread", "",
          double_tolerance, make_on_host<double, gemm::blas<double>>},
      Row<Problem>{"blas_one_thread", "single", Place::host, "FP32 FMA, one thread", "",
          single_tolerance, make_on_host<float, gemm::blas<float>>},
      Row<Problem>{"cublas", "half", Place::device, "FP16 wgmma", "", half_tolerance,
          make_on_device<Half, float, gemm::cublas_fp16>},
      Row<Problem>{"mma_naive", "half", Place::device, "FP16 mma", "cublas", half_tolerance,
          make_fp16<Rung::naive>},
      Row<Problem>{"mma_more_tiles", "half", Place::device, "FP16 mma", "cublas", half_tolerance,
          make_fp16<Rung::more_tiles>},
      Row<Problem>{"mma_permuted", "half", Place::device, "FP16 mma", "cublas", half_tolerance,
          make_fp16<Rung::permuted>},
      Row<Problem>{"mma_buffered", "half", Place::device, "FP16 mma", "cublas", half_tolerance,
          make_fp16<Rung::buffered>},
      Row<Problem>{"mma_staged", "half", Place::device, "FP16 mma", "cublas", half_tolerance,
          make_fp16<Rung::staged>},
      Row<Problem>{"mma_larger", "half", Place::device, "FP16 mma", "cublas", half_tolerance,
          make_fp16<Rung::larger>},
      Row<Problem>{"wgmma", "half", Place::device, "FP16 wgmma", "cublas", half_tolerance,
          make_on_device<Half, float, gemm::fp16_wgmma>},
      Row<Problem>{"cublas", "double", Place::device, "FP64 mma", "", double_tolerance,
          make_on_device<double, double, gemm::cublas_fp64>},
      Row<Problem>{"mma_m8n8k4", "double", Place::device, "FP64 mma m8n8k4", "cublas",
          double_tolerance, make_fp64<Fp64Shape::m8n8k4>},
      Row<Problem>{"mma_m16n8k4", "double", Place::device, "FP64 mma m16n8k4", "cublas",
          double_tolerance, make_fp64<Fp64Shape::m16n8k4>},
      Row<Problem>{"mma_m16n8k8", "double", Place::device, "FP64 mma m16n8k8", "cublas",
          double_tolerance, make_fp64<Fp64Shape::m16n8k8>},
      Row<Problem>{"cublas_fp32", "single", Place::device, "FP32 FMA", "", single_tolerance,
          make_on_device<float, float, gemm::cublas_fp32>},
      Row<Problem>{"cublas_tf32", "single", Place::device, "TF32 wgmma", "", tf32_tolerance,
          make_on_device<float, float, gemm::cublas_tf32>},
      Row<Problem>{"mma_tf32", "single", Place::device, "TF32 mma", "cublas_tf32", tf32_tolerance,
          make_single<SingleMethod::tf32, 1>},
      Row<Problem>{"mma_3xtf32", "single", Place::device, "TF32 mma", "cublas_fp32",
          single_tolerance, make_single<SingleMethod::tf32_three, 3>},
      Row<Problem>{"mma_tf32_corrected", "single", Place::device, "TF32 mma", "cublas_fp32",
          single_tolerance, make_single<SingleMethod::tf32_corrected, 3>},
      Row<Problem>{"mma_fp16_corrected", "single", Place::device, "FP16 mma", "cublas_fp32",
          single_tolerance, make_single<SingleMethod::fp16_corrected, 3>},
  };
} // namespace

void run_gemm(Run &run)
{
  for (const std::array<std::int64_t, 3> &size : run.options.gemm_sizes)
    run_rows<Problem>(rows, "gemm", Problem({size[0], size[1], size[2]}),
        std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]),
        run);
}
} // namespace tensormg::diagnose
