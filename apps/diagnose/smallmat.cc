// Class `smallmat`: batches of small products, reflections and rotations.
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
#include "kernels/device/blas.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/smallmat/smallmat.h"

namespace tensormg::diagnose
{
namespace
{
  using smallmat::Task;
  using smallmat::Unit;

  constexpr std::uint64_t factor_seed = 71, matrix_seed = 72;
  constexpr double tolerance = 1e-13; ///< sums of at most 32 products of numbers below 1

  Array<double> random_array(std::uint64_t seed, std::int64_t size, ThreadTeam &team)
  {
    Array<double> array(size);
    for_parts(team, size, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        array[i] = random_value(seed, static_cast<std::uint64_t>(i));
    });
    return array;
  }

  struct Inputs;

  /// All kernels work on the same matrices, which are made when the first asks for them.
  struct Problem
  {
    Task task;
    int n;
    std::int64_t count;
    mutable std::shared_ptr<const Inputs> known = nullptr;
    std::shared_ptr<const Inputs> inputs(ThreadTeam &team) const;
  };

  /// Reflections and rotations need numbers of norm 1.
  Array<double> make_factors(const Problem &problem, ThreadTeam &team)
  {
    const std::int64_t size = smallmat::factor_size(problem.task, problem.n);
    Array<double> factors = random_array(factor_seed, size * problem.count, team);
    if (problem.task != Task::product)
      for (std::int64_t first = 0; first < factors.size(); first += size)
      {
        double square = 0.;
        for (std::int64_t e = first; e < first + size; ++e)
          square += factors[e] * factors[e];
        for (std::int64_t e = first; e < first + size; ++e)
          factors[e] /= std::sqrt(square);
      }
    return factors;
  }

  struct Inputs
  {
    Array<double> factors, b;
  };

  std::shared_ptr<const Inputs> Problem::inputs(ThreadTeam &team) const
  {
    if (known == nullptr)
      known = std::make_shared<const Inputs>(
          Inputs{make_factors(*this, team), random_array(matrix_seed, count * n * n, team)});
    return known;
  }

  /// The largest difference of some matrices, the last among them; infinite if any entry is not finite.
  double batch_error(const Problem &problem, const Array<double> &factors, const Array<double> &b,
      const Array<double> &c, ThreadTeam &team)
  {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const double largest =
        largest_of_parts(team, c.size(), [&](std::int64_t begin, std::int64_t end) {
          const auto is_finite = [](double x) { return std::isfinite(x); };
          return std::all_of(c.begin() + begin, c.begin() + end, is_finite) ? 0. : infinite;
        });
    if (largest > 0.)
      return infinite;
    constexpr std::int64_t most = 2000;
    const std::int64_t step = std::max<std::int64_t>(1, problem.count / most);
    const std::int64_t size = static_cast<std::int64_t>(problem.n) * problem.n;
    const std::int64_t factor_size = smallmat::factor_size(problem.task, problem.n);
    const std::int64_t checked = (problem.count + step - 1) / step;
    return largest_of_parts(team, checked, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> exact(static_cast<std::size_t>(size));
      double error = 0.;
      for (std::int64_t at = begin; at < end; ++at)
      {
        const std::int64_t i = problem.count - 1 - at * step;
        smallmat::reference(problem.task, problem.n, factors.data() + i * factor_size,
            b.data() + i * size, exact.data());
        for (std::int64_t e = 0; e < size; ++e)
          error = std::max(error, std::abs(c[i * size + e] - exact[static_cast<std::size_t>(e)]));
      }
      return error;
    });
  }

  class HostBatch : public Candidate
  {
  public:
    HostBatch(const Problem &problem, ThreadTeam &team)
      : problem_(problem)
      , team_(team)
      , inputs_(problem.inputs(team))
      , c_(inputs_->b.size())
    {}

    Work work() const override { return smallmat::work(problem_.task, problem_.n, problem_.count); }
    Items items() const override { return {static_cast<double>(problem_.count), "matrices"}; }

    double error() override
    {
      std::fill(c_.begin(), c_.end(), std::numeric_limits<double>::quiet_NaN());
      milliseconds(1);
      return batch_error(problem_, inputs_->factors, inputs_->b, c_, team_);
    }

    double milliseconds(int runs) override
    {
      return team_milliseconds(team_, runs, [this](int thread) {
        const std::int64_t first = problem_.count * thread / team_.size();
        const std::int64_t last = problem_.count * (thread + 1) / team_.size();
        const std::int64_t size = static_cast<std::int64_t>(problem_.n) * problem_.n;
        smallmat::cpu(problem_.task, problem_.n, last - first,
            inputs_->factors.data() + first * smallmat::factor_size(problem_.task, problem_.n),
            inputs_->b.data() + first * size, c_.data() + first * size);
      });
    }

  private:
    Problem problem_;
    ThreadTeam &team_;
    std::shared_ptr<const Inputs> inputs_;
    Array<double> c_;
  };

  std::unique_ptr<Candidate> make_on_host(const Problem &problem, ThreadTeam &team)
  {
    require_host_bytes(
        smallmat::work(problem.task, problem.n, problem.count).bytes, "the matrices");
    return std::make_unique<HostBatch>(problem, team);
  }

  /// The vectors, the check and the timing of all kernels; multiply() queues one.
  class DeviceBatch : public Candidate
  {
  public:
    DeviceBatch(const Problem &problem, ThreadTeam &team)
      : problem_(problem)
      , team_(team)
      , inputs_(problem.inputs(team))
      , factors_(inputs_->factors.size())
      , b_(inputs_->b.size())
      , c_(inputs_->b.size())
    {
      factors_.copy_from_host(inputs_->factors.data());
      b_.copy_from_host(inputs_->b.data());
      device::synchronize(nullptr);
    }

    Work work() const override { return smallmat::work(problem_.task, problem_.n, problem_.count); }
    Items items() const override { return {static_cast<double>(problem_.count), "matrices"}; }

    double error() override
    {
      device::fill_bytes(
          c_.data(), 0xff, static_cast<std::size_t>(c_.size()) * sizeof(double), nullptr);
      device::synchronize(nullptr);
      milliseconds(1);
      Array<double> c(c_.size());
      c_.copy_to_host(c.data());
      return batch_error(problem_, inputs_->factors, inputs_->b, c, team_);
    }

    double milliseconds(int runs) override
    {
      timer_.start(stream_.get());
      for (int r = 0; r < runs; ++r)
        multiply(problem_, factors_.data(), b_.data(), c_.data(), stream_.get());
      return timer_.stop(stream_.get());
    }

  protected:
    Stream stream() const { return stream_.get(); }
    const Problem &problem() const { return problem_; }

  private:
    virtual void multiply(const Problem &problem, const double *factors, const double *b, double *c,
        Stream stream) = 0;

    Problem problem_;
    ThreadTeam &team_;
    std::shared_ptr<const Inputs> inputs_;
    DeviceArray<double> factors_, b_, c_;
    OwnedStream stream_;
    DeviceTimer timer_;
  };

  template <Unit unit>
  class OwnBatch : public DeviceBatch
  {
  public:
    using DeviceBatch::DeviceBatch;

    /// Tensor cores multiply whole matrices.
    double executed_flops() const override
    {
      return unit == Unit::fma ? work().flops
                               : smallmat::work(Task::product, problem().n, problem().count).flops;
    }

  private:
    void multiply(
        const Problem &p, const double *factors, const double *b, double *c, Stream stream) override
    {
      smallmat::cuda(p.task, unit, p.n, p.count, factors, b, c, stream);
    }
  };

  class CublasBatch : public DeviceBatch
  {
  public:
    CublasBatch(const Problem &problem, ThreadTeam &team)
      : DeviceBatch(problem, team)
      , blas_(stream())
    {}

  private:
    void multiply(
        const Problem &p, const double *factors, const double *b, double *c, Stream) override
    {
      const std::int64_t size = static_cast<std::int64_t>(p.n) * p.n;
      MatrixProduct product;
      product.m = product.n = product.k = product.lda = product.ldb = product.ldc = p.n;
      product.stride_a = product.stride_b = product.stride_c = size;
      product.a = factors;
      product.b = b;
      product.c = c;
      product.batch = p.count;
      blas_.multiply(product);
    }

    DeviceBlas blas_;
  };

  void require_memory(const Problem &problem)
  {
    const double bytes = smallmat::work(problem.task, problem.n, problem.count).bytes;
    require_host_bytes(bytes, "the matrices");
    require_device_bytes(static_cast<std::int64_t>(bytes), "the matrices");
  }

  template <Unit unit>
  std::unique_ptr<Candidate> make_own(const Problem &problem, ThreadTeam &team)
  {
    require_memory(problem);
    return std::make_unique<OwnBatch<unit>>(problem, team);
  }

  std::unique_ptr<Candidate> make_cublas(const Problem &problem, ThreadTeam &team)
  {
    if (problem.task != Task::product)
      throw NotAvailable("cuBLAS has only the product");
    require_memory(problem);
    return std::make_unique<CublasBatch>(problem, team);
  }

  constexpr std::array rows{
      Row<Problem>{"cpu", "double", Place::host, "FP64 FMA", "", tolerance, make_on_host},
      Row<Problem>{
          "cublas_batched", "double", Place::device, "FP64 mma", "", tolerance, make_cublas},
      Row<Problem>{"fma", "double", Place::device, "FP64 FMA", "", tolerance, make_own<Unit::fma>},
      Row<Problem>{"mma_map", "double", Place::device, "FP64 mma m16n8k4", "fma", tolerance,
          make_own<Unit::mma_map>},
      Row<Problem>{"mma_staged", "double", Place::device, "FP64 mma m16n8k4", "fma", tolerance,
          make_own<Unit::mma_staged>},
  };

  struct TaskName
  {
    Task task;
    const char *name;
  };
  constexpr std::array tasks{TaskName{Task::product, "products"},
      TaskName{Task::householder, "reflections"}, TaskName{Task::givens, "rotations"}};
} // namespace

void run_smallmat(Run &run)
{
  for (const TaskName &task : tasks)
    for (const int n : {16, 32})
      for (const double megabytes : {run.options.cached_megabytes, run.options.memory_megabytes})
      {
        const double bytes = smallmat::work(task.task, n, 1).bytes;
        const Problem problem{
            task.task, n, std::max<std::int64_t>(1, std::llround(1e6 * megabytes / bytes))};
        run_rows<Problem>(rows, "smallmat", problem,
            std::string(task.name) + ", " + std::to_string(problem.count) + " of " +
                std::to_string(n) + " x " + std::to_string(n),
            run);
      }
  run_batched_products(run);
  run_contractions(run);
}
} // namespace tensormg::diagnose
