// How cycles are run, timed and given memory in host and in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/device/device_reservation.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/context.h"
#include "solvers/multigrid.h"

namespace tensormg
{
/// Members of both: loads_kernels, whether kernels must be loaded before cycles take no longer than they must; Runner with
/// run(f), which makes the work of f() happen and says whether f was called, and record(f), which says the same and after
/// which run(f) takes no longer than it must; clock() and observer(coarsest level) for Multigrid; coarsest_level(family), the
/// level that is solved directly; reserve<Number>(family, coarsest level, vectors on each level but the finest, vectors on
/// that): an object while which lives vectors are faster made.
template <typename Context>
struct CyclesIn;

template <>
struct CyclesIn<HostContext>
{
  static constexpr bool loads_kernels = false;

  struct Runner
  {
    template <typename F>
    bool run(const F &f)
    {
      f();
      return true;
    }
    template <typename F>
    static bool record(const F &)
    {
      return false;
    }
  };

  HostContext context;
  CycleOptions options;

  template <typename Family>
  static Runner make_runner(const Family &)
  {
    return {};
  }
  static Clock clock() { return steady_seconds; }
  static LevelObserver observer(std::size_t /*coarsest*/) { return {}; }
  template <typename Family>
  static std::size_t coarsest_level(const Family &family)
  {
    return family.coarsest_level();
  }
  template <typename Number, typename Family>
  static int reserve(const Family &, std::size_t, std::int64_t, std::int64_t)
  {
    return 0; // allocations are fast
  }
};

template <>
struct CyclesIn<DeviceContext>
{
  static constexpr bool loads_kernels = true;

  /// Runs the first call as it is, since first launches may do what cannot be recorded; records the
  /// second and replays it from then on. Calls that only load kernels are not recorded.
  class Runner
  {
  public:
    Runner(Stream stream, bool records)
      : stream_(stream)
      , records_(records)
    {}

    /// Returns whether f was called.
    template <typename F>
    bool run(const F &f)
    {
      if (graph_->is_recorded())
      {
        if (!stream_.only_loads_kernels())
          graph_->replay(stream_);
        return false;
      }
      if (has_run_ && records_ && !stream_.only_loads_kernels())
      {
        graph_->record(stream_, f);
        graph_->replay(stream_);
      }
      else
        f();
      has_run_ = true;
      return true;
    }

    /// Leaves nothing to do but to replay; returns whether f was called.
    template <typename F>
    bool record(const F &f)
    {
      if (!records_ || graph_->is_recorded())
        return false;
      has_run_ = true;
      graph_->record(stream_, f);
      return true;
    }

  private:
    Stream stream_;
    bool records_;
    bool has_run_ = false;
    std::unique_ptr<DeviceGraph> graph_ = std::make_unique<DeviceGraph>();
  };

  DeviceContext context;
  CycleOptions options;

  /// Messages through the host cannot be recorded, those of NCCL can.
  template <typename Family>
  Runner make_runner(const Family &family) const
  {
    const bool in_stream = !family.is_distributed() || context.links.nccl != nullptr;
    return {context.stream, !options.level_times && in_stream && family.can_be_recorded()};
  }
  Clock clock() const
  {
    if (!options.level_times)
      return {};
    return [stream = context.stream] {
      device::synchronize(stream);
      return steady_seconds();
    };
  }
  /// Kernels belong to levels of the mesh.
  LevelObserver observer(std::size_t coarsest) const
  {
    if (!options.level_times)
      return {};
    return [coarsest, stream = context.stream](int level) {
      if (stream.profile() != nullptr)
        stream.profile()->enter(level == outside ? outside : static_cast<int>(coarsest) + level);
    };
  }
  template <typename Family>
  std::size_t coarsest_level(const Family &family) const
  {
    std::size_t coarsest = family.coarsest_level();
    while (coarsest + 1 < family.size() &&
        family.has_short_lines(coarsest + 1, options.longest_direct_line))
      ++coarsest;
    return coarsest;
  }
  template <typename Number, typename Family>
  DeviceReservation reserve(
      const Family &family, std::size_t coarsest, std::int64_t coarser, std::int64_t finest) const
  {
    std::int64_t bytes = 0;
    for (std::size_t l = coarsest; l < family.size(); ++l)
      bytes += (l + 1 < family.size() ? coarser : finest) *
          DeviceVector<Number>::reserved_bytes(family.block(l));
    return DeviceReservation(options.one_allocation ? bytes : 0);
  }
};
} // namespace tensormg
