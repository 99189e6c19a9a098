// Class `scale`: a[i] = q b[i], from the caches to memory.
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "apps/diagnose/run.h"
#include "kernels/core/array.h"
#include "kernels/core/random_numbers.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/scale/scale.h"
#include "kernels/diagnostics/stream/stream.h"

namespace tensormg::diagnose
{
namespace
{
  constexpr double q = -1.5;
  constexpr std::uint64_t seed = 17;

  struct Problem
  {
    std::int64_t bytes; ///< of both arrays together
  };

  /// Numbers per array.
  template <typename Number>
  std::int64_t size_of(const Problem &problem)
  {
    return problem.bytes / (2 * static_cast<std::int64_t>(sizeof(Number)));
  }

  template <typename Number>
  Work work_of(const Problem &problem)
  {
    return {static_cast<double>(size_of<Number>(problem)), static_cast<double>(problem.bytes)};
  }

  template <typename Number>
  Number from_double(double x)
  {
    if constexpr (std::is_floating_point_v<Number>)
      return static_cast<Number>(x);
    else
      return Number(static_cast<float>(x));
  }
  template <typename Number>
  double to_double(Number x)
  {
    if constexpr (std::is_floating_point_v<Number>)
      return x;
    else
      return static_cast<float>(x);
  }

  template <typename Number>
  Number input(std::int64_t i)
  {
    return from_double<Number>(random_value(seed, static_cast<std::uint64_t>(i)));
  }

  /// The largest difference from the rounded product, relative to it; infinite if an entry is not finite. A
  /// wrong bit is no zero.
  template <typename Number>
  double difference(std::int64_t first, std::int64_t count, const Number *a)
  {
    double error = 0.;
    for (std::int64_t i = 0; i < count; ++i)
    {
      const double exact = to_double(from_double<Number>(q * to_double(input<Number>(first + i))));
      const double computed = to_double(a[i]);
      if (!std::isfinite(computed))
        return std::numeric_limits<double>::infinity();
      if (computed != exact)
        error = std::max(error, std::abs(computed - exact) / std::abs(exact));
    }
    return error;
  }

  /// The same of a whole array, by all threads.
  template <typename Number>
  double difference(ThreadTeam &team, std::int64_t first, std::int64_t count, const Number *a)
  {
    return largest_of_parts(team, count, [&](std::int64_t begin, std::int64_t end) {
      return difference<Number>(first + begin, end - begin, a + begin);
    });
  }

  template <typename Number>
  void fill_input(ThreadTeam &team, std::int64_t first, std::int64_t count, Number *b)
  {
    for_parts(team, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        b[i] = input<Number>(first + i);
    });
  }

  using HostKernel = void(std::int64_t size, const double *b, double *a);

  void with_streaming_stores(std::int64_t size, const double *b, double *a)
  {
    scale::cpu(size, q, b, a);
  }
  void with_cached_stores(std::int64_t size, const double *b, double *a)
  {
    stream::cpu(stream::Operation::scale, stream::Stores::cached, size, 1, q, b, a);
  }

  template <HostKernel kernel>
  class HostScale : public Candidate
  {
  public:
    HostScale(const Problem &problem, ThreadTeam &team)
      : problem_(problem)
      , team_(team)
      , a_(size_of<double>(problem))
      , b_(a_.size())
    {
      fill_input(team, 0, b_.size(), b_.data());
    }

    Work work() const override { return work_of<double>(problem_); }

    double error() override
    {
      std::fill(a_.begin(), a_.end(), std::numeric_limits<double>::quiet_NaN());
      milliseconds(1);
      return difference(team_, 0, a_.size(), a_.data());
    }

    double milliseconds(int runs) override
    {
      return team_milliseconds(team_, runs, [this](int thread) {
        const auto begin_of = [&](int part) {
          return part_begin(a_.size(), part, team_.size(), stream::granularity);
        };
        const std::int64_t begin = begin_of(thread);
        kernel(begin_of(thread + 1) - begin, b_.data() + begin, a_.data() + begin);
      });
    }

  private:
    Problem problem_;
    ThreadTeam &team_;
    Array<double> a_, b_;
  };

  template <HostKernel kernel>
  std::unique_ptr<Candidate> make_on_host(const Problem &problem, ThreadTeam &team)
  {
    require_host_bytes(static_cast<double>(problem.bytes), "the arrays");
    return std::make_unique<HostScale<kernel>>(problem, team);
  }

  template <typename Number>
  using DeviceKernel = void(std::int64_t size, double q, const Number *b, Number *a, Stream stream);

  /// `flops` are those that the unit does per number.
  template <typename Number, DeviceKernel<Number> kernel, int flops>
  class DeviceScale : public Candidate
  {
  public:
    DeviceScale(const Problem &problem, ThreadTeam &team)
      : problem_(problem)
      , team_(team)
      , a_(size_of<Number>(problem))
      , b_(a_.size())
    {
      std::vector<Number> piece;
      for_pieces([&](std::int64_t first, std::int64_t count) {
        piece.resize(static_cast<std::size_t>(count));
        fill_input(team, first, count, piece.data());
        device::to_device(b_.data() + first, piece.data(), piece.size() * sizeof(Number), nullptr);
        device::synchronize(nullptr);
      });
    }

    Work work() const override { return work_of<Number>(problem_); }
    double executed_flops() const override { return static_cast<double>(flops) * work().flops; }

    double error() override
    {
      device::fill_bytes(
          a_.data(), 0xff, static_cast<std::size_t>(a_.size()) * sizeof(Number), nullptr);
      device::synchronize(nullptr);
      milliseconds(1);
      double error = 0.;
      std::vector<Number> piece;
      for_pieces([&](std::int64_t first, std::int64_t count) {
        piece.resize(static_cast<std::size_t>(count));
        device::to_host(piece.data(), a_.data() + first, piece.size() * sizeof(Number), nullptr);
        device::synchronize(nullptr);
        error = std::max(error, difference(team_, first, count, piece.data()));
      });
      return error;
    }

    double milliseconds(int runs) override
    {
      timer_.start(stream_.get());
      for (int r = 0; r < runs; ++r)
        kernel(a_.size(), q, b_.data(), a_.data(), stream_.get());
      return timer_.stop(stream_.get());
    }

  private:
    template <typename Function>
    void for_pieces(Function &&function) const
    {
      constexpr std::int64_t at_once = std::int64_t(1) << 22;
      for (std::int64_t first = 0; first < a_.size(); first += at_once)
        function(first, std::min(at_once, a_.size() - first));
    }

    Problem problem_;
    ThreadTeam &team_;
    DeviceArray<Number> a_, b_;
    OwnedStream stream_;
    DeviceTimer timer_;
  };

  template <typename Number, DeviceKernel<Number> kernel, int flops>
  std::unique_ptr<Candidate> make_on_device(const Problem &problem, ThreadTeam &team)
  {
    require_device_bytes(problem.bytes, "the arrays");
    return std::make_unique<DeviceScale<Number, kernel, flops>>(problem, team);
  }

  constexpr int mma_flops = scale::mma_flops;
  constexpr double tf32_tolerance = 0x1p-11; ///< of rounding a factor

  constexpr std::array rows{
      Row<Problem>{"streaming_stores", "double", Place::host, "FP64 FMA", "", 0.,
          make_on_host<with_streaming_stores>},
      Row<Problem>{"cached_stores", "double", Place::host, "FP64 FMA", "", 0.,
          make_on_host<with_cached_stores>},
      Row<Problem>{"cuda", "double", Place::device, "FP64 FMA", "", 0.,
          make_on_device<double, scale::cuda<double>, 1>},
      Row<Problem>{"mma_m8n8k4", "double", Place::device, "FP64 mma m8n8k4", "cuda", 0.,
          make_on_device<double, scale::mma_m8n8k4, mma_flops>},
      Row<Problem>{"mma_m16n8k4", "double", Place::device, "FP64 mma m16n8k4", "cuda", 0.,
          make_on_device<double, scale::mma_m16n8k4, mma_flops>},
      Row<Problem>{"wmma", "double", Place::device, "FP64 mma m8n8k4", "cuda", 0.,
          make_on_device<double, scale::wmma, mma_flops>},
      Row<Problem>{"cuda", "single", Place::device, "FP32 FMA", "", 0.,
          make_on_device<float, scale::cuda<float>, 1>},
      Row<Problem>{"mma_tf32", "single", Place::device, "TF32 mma", "cuda", tf32_tolerance,
          make_on_device<float, scale::mma_tf32, mma_flops>},
      Row<Problem>{"wmma_tf32", "single", Place::device, "TF32 mma m16n8k4", "cuda", tf32_tolerance,
          make_on_device<float, scale::wmma_tf32, scale::wide_wmma_flops>},
      Row<Problem>{"cuda", "half", Place::device, "FP32 FMA", "", 0.,
          make_on_device<Half, scale::cuda<Half>, 1>},
      Row<Problem>{"mma_fp16", "half", Place::device, "FP16 mma m16n8k8", "cuda", 0.,
          make_on_device<Half, scale::mma_fp16, mma_flops>},
      Row<Problem>{"wmma_fp16", "half", Place::device, "FP16 mma", "cuda", 0.,
          make_on_device<Half, scale::wmma_fp16, scale::wide_wmma_flops>},
  };

  /// Working sets in bytes: the cached one and that of memory, between them and below in steps of four.
  std::vector<double> working_sets(const DiagnoseOptions &options)
  {
    const double cached = 1e6 * options.cached_megabytes, memory = 1e6 * options.memory_megabytes;
    if (options.quick)
      return {cached, memory};
    std::vector<double> sizes{cached / 16., cached / 4., cached};
    for (double size = 4. * cached; size < 0.75 * memory; size *= 4.)
      sizes.push_back(size);
    sizes.push_back(memory);
    return sizes;
  }
} // namespace

void run_scale(Run &run)
{
  for (const double bytes : working_sets(run.options))
  {
    const auto lines = static_cast<std::int64_t>(
        bytes / scale::bytes_per_element / static_cast<double>(stream::granularity));
    // Whole tiles of 64 numbers in every format.
    const Problem problem{16 * std::max<std::int64_t>(1, lines) * stream::granularity};
    run_rows<Problem>(rows, "scale", problem, format_number(1e-6 * bytes) + " MB", run);
  }
}
} // namespace tensormg::diagnose
