// Class `scale`: a[i] = q b[i], from the caches to memory.
#include <array>
#include <cmath>
#include <limits>

#include "apps/diagnose_run.h"
#include "kernels/core/device.h"
#include "kernels/scale/scale.h"
#include "kernels/stream/stream.h"
#include "operators/array.h"
#include "operators/random_numbers.h"

namespace tensormg::diagnose
{
namespace
{
  constexpr double q = -1.5;
  constexpr std::uint64_t seed = 17;

  struct Problem
  {
    std::int64_t size; ///< numbers per array
  };

  Work work_of(const Problem &problem)
  {
    const auto size = static_cast<double>(problem.size);
    return {size, scale::bytes_per_element * size};
  }

  /// Zero if every entry is the rounded product; infinite if one is not finite.
  double difference(std::int64_t first, std::int64_t count, const double *a)
  {
    double error = 0.;
    for (std::int64_t i = 0; i < count; ++i)
    {
      const double exact = q * random_value(seed, static_cast<std::uint64_t>(first + i));
      if (!std::isfinite(a[i]))
        return std::numeric_limits<double>::infinity();
      if (a[i] != exact)
        error = std::max(error, std::abs(a[i] - exact) + std::numeric_limits<double>::min());
    }
    return error;
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
      , a_(problem.size)
      , b_(problem.size)
    {
      for (std::int64_t i = 0; i < problem.size; ++i)
        b_[i] = random_value(seed, static_cast<std::uint64_t>(i));
    }

    Work work() const override { return work_of(problem_); }

    double error() override
    {
      std::fill(a_.begin(), a_.end(), std::numeric_limits<double>::quiet_NaN());
      milliseconds(1);
      return difference(0, problem_.size, a_.data());
    }

    double milliseconds(int runs) override
    {
      return team_milliseconds(team_, runs, [this](int thread) {
        const auto begin_of = [&](int part) {
          return part_begin(problem_.size, part, team_.size(), stream::granularity);
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
    require_host_bytes(work_of(problem).bytes, "the arrays");
    return std::make_unique<HostScale<kernel>>(problem, team);
  }

  using DeviceKernel = void(std::int64_t size, double q, const double *b, double *a, Stream stream);

  template <DeviceKernel kernel>
  class DeviceScale : public Candidate
  {
  public:
    explicit DeviceScale(const Problem &problem)
      : problem_(problem)
      , a_(problem.size)
      , b_(problem.size)
    {
      std::vector<double> piece;
      for_pieces([&](std::int64_t first, std::int64_t count) {
        piece.resize(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i)
          piece[static_cast<std::size_t>(i)] =
              random_value(seed, static_cast<std::uint64_t>(first + i));
        device::to_device(b_.data() + first, piece.data(), piece.size() * sizeof(double), nullptr);
        device::synchronize(nullptr);
      });
    }

    Work work() const override { return work_of(problem_); }

    double error() override
    {
      device::fill_bytes(
          a_.data(), 0xff, static_cast<std::size_t>(a_.size()) * sizeof(double), nullptr);
      device::synchronize(nullptr);
      milliseconds(1);
      double error = 0.;
      std::vector<double> piece;
      for_pieces([&](std::int64_t first, std::int64_t count) {
        piece.resize(static_cast<std::size_t>(count));
        device::to_host(piece.data(), a_.data() + first, piece.size() * sizeof(double), nullptr);
        device::synchronize(nullptr);
        error = std::max(error, difference(first, count, piece.data()));
      });
      return error;
    }

    double milliseconds(int runs) override
    {
      timer_.start(stream_.get());
      for (int r = 0; r < runs; ++r)
        kernel(problem_.size, q, b_.data(), a_.data(), stream_.get());
      return timer_.stop(stream_.get());
    }

  private:
    template <typename Function>
    void for_pieces(Function &&function) const
    {
      constexpr std::int64_t at_once = std::int64_t(1) << 22;
      for (std::int64_t first = 0; first < problem_.size; first += at_once)
        function(first, std::min(at_once, problem_.size - first));
    }

    Problem problem_;
    DeviceArray<double> a_, b_;
    OwnedStream stream_;
    DeviceTimer timer_;
  };

  template <DeviceKernel kernel>
  std::unique_ptr<Candidate> make_on_device(const Problem &problem, ThreadTeam &)
  {
    require_device_bytes(static_cast<std::int64_t>(work_of(problem).bytes), "the arrays");
    return std::make_unique<DeviceScale<kernel>>(problem);
  }

  constexpr std::array rows{
      Row<Problem>{"streaming_stores", "double", Place::host, "FP64 FMA", "", 0.,
          make_on_host<with_streaming_stores>},
      Row<Problem>{"cached_stores", "double", Place::host, "FP64 FMA", "", 0.,
          make_on_host<with_cached_stores>},
      Row<Problem>{
          "cuda", "double", Place::device, "FP64 FMA", "", 0., make_on_device<scale::cuda>},
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
    const Problem problem{std::max<std::int64_t>(1, lines) * stream::granularity};
    run_rows<Problem>(rows, "scale", problem, format_number(1e-6 * bytes) + " MB", run);
  }
}
} // namespace tensormg::diagnose
