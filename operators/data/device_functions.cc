#include "operators/data/device_functions.h"

#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/device/meters/launch_profile.h"
#include "kernels/vector/cuda.h"
#include "operators/data/function_program.h"
#include "operators/data/tensor_rule.h"
#include "operators/mesh/agreement.h"
#include "operators/vectors/context.h"
#include "operators/vectors/device_vector_space.h"

namespace tensormg
{
namespace ex = expression;

namespace
{
  ex::Code code_of(ex::Operation operation)
  {
    switch (operation)
    {
      case ex::Operation::add:
        return ex::Code::add;
      case ex::Operation::subtract:
        return ex::Code::subtract;
      case ex::Operation::multiply:
        return ex::Code::multiply;
      case ex::Operation::divide:
        return ex::Code::divide;
      case ex::Operation::power:
        return ex::Code::power;
      case ex::Operation::less:
        return ex::Code::less;
      case ex::Operation::less_equal:
        return ex::Code::less_equal;
      case ex::Operation::greater:
        return ex::Code::greater;
      case ex::Operation::greater_equal:
        return ex::Code::greater_equal;
      case ex::Operation::equal:
        return ex::Code::equal;
      case ex::Operation::not_equal:
        return ex::Code::not_equal;
      case ex::Operation::logical_and:
        return ex::Code::logical_and;
      case ex::Operation::logical_or:
        return ex::Code::logical_or;
      case ex::Operation::select:
        return ex::Code::select;
      case ex::Operation::call:
        break; // Instruction::code says which
    }
    return ex::Code::identity;
  }

  /// Collects the steps of one expression.
  class Translation
  {
  public:
    bool add(const ex::Instruction &instruction)
    {
      const bool calls = instruction.operation == ex::Operation::call;
      if (calls && !instruction.code)
        return false;
      const ex::Code code = calls ? *instruction.code : code_of(instruction.operation);
      std::vector<std::uint8_t> operands;
      for (const ex::Operand &operand : instruction.arguments)
        operands.push_back(translate(operand));
      const std::uint8_t result = translate(instruction.target);
      if (!instruction.variadic)
        push(code, result, operands);
      else
        push_all(code, result, operands);
      return fits_;
    }

    std::optional<ex::Steps> finish(const ex::Operand &result)
    {
      steps_.value = translate(result);
      return fits_ ? std::optional(steps_) : std::nullopt;
    }

  private:
    /// Of any number of operands, one after the other.
    void push_all(ex::Code code, std::uint8_t result, const std::vector<std::uint8_t> &operands)
    {
      std::uint8_t so_far = operands.front();
      if (operands.size() == 1)
        push(ex::Code::identity, result, {so_far});
      for (std::size_t i = 1; i < operands.size(); ++i, so_far = result)
        push(code, result, {so_far, operands[i]});
    }

    void push(ex::Code code, std::uint8_t result, const std::vector<std::uint8_t> &operands)
    {
      if (steps_.count == ex::max_steps || operands.empty() || operands.size() > 3)
      {
        fits_ = false;
        return;
      }
      ex::Step &step = steps_.step[static_cast<std::size_t>(steps_.count++)];
      step.code = code;
      step.target = static_cast<std::uint8_t>(result - ex::operand_of_result(0));
      for (std::size_t i = 0; i < operands.size(); ++i)
        step.operand[i] = operands[i];
    }

    std::uint8_t number(double value)
    {
      if (n_numbers_ == ex::max_numbers)
      {
        fits_ = false;
        return 0;
      }
      steps_.number[static_cast<std::size_t>(n_numbers_)] = value;
      return ex::operand_of_number(n_numbers_++);
    }

    std::uint8_t translate(const ex::Operand &operand)
    {
      switch (operand.kind)
      {
        case ex::Operand::Kind::number:
          return number(operand.number);
        case ex::Operand::Kind::coordinate:
          return static_cast<std::uint8_t>(operand.index);
        case ex::Operand::Kind::result:
          break;
      }
      if (operand.index >= ex::max_results)
      {
        fits_ = false;
        return 0;
      }
      return ex::operand_of_result(operand.index);
    }

    ex::Steps steps_;
    int n_numbers_ = 0;
    bool fits_ = true;
  };

  /// With the modes' values at the points, or with their projection.
  ex::Place place_of(
      const LevelGrid &grid, const CellRange &range, const TensorRule &rule, bool projects)
  {
    ex::Place place;
    place.block = grid.block;
    place.offset = grid.offset;
    place.begin = range.begin;
    place.end = range.end;
    for (std::size_t d = 0; d < 3; ++d)
    {
      place.lower[d] = grid.axis[d].lower();
      place.cell_size[d] = grid.axis[d].mean_size();
      ex::Line &line = place.line[d];
      line.points = rule[d].n_points();
      line.modes = rule[d].n_modes;
      if (line.points > ex::max_points)
        throw std::invalid_argument("too many points for the kernels of expressions");
      std::copy(rule[d].points.begin(), rule[d].points.end(), line.point.begin());
      std::copy(rule[d].weights.begin(), rule[d].weights.end(), line.weight.begin());
      const std::vector<double> &matrix = projects ? rule[d].projection : rule[d].values;
      std::copy(matrix.begin(), matrix.end(), line.matrix.begin());
    }
    return place;
  }

  /// The local corners of direction d.
  std::vector<double> corners_of(const LevelGrid &grid, std::size_t d)
  {
    std::vector<double> corners;
    for (std::int64_t c = 0; c < grid.block.cells[d]; ++c)
      corners.push_back(grid.axis[d].coordinate(grid.offset[d] + c, 0.));
    corners.push_back(grid.axis[d].coordinate(grid.offset[d] + grid.block.cells[d] - 1, 1.));
    return corners;
  }

  std::vector<double> in_range(const CellFactor &factor, const CellRange &range)
  {
    std::vector<double> numbers;
    for (std::int64_t cz = range.begin[2]; cz < range.end[2]; ++cz)
      for (std::int64_t cy = range.begin[1]; cy < range.end[1]; ++cy)
        for (std::int64_t cx = range.begin[0]; cx < range.end[0]; ++cx)
          numbers.push_back(factor(cx, cy, cz));
    return numbers;
  }

  /// A place with the arrays that it points to; the stream has no work with it left when it goes.
  class PlacedCells
  {
  public:
    PlacedCells(const LevelGrid &grid, const CellRange &range, const TensorRule &rule,
        bool projects, const CellFactor &factor, Stream stream)
      : stream_(stream)
      , place_(place_of(grid, range, rule, projects))
    {
      for (std::size_t d = 0; d < 3; ++d)
        if (!grid.axis[d].is_equal())
        {
          corners_[d] = DeviceContext(stream).upload<double>(corners_of(grid, d));
          place_.corners[d] = corners_[d].data();
          has_arrays_ = true;
        }
      if (!factor)
        return;
      has_arrays_ = true;
      factor_ = DeviceContext(stream).upload<double>(in_range(factor, range));
      place_.factor = factor_.data();
    }
    PlacedCells(const PlacedCells &) = delete;
    PlacedCells &operator=(const PlacedCells &) = delete;
    ~PlacedCells()
    {
      if (has_arrays_)
        device::synchronize(stream_);
    }

    const ex::Place &operator*() const { return place_; }

  private:
    Stream stream_;
    ex::Place place_;
    std::array<DeviceArray<double>, 3> corners_;
    DeviceArray<double> factor_;
    bool has_arrays_ = false;
  };

  std::vector<double> on_host(const DeviceArray<double> &partial, Stream stream)
  {
    std::vector<double> result(static_cast<std::size_t>(partial.size()));
    partial.copy_to_host(result.data(), stream);
    return result;
  }

  double sum(const std::vector<double> &partial, std::size_t begin)
  {
    const auto first = partial.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::accumulate(first, first + ex::sum_blocks, 0.);
  }

  Integral integrate_on_device(const ex::Steps &steps, const LevelGrid &grid,
      const CellRange &range, const TensorRule &rule, const CellFactor &factor, Stream stream)
  {
    DeviceArray<double> partial(2 * ex::sum_blocks, stream);
    const PlacedCells place(grid, range, rule, true, factor, stream);
    ex::integrate_cuda(steps, *place, partial.data(), stream);
    const std::vector<double> sums = on_host(partial, stream);
    return {sum(sums, 0), sum(sums, ex::sum_blocks)};
  }
} // namespace

std::optional<ex::Steps> device_steps(const ScalarFunction &f)
{
  if (f.program() == nullptr)
    return std::nullopt;
  Translation translation;
  for (const ex::Instruction &instruction : f.program()->instructions())
    if (!translation.add(instruction))
      return std::nullopt;
  return translation.finish(f.program()->result());
}

namespace
{
  /// The sum of the terms that `visit` calls a function for.
  bool assemble(decltype(visit_right_hand_side) &visit, const Problem &problem,
      const LevelGrid &grid, const CellBasis &basis, DeviceVector<double> &result, Stream stream)
  {
    device::fill_bytes(
        result.data(), 0, static_cast<std::size_t>(result.size()) * sizeof(double), stream);
    bool can = true;
    visit(problem, grid, basis,
        [&](const ScalarFunction &f, const CellRange &range, const TensorRule &rule, double scale,
            const CellFactor &factor) {
          if (f.is_constant() && f.value() == 0.)
            return;
          const auto steps = can ? device_steps(f) : std::nullopt;
          can = steps.has_value();
          if (can)
            ex::project_cuda(*steps, *PlacedCells(grid, range, rule, true, factor, stream), scale,
                result.data(), stream);
        });
    // Functions on a side are known to the ranks there.
    return on_all_ranks(can, grid.communicator) &&
        std::isfinite(DeviceVectorSpace(grid.block, grid.communicator, stream).max_abs(result));
  }
} // namespace

bool assemble_on_device(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    DeviceVector<double> &b, Stream stream)
{
  return assemble(visit_right_hand_side, problem, grid, basis, b, stream);
}

bool project_guess_on_device(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    DeviceVector<double> &x, Stream stream)
{
  return assemble(visit_initial_guess, problem, grid, basis, x, stream);
}

Integrator device_integrator(Stream stream)
{
  return [stream](const LevelGrid &grid, const ScalarFunction &f, const CellRange &range,
             const TensorRule &rule, const CellFactor &factor) {
    const auto steps = device_steps(f);
    return f.is_constant() || !steps
        ? integrate(grid, f, range, rule, factor)
        : integrate_on_device(*steps, grid, range, rule, factor, stream);
  };
}

double mean_of_cells_on_device(const LevelGrid &grid, const CellBasis &basis,
    const DeviceVector<double> &x, const DeviceVectorSpace &space)
{
  const ProfiledOperation operation(space.stream(), x.bytes(), "mean");
  const double sum = space.reduced([&](double *scratch, double *result) {
    vector_kernels::cuda::sum_of_means(
        grid.block, basis, x.data(), scratch, result, space.stream());
  });
  return sum / n_global_cells(grid);
}

double mean_on_device(const LevelGrid &grid, const CellBasis &basis, const DeviceVector<double> &x,
    const DeviceVectorSpace &space)
{
  if (grid.has_equal_cells())
    return mean_of_cells_on_device(grid, basis, x, space);
  DeviceVector<double> weighed = space.make_unset_vector<DeviceVector<double>>();
  space.axpby(1., x, 0., weighed);
  multiply_by_volume_on_device(grid, 1., weighed, space.stream());
  return mean_of_cells_on_device(grid, basis, weighed, space);
}

namespace
{
  void add_constant(const LevelGrid &grid, const CellBasis &basis, double shift,
      DeviceVector<double> &x, const DeviceVectorSpace &space)
  {
    const ProfiledOperation operation(space.stream(), 2. * x.bytes(), "adding a constant");
    vector_kernels::cuda::add_constant(grid.block, basis, shift, x.data(), space.stream());
  }
} // namespace

double subtract_constant_on_device(const LevelGrid &grid, const CellBasis &basis,
    DeviceVector<double> &x, const DeviceVectorSpace &space)
{
  const double old = mean_of_cells_on_device(grid, basis, x, space);
  add_constant(grid, basis, -old, x, space);
  return old;
}

double subtract_mean_on_device(const LevelGrid &grid, const CellBasis &basis,
    DeviceVector<double> &x, const DeviceVectorSpace &space)
{
  const double old = mean_on_device(grid, basis, x, space);
  add_constant(grid, basis, -old, x, space);
  return old;
}

void multiply_by_volume_on_device(
    const LevelGrid &grid, double exponent, DeviceVector<double> &x, Stream stream)
{
  if (grid.has_equal_cells())
    return;
  std::array<DeviceArray<double>, 3> factors;
  std::array<std::vector<double>, 3> on_host;
  for (std::size_t d = 0; d < 3; ++d)
  {
    for (std::int64_t c = 0; c < grid.block.cells[d]; ++c)
      on_host[d].push_back(std::pow(grid.axis[d].relative_size(grid.offset[d] + c), exponent));
    factors[d] = DeviceArray<double>(grid.block.cells[d], Unset());
    factors[d].copy_from_host(on_host[d].data(), stream);
  }
  const ProfiledOperation operation(stream, 2. * x.bytes(), "product with volumes");
  vector_kernels::cuda::multiply_cells(
      grid.block, factors[0].data(), factors[1].data(), factors[2].data(), x.data(), stream);
  device::synchronize(stream); // the factors go
}

std::optional<Errors> errors_on_device(const Problem &problem, const LevelGrid &grid,
    const CellBasis &basis, const DeviceVector<double> &u, Stream stream)
{
  bool can = true;
  const CellFactor volume = volume_factor(grid);
  const auto mean = [&](const ScalarFunction &exact, const TensorRule &rule) {
    const DeviceVectorSpace space(grid.block, grid.communicator, stream);
    const double integral = sum_over_ranks(
        grid, device_integrator(stream)(grid, exact, all_cells(grid.block), rule, volume).value);
    return mean_on_device(grid, basis, u, space) - integral / n_global_cells(grid);
  };
  const auto squared_distance = [&](const Difference &difference, const TensorRule &rule,
                                    const ScalarFunction &f) {
    const auto [direction, factor, shift, unit] = difference;
    const auto steps = device_steps(f);
    if (!steps)
    {
      can = false;
      return 0.;
    }
    TensorRule evaluation = rule;
    if (direction >= 0)
      evaluation[static_cast<std::size_t>(direction)].values =
          rule[static_cast<std::size_t>(direction)].derivatives;
    DeviceArray<double> partial(ex::sum_blocks, stream);
    const PlacedCells place(grid, all_cells(grid.block), evaluation, false, volume, stream);
    ex::distance_cuda(
        *steps, *place, u.data(), {factor, shift, unit, direction}, partial.data(), stream);
    return sum_over_ranks(grid, sum(on_host(partial, stream), 0));
  };
  const Errors errors = errors_by(problem, grid, basis, {mean, squared_distance});
  return can ? std::optional(errors) : std::nullopt;
}
} // namespace tensormg
