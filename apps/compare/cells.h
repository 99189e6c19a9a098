// The operator with numbers of each cell as an operation of `compare`: those of all cells are equal, so that the result is that of the
// operator with one coefficient, with which it is checked; kernels cannot know.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "apps/compare/operation.h"
#include "kernels/device/device.h"
#include "kernels/laplace/cellwise/cellwise.h"

namespace tensormg
{
/// Numbers for all cells of a block and one layer around it, in host or in device memory.
template <typename C>
class EqualCells
{
public:
  EqualCells(const Block &block, const std::array<double, 3> &factor, bool on_device)
  {
    view_.row = block.pitch + 2;
    view_.plane = block.dim == 3 ? view_.row * (block.cells[1] + 2) : 0;
    const std::int64_t size =
        view_.row * (block.cells[1] + 2) * (block.dim == 3 ? block.cells[2] + 2 : 1);
    const std::int64_t first = 1 + view_.row + view_.plane;
    const auto add = [&](double value) -> const C * {
      host_.emplace_back(static_cast<std::size_t>(size), static_cast<C>(value));
      if (!on_device)
        return host_.back().data() + first;
      device_.emplace_back(size, Unset()).copy_from_host(host_.back().data());
      host_.back() = {};
      return device_.back().data() + first;
    };
    for (int d = 0; d < block.dim; ++d)
    {
      view_.c[static_cast<std::size_t>(d)] = add(factor[static_cast<std::size_t>(d)]);
      view_.jump[static_cast<std::size_t>(d)] = add(0.);
    }
    view_.reaction = add(0.);
    if (on_device)
      device::synchronize(nullptr);
  }
  const laplace::CellNumbers<C> &view() const { return view_; }

private:
  std::vector<std::vector<C>> host_;
  std::vector<DeviceArray<C>> device_;
  laplace::CellNumbers<C> view_;
};

/// The kernel of `backend` for one setup.
template <typename Number>
std::function<void(const laplace::Arguments<Number> &)> with_cells(
    laplace::Backend backend, const OperationSetup &setup)
{
  const auto kernel =
      laplace::select_cellwise<Number>(backend, setup.form, setup.block.dim, setup.block.degree());
  const auto cells = std::make_shared<EqualCells<Compute<Number>>>(
      setup.block, setup.factor, laplace::is_device_backend(backend));
  return [kernel, cells](const laplace::Arguments<Number> &arguments) {
    kernel({arguments, cells->view()});
  };
}

/// Bytes of all numbers of the cells.
inline double bytes_of_cells(const Block &block, int bytes_per_cell_number)
{
  return (2. * block.dim + 1.) * bytes_per_cell_number * static_cast<double>(block.pitch + 2) *
      static_cast<double>(block.cells[1] + 2) *
      static_cast<double>(block.dim == 3 ? block.cells[2] + 2 : 1);
}

/// With what the numbers of the cells add, each read once: c_d and m, in the step also the jumps.
inline laplace::Work work_with_cells(
    const OperationSetup &setup, int bytes_per_number, int bytes_per_cell_number)
{
  const Block &block = setup.block;
  laplace::Work work = laplace::work_per_dof(setup.form, block.dim, bytes_per_number);
  const int numbers = setup.form == laplace::Form::chebyshev ? 2 * block.dim + 1 : block.dim + 1;
  work.bytes +=
      double(numbers) * bytes_per_cell_number / static_cast<double>(block.dofs_per_cell());
  return work;
}
} // namespace tensormg
