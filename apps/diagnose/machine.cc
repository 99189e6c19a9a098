#include "apps/diagnose/machine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "apps/common/console.h"
#include "apps/diagnose/caches.h"
#include "apps/diagnose/table.h"
#include "kernels/core/array.h"
#include "kernels/device/device.h"
#include "kernels/device/meters/clock.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::diagnose
{
namespace
{
  using peak::Unit;
  using stream::Operation;
  using stream::Stores;

  constexpr std::array rows{
      CeilingRow{"FP64 FMA", Place::host, Unit::fp64, ""},
      CeilingRow{"FP32 FMA", Place::host, Unit::fp32, ""},
      CeilingRow{"FP64 FMA, one thread", Place::host, Unit::fp64, "", true},
      CeilingRow{"FP32 FMA, one thread", Place::host, Unit::fp32, "", true},
      CeilingRow{"FP64 FMA", Place::device, Unit::fp64, ""},
      CeilingRow{"FP32 FMA", Place::device, Unit::fp32, ""},
      CeilingRow{"FP64 mma", Place::device, Unit::fp64_tensor, "FP64 FMA"},
      CeilingRow{"FP64 mma m8n8k4", Place::device, Unit::fp64_tensor_m8n8k4, "FP64 FMA"},
      CeilingRow{"FP64 mma m16n8k4", Place::device, Unit::fp64_tensor_m16n8k4, "FP64 FMA"},
      CeilingRow{"FP64 mma m16n8k8", Place::device, Unit::fp64_tensor_m16n8k8, "FP64 FMA"},
      CeilingRow{"TF32 mma m16n8k4", Place::device, Unit::tf32_tensor_m16n8k4, "FP32 FMA"},
      CeilingRow{"TF32 mma", Place::device, Unit::tf32_tensor, "FP32 FMA"},
      CeilingRow{"FP16 mma m16n8k8", Place::device, Unit::fp16_tensor_m16n8k8, "FP32 FMA"},
      CeilingRow{"FP16 mma", Place::device, Unit::fp16_tensor, "FP32 FMA"},
      CeilingRow{"BF16 mma m16n8k8", Place::device, Unit::bf16_tensor_m16n8k8, "FP32 FMA"},
      CeilingRow{"BF16 mma", Place::device, Unit::bf16_tensor, "FP32 FMA"},
      CeilingRow{"TF32 wgmma", Place::device, Unit::tf32_wgmma, "FP32 FMA", false, "TF32 mma"},
      CeilingRow{"BF16 wgmma", Place::device, Unit::bf16_wgmma, "FP32 FMA", false, "BF16 mma"},
      CeilingRow{"FP16 wgmma", Place::device, Unit::fp16_wgmma, "FP32 FMA", false, "FP16 mma"},
      CeilingRow{"shared memory", Place::device, Unit::shared_memory, ""},
      CeilingRow{"issue", Place::device, Unit::issue, ""},
  };

  constexpr std::int64_t host_rounds = 200'000; // some milliseconds
  constexpr int device_rounds = 2000;
  constexpr double smallest_on_host = 16e3;    ///< bytes per thread: in the first cache
  constexpr double smallest_on_device = 1e6;   ///< below, the launch takes most of the time
  constexpr double smallest_past_caches = 4e6; ///< per thread; below, streaming stores only lose
  constexpr double bytes_per_call = 16e6;      ///< on the host: so many passes over small arrays

  /// Of as many times the rate of one thread: the clock is lower when all cores work.
  constexpr double expected_of_threads = 0.6;

  /// Sizes in bytes, each twice the one before, up to `largest` exactly.
  std::vector<double> sweep_sizes(double smallest, double largest)
  {
    std::vector<double> sizes{largest};
    while (sizes.back() / 2. >= smallest)
      sizes.push_back(sizes.back() / 2.);
    std::reverse(sizes.begin(), sizes.end());
    return sizes;
  }

  std::int64_t elements(double bytes, Operation operation, std::int64_t granularity)
  {
    const auto n = static_cast<std::int64_t>(bytes / 8. / stream::n_arrays(operation));
    return std::max(granularity, n / granularity * granularity);
  }

  /// The arrays of the sweep on the host.
  struct HostArrays
  {
    explicit HostArrays(double bytes)
      : a(elements(bytes, Operation::read, stream::granularity))
      , b(a.size())
    {
      std::fill(b.begin(), b.end(), 1.);
    }
    Array<double> a, b;
  };

  StreamSample sample_on_host(ThreadTeam &team, HostArrays &arrays, Operation operation,
      Stores stores, double bytes, const MachineOptions &options)
  {
    const std::int64_t size = elements(bytes, operation, stream::granularity * team.size());
    const double moved = stream::bytes_per_element(operation) * static_cast<double>(size);
    const auto passes = static_cast<std::int64_t>(std::max(1., bytes_per_call / moved));
    const Milliseconds time = measure(
        [&](int runs) {
          return team_milliseconds(team, runs, [&](int thread) {
            const std::int64_t begin = part_begin(size, thread, team.size(), stream::granularity);
            const std::int64_t end = part_begin(size, thread + 1, team.size(), stream::granularity);
            stream::cpu(operation, stores, end - begin, passes, 1.5, arrays.b.data() + begin,
                arrays.a.data() + begin);
          });
        },
        options.repetitions, options.max_seconds);
    return {operation, stores == Stores::streaming, moved,
        moved * static_cast<double>(passes) / (1e-3 * time.median)};
  }

  std::vector<StreamSample> sweep_host(ThreadTeam &team, const MachineOptions &options)
  {
    HostArrays arrays(options.memory_bytes);
    std::vector<StreamSample> samples;
    for (const Operation operation : stream::all_operations)
      for (const Stores stores : {Stores::cached, Stores::streaming})
      {
        if (operation != Operation::scale && !options.all_operations)
          continue;
        if (operation == Operation::read && stores == Stores::streaming)
          continue;
        const double smallest =
            team.size() * (stores == Stores::cached ? smallest_on_host : smallest_past_caches);
        for (const double bytes : sweep_sizes(smallest, options.memory_bytes))
        {
          options.begin(std::string("bandwidth of the host: ") + stream::to_string(operation) +
              (stores == Stores::streaming ? " past the caches, " : ", ") +
              format_number(1e-6 * bytes) + " MB");
          samples.push_back(sample_on_host(team, arrays, operation, stores, bytes, options));
        }
      }
    return samples;
  }

  StreamSample sample_on_device(Operation operation, const double *b, double *a, Stream stream,
      DeviceTimer &timer, double bytes, const MachineOptions &options)
  {
    const std::int64_t size = elements(bytes, operation, stream::granularity);
    const Milliseconds time = measure(
        [&](int runs) {
          timer.start(stream);
          for (int r = 0; r < runs; ++r)
            stream::cuda(operation, size, 1.5, b, a, stream);
          return timer.stop(stream);
        },
        options.repetitions, options.max_seconds);
    const double moved = stream::bytes_per_element(operation) * static_cast<double>(size);
    return {operation, true, moved, moved / (1e-3 * time.median)};
  }

  std::vector<StreamSample> sweep_device(const MachineOptions &options)
  {
    const double largest =
        std::min(options.memory_bytes, 0.4 * static_cast<double>(free_device_bytes()));
    DeviceArray<double> a(elements(largest, Operation::read, stream::granularity)), b(a.size());
    device::synchronize(nullptr);
    const OwnedStream stream;
    DeviceTimer timer;
    std::vector<StreamSample> samples;
    for (const Operation operation : stream::all_operations)
      if (operation == Operation::scale || options.all_operations)
        for (const double bytes : sweep_sizes(smallest_on_device, largest))
        {
          options.begin(std::string("bandwidth of the device: ") + stream::to_string(operation) +
              ", " + format_number(1e-6 * bytes) + " MB");
          samples.push_back(
              sample_on_device(operation, b.data(), a.data(), stream.get(), timer, bytes, options));
        }
    return samples;
  }
} // namespace

std::span<const CeilingRow> ceiling_rows() { return rows; }

const Ceiling &Machine::ceiling(const std::string &name) const
{
  for (const Ceiling &entry : ceilings)
    if (entry.row->name == name)
      return entry;
  for (const CeilingRow &row : rows)
    if (row.place == place && row.name == name && *row.otherwise != '\0')
      return ceiling(row.otherwise);
  throw std::logic_error("no ceiling '" + name + "' of the " + place_word(place));
}

std::optional<double> Machine::alpha(const std::string &ceiling) const
{
  for (const Ceiling &entry : ceilings)
    if (entry.row->name == ceiling && *entry.row->plain != '\0')
      return entry.rate / rate(entry.row->plain);
  return std::nullopt;
}

double Machine::scale_bandwidth(double bytes) const
{
  // The better of both kinds of stores, each as a polygon over the logarithm of the size.
  double best = 0.;
  for (const bool past_caches : {false, true})
  {
    const StreamSample *below = nullptr, *above = nullptr;
    for (const StreamSample &sample : stream)
      if (sample.operation == Operation::scale && sample.past_caches == past_caches)
      {
        if (sample.bytes <= bytes)
          below = &sample;
        else if (above == nullptr)
          above = &sample;
      }
    double rate = 0.;
    if (below != nullptr && above != nullptr)
    {
      const double x = std::log(bytes / below->bytes) / std::log(above->bytes / below->bytes);
      rate = (1. - x) * below->rate + x * above->rate;
    }
    else if (below != nullptr)
      rate = below->rate;
    else if (above != nullptr && best == 0.)
      rate = above->rate;
    best = std::max(best, rate);
  }
  return best;
}

double Machine::memory_bandwidth() const
{
  double largest = 0.;
  for (const StreamSample &sample : stream)
    if (sample.operation == Operation::scale)
      largest = std::max(largest, sample.bytes);
  return scale_bandwidth(largest);
}

roofline::Rates Machine::rates(const std::string &ceiling, double working_set) const
{
  return {rate(ceiling), scale_bandwidth(working_set)};
}

std::string remark_on_threads(const Machine &machine, int threads, int cores)
{
  const double all = machine.rate("FP64 FMA"), one = machine.rate("FP64 FMA, one thread");
  if (threads < 2 || all >= expected_of_threads * std::min(threads, cores) * one)
    return "";
  const std::string count = std::to_string(threads) + " threads";
  return (all < one ? count + " are slower than one"
                    : count + " are only " + format_number(all / one) + " times as fast as one") +
      " in FP64 (" + format_number(1e-9 * all) + " and " + format_number(1e-9 * one) +
      " GFLOP/s): the machine is busy" +
      (threads > cores ? ", or " + std::to_string(cores) + " cores are too few" : "") +
      ", and rates and percentages of the host are uncertain";
}

Machine measure_host(ThreadTeam &team, const MachineOptions &options)
{
  Machine machine;
  machine.name = cpu_model();
  machine.detail = std::to_string(team.size()) + (team.size() == 1 ? " thread, " : " threads, ") +
      laplace::cpu_instruction_set();
  require_host_bytes(2. * options.memory_bytes, "the arrays of the bandwidth");
  machine.stream = sweep_host(team, options);
  struct alignas(64) Sink
  {
    double value = 0.;
  };
  std::vector<Sink> sinks(static_cast<std::size_t>(team.size()));
  for (const CeilingRow &row : rows)
  {
    if (row.place != Place::host)
      continue;
    options.begin(std::string("rate of the host: ") + row.name);
    double one = 0.;
    ThreadTeam caller(1);
    ThreadTeam &used = row.one_thread ? caller : team;
    const Milliseconds time = measure(
        [&](int runs) {
          return team_milliseconds(used, runs, [&](int thread) {
            double &sink = sinks[static_cast<std::size_t>(thread)].value;
            const double flops = peak::cpu(row.unit, host_rounds, sink = 0.);
            if (thread == 0)
              one = flops;
          });
        },
        options.repetitions, options.max_seconds);
    machine.ceilings.push_back({&row, one * used.size() / (1e-3 * time.fastest), time, {}});
  }
  if (std::string remark = remark_on_threads(machine, team.size(), usable_cores()); !remark.empty())
    machine.remarks.push_back(std::move(remark));
  return machine;
}

Machine measure_device(const MachineOptions &options)
{
  if (device_count() == 0)
    throw DeviceError(why_no_device());
  use_device(0);
  const DeviceProperties properties = device_properties();
  Machine machine;
  machine.place = Place::device;
  machine.name = properties.name;
  machine.driver = properties.driver;
  machine.detail = std::to_string(properties.multiprocessors) +
      " multiprocessors, compute capability " + std::to_string(properties.major) + "." +
      std::to_string(properties.minor) + ", driver " + properties.driver;
  machine.theoretical_bandwidth = 1e9 * properties.memory_gb_per_s;
  machine.stream = sweep_device(options);
  if (options.all_operations)
    machine.caches = measure_caches(options);
  DeviceArray<double> sink(peak::cuda_sink_size());
  device::synchronize(nullptr);
  const OwnedStream stream;
  DeviceTimer timer;
  ClockMeter meter;
  for (const CeilingRow &row : rows)
  {
    if (row.place != Place::device || !peak::device_has(row.unit))
      continue;
    options.begin(std::string("rate of the device: ") + row.name);
    double amount = 0., least = std::numeric_limits<double>::infinity();
    // Of the fastest sample: the clock recovers for a while from the unit before, which may have been one that lowers it.
    std::optional<double> clock;
    const Milliseconds time = measure(
        [&](int runs) {
          meter.start();
          timer.start(stream.get());
          for (int r = 0; r < runs; ++r)
            amount = peak::cuda(row.unit, device_rounds, sink.data(), stream.get());
          const double milliseconds = timer.stop(stream.get());
          const std::optional<double> of_sample = meter.gigahertz();
          if (milliseconds < least * runs)
          {
            least = milliseconds / runs;
            clock = of_sample;
          }
          return milliseconds;
        },
        options.repetitions, options.max_seconds);
    machine.ceilings.push_back({&row, amount / (1e-3 * time.fastest), time, clock});
  }
  return machine;
}

double measure_memory_again(const Machine &machine, ThreadTeam &team, const MachineOptions &options)
{
  if (machine.place == Place::device)
  {
    MachineOptions largest = options;
    largest.all_operations = false;
    return sweep_device(largest).back().rate;
  }
  HostArrays arrays(options.memory_bytes);
  double best = 0.;
  for (const Stores stores : {Stores::cached, Stores::streaming})
    best = std::max(best,
        sample_on_host(team, arrays, Operation::scale, stores, options.memory_bytes, options).rate);
  return best;
}
} // namespace tensormg::diagnose
