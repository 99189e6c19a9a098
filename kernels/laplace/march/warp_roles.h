// Which warps of a block compute and which copy, and the registers of each.
#pragma once

namespace tensormg::laplace
{
/// `computing` warps, and one more group of four that copies. At launch all threads have the same number of registers;
/// those that compute then take what the copying group gives back (setmaxnreg, which works on groups of four warps).
template <int computing, int service_registers_ = 32>
struct WarpRoles
{
  static constexpr int warps = computing;
  static constexpr int consumer_groups = (warps + 3) / 4;
  static constexpr int threads = 128 * (consumer_groups + 1);

  static constexpr int of_multiprocessor = 65536, most_of_thread = 240;
  static constexpr int service_registers = service_registers_;
  static constexpr int launch_registers = of_multiprocessor / threads / 8 * 8;
  static constexpr int pool =
      (launch_registers + (launch_registers - service_registers) / consumer_groups) / 8 * 8;
  static constexpr int consumer_registers = pool < most_of_thread ? pool : most_of_thread;

  static_assert(threads <= 1024);
};
} // namespace tensormg::laplace
