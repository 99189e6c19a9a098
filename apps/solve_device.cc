// `tensormg solve` with vectors in device memory.
#include "apps/solve_methods.h"
#include "operators/device_box_solver.h"
#include "operators/device_laplace_operator.h"
#include "operators/device_multigrid.h"
#include "operators/device_vector_space.h"

namespace tensormg
{
namespace
{
  struct DevicePlace
  {
    using VectorType = DeviceVector<double>;
    static constexpr bool first_calls_are_slow = true;

    const System &system;
    Stream stream;

    const LevelGrid &level() const { return system.grid.finest(); }
    DeviceVectorSpace make_space() const { return {level(), stream}; }
    DeviceLaplaceOperator<double> make_operator() const
    {
      return {level(), system.basis, system.backend, stream};
    }
    DeviceBoxSolver<double> make_direct() const
    {
      return {level(), system.basis, system.parameters.problem, stream};
    }
    auto make_preconditioner() const
    {
      return make_device_multigrid(
          system.grid, system.basis, system.backend, system.options().multigrid, stream);
    }
    void subtract_mean(const DeviceVectorSpace &space, VectorType &x) const
    {
      space.subtract_mean(system.basis, x);
    }
    void wait() const { device::synchronize(stream); }
  };
} // namespace

void solve_on_device(
    const System &system, const Vector<double> &b, Vector<double> &x, RunRecord &record)
{
  const OwnedStream stream;
  DeviceVector<double> device_b(b.block(), stream.get()), device_x(x.block(), stream.get());
  copy_to_device(b, device_b, stream.get());
  solve_with(system, DevicePlace{system, stream.get()}, device_b, device_x, record);
  copy_to_host(device_x, x, stream.get());
}
} // namespace tensormg
