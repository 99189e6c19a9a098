#include "apps/diagnose/caches.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "apps/common/console.h"
#include "kernels/device/device.h"

namespace tensormg::diagnose
{
namespace
{
  using stream::Cache;
  using stream::Operation;

  constexpr double factor = 1.5;
  constexpr double bytes_per_launch = 8e9; ///< about a millisecond
  constexpr double first_cache_per_slice =
      131e3; ///< what is left of it beside shared memory, on every GPU since 8.0
  constexpr double second_cache_per_slice = 256 * 1024.;

  class Caches
  {
  public:
    explicit Caches(const MachineOptions &options)
      : options_(options)
      , slices_(device_properties().multiprocessors)
      , numbers_(static_cast<std::int64_t>(second_cache_per_slice) / 8 * slices_)
      , b_(numbers_)
      , a_(numbers_)
    {
      std::vector<double> host(static_cast<std::size_t>(numbers_));
      for (std::int64_t i = 0; i < numbers_; ++i)
        host[static_cast<std::size_t>(i)] = number(i);
      b_.copy_from_host(host.data());
      device::synchronize(nullptr);
    }

    void measure(Cache cache, Operation operation, std::vector<CacheSample> &samples)
    {
      const double arrays = stream::n_arrays(operation);
      const double most =
          cache == Cache::first ? first_cache_per_slice : second_cache_per_slice / arrays;
      for (std::int64_t size = stream::slice_granularity; 8. * static_cast<double>(size) <= most;
           size *= 2)
      {
        const double bytes = 8. * arrays * static_cast<double>(size * slices_);
        if (cache == Cache::second &&
            bytes > 0.5 * static_cast<double>(device_properties().l2_bytes))
          break;
        const auto passes = static_cast<int>(std::max(2., bytes_per_launch / bytes));
        check(cache, operation, size);
        const Milliseconds time = measure_milliseconds(cache, operation, size, passes);
        samples.push_back({operation, cache, bytes, bytes * passes / (1e-3 * time.median)});
      }
    }

  private:
    static double number(std::int64_t i) { return static_cast<double>(i % 1021) - 510.; }

    Milliseconds measure_milliseconds(
        Cache cache, Operation operation, std::int64_t size, int passes)
    {
      return tensormg::measure(
          [&](int runs) {
            timer_.start(stream_.get());
            for (int r = 0; r < runs; ++r)
              stream::cuda_slices(operation, cache, slices_, size, passes, factor, b_.data(),
                  a_.data(), stream_.get());
            return timer_.stop(stream_.get());
          },
          options_.repetitions, options_.max_seconds);
    }

    /// Two passes: sums of integers are exact, and so are the other results.
    void check(Cache cache, Operation operation, std::int64_t size)
    {
      const bool reads = operation == Operation::read;
      const std::int64_t results = reads ? slices_ : size * slices_;
      device::fill_bytes(
          a_.data(), 0xff, static_cast<std::size_t>(results) * sizeof(double), nullptr);
      stream::cuda_slices(
          operation, cache, slices_, size, 2, factor, b_.data(), a_.data(), nullptr);
      std::vector<double> found(static_cast<std::size_t>(numbers_));
      a_.copy_to_host(found.data());
      for (std::int64_t i = 0; i < results; ++i)
      {
        double expected = operation == Operation::write ? factor
            : operation == Operation::scale             ? factor * number(i)
                                                        : number(i);
        if (reads)
        {
          expected = 0.;
          for (std::int64_t j = i * size; j < (i + 1) * size; ++j)
            expected += 2. * number(j);
        }
        if (found[static_cast<std::size_t>(i)] != expected)
          throw std::runtime_error(std::string("streaming through a cache, ") +
              stream::to_string(operation) + ": number " + std::to_string(i) + " is " +
              std::to_string(found[static_cast<std::size_t>(i)]) + " instead of " +
              std::to_string(expected));
      }
    }

    const MachineOptions &options_;
    int slices_;
    std::int64_t numbers_;
    DeviceArray<double> b_, a_;
    OwnedStream stream_;
    DeviceTimer timer_;
  };
} // namespace

std::vector<CacheSample> measure_caches(const MachineOptions &options)
{
  MachineOptions short_runs = options;
  short_runs.max_seconds = std::min(options.max_seconds, 0.05);
  Caches caches(short_runs);
  std::vector<CacheSample> samples;
  caches.measure(Cache::first, Operation::read, samples);
  for (const Operation operation : stream::all_operations)
    caches.measure(Cache::second, operation, samples);
  return samples;
}

std::string caches_text(const std::vector<CacheSample> &samples)
{
  if (samples.empty())
    return "";
  std::set<double> sizes;
  for (const CacheSample &sample : samples)
    sizes.insert(sample.bytes);
  TextTable table("    ", 1);
  std::vector<std::string> titles{"GB/s"};
  for (const double size : sizes)
    titles.push_back(format_number(1e-6 * size) + " MB");
  table.add_row(titles);
  for (const Cache cache : {Cache::first, Cache::second})
    for (const Operation operation : stream::all_operations)
    {
      std::vector<std::string> row{
          stream::to_string(operation) + std::string(", ") + stream::to_string(cache)};
      bool any = false;
      for (const double size : sizes)
      {
        const auto sample = std::find_if(samples.begin(), samples.end(), [&](const CacheSample &s) {
          return s.operation == operation && s.cache == cache && s.bytes == size;
        });
        any = any || sample != samples.end();
        row.push_back(sample == samples.end() ? "" : format_number(1e-9 * sample->rate));
      }
      if (any)
        table.add_row(row);
    }
  return "  caches alone, many passes in one launch\n" + table.text();
}
} // namespace tensormg::diagnose
