#include "kernels/device/l2_halves.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/device/multiprocessor.cuh"

namespace tensormg
{
namespace
{
  constexpr int lines = 96;
  constexpr std::size_t line_stride =
      37 * 1024 / sizeof(unsigned);        ///< so that they are in both halves
  constexpr int shared_bytes = 200 * 1024; ///< one block per multiprocessor

  /// Cycles for dependent additions to each line, the least of a few trials; who runs the block.
  __global__ void time_lines(unsigned *memory, unsigned *cycles, unsigned *numbers)
  {
    if (threadIdx.x > 0)
      return;
    constexpr int trials = 5, additions = 6;
    numbers[blockIdx.x] = multiprocessor();
    for (int i = 0; i < lines; ++i)
    {
      const int line = (i + static_cast<int>(blockIdx.x) * 5) % lines; // not all at the same one
      unsigned *const place = memory + line * line_stride;
      unsigned best = ~0u;
      for (int trial = 0; trial < trials; ++trial)
      {
        unsigned sum = 0;
        const long long begin = clock64();
        for (int k = 0; k < additions; ++k)
          sum = atomicAdd(place + sum, 0u);
        best = min(best, static_cast<unsigned>(clock64() - begin) + sum);
      }
      cycles[blockIdx.x * lines + line] = best;
    }
  }

  /// Rows of blocks: subtracts from every number the means of its row and its column.
  void centre(std::vector<double> &table, int blocks)
  {
    for (int b = 0; b < blocks; ++b)
    {
      double sum = 0.;
      for (int l = 0; l < lines; ++l)
        sum += table[b * lines + l];
      for (int l = 0; l < lines; ++l)
        table[b * lines + l] -= sum / lines;
    }
    for (int l = 0; l < lines; ++l)
    {
      double sum = 0.;
      for (int b = 0; b < blocks; ++b)
        sum += table[b * lines + l];
      for (int b = 0; b < blocks; ++b)
        table[b * lines + l] -= sum / blocks;
    }
  }

  /// Lines that are near one half are far from the other: blocks of the same half as the first one have the same signs.
  std::vector<std::uint8_t> halves_of(
      const std::vector<unsigned> &cycles, const std::vector<unsigned> &numbers)
  {
    const int blocks = static_cast<int>(numbers.size());
    std::vector<double> table(cycles.begin(), cycles.end());
    centre(table, blocks);
    std::vector<std::uint8_t> halves(l2_halves_size, 0);
    int others = 0;
    for (int b = 0; b < blocks; ++b)
    {
      double both = 0., first = 0., own = 0.;
      for (int l = 0; l < lines; ++l)
      {
        both += table[l] * table[b * lines + l];
        first += table[l] * table[l];
        own += table[b * lines + l] * table[b * lines + l];
      }
      if (4. * both * both < first * own || numbers[b] >= l2_halves_size)
        return {}; // alike in neither way
      halves[numbers[b]] = both < 0.;
      others += both < 0.;
    }
    return 3 * others < blocks || 3 * others > 2 * blocks ? std::vector<std::uint8_t>{} : halves;
  }

  const std::uint8_t *find_halves(int device)
  {
    int blocks = 0;
    check_cuda(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
    allow_shared_bytes(reinterpret_cast<const void *>(&time_lines), shared_bytes);
    DeviceArray<unsigned> memory(lines * line_stride), device_cycles(blocks * lines),
        device_numbers(blocks);
    // Not by launch(), which may be loading kernels only.
    time_lines<<<static_cast<unsigned>(blocks), 32, shared_bytes>>>(
        memory.data(), device_cycles.data(), device_numbers.data());
    check_launch("timing the halves of L2");
    device::synchronize(nullptr);
    std::vector<unsigned> cycles(blocks * lines), numbers(blocks);
    device_cycles.copy_to_host(cycles.data());
    device_numbers.copy_to_host(numbers.data());
    const std::vector<std::uint8_t> halves = halves_of(cycles, numbers);
    if (halves.empty())
      return nullptr;
    std::uint8_t *result = nullptr; // as long as the program
    check_cuda(cudaMalloc(&result, halves.size()), "memory for the halves of L2");
    check_cuda(cudaMemcpy(result, halves.data(), halves.size(), cudaMemcpyHostToDevice),
        "copying the halves of L2");
    return result;
  }
} // namespace

const std::uint8_t *l2_halves(Stream stream)
{
  static std::mutex mutex;
  static std::map<int, const std::uint8_t *> known;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto entry = known.find(device); entry != known.end())
    return entry->second;
  cudaStreamCaptureStatus status{};
  check_cuda(cudaStreamIsCapturing(stream, &status), "asking whether a stream is captured");
  if (status != cudaStreamCaptureStatusNone)
    return nullptr;
  const setup_times::Scope scope("kernels");
  return known[device] = find_halves(device);
}
} // namespace tensormg
