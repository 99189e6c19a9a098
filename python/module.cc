// The classes of the library for Python; tensormg::Solver here. tensormg/__init__.py is what users see.
#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <tensormg/version.h>
#include <tensormg/voxels.h>

#include "solvers.h"

using namespace tensormg_python;

namespace
{
class PySolver : public PySolverOf<Solver>
{
public:
  using PySolverOf<Solver>::PySolverOf;

  std::string backend() const { return solver_.backend(); }
  py::tuple cells() const
  {
    const LocalCells cells = solver_.cells();
    return py::make_tuple(cells.begin, cells.end, cells.box);
  }
  py::tuple side_coordinates(const std::string &name) const
  {
    const int side = side_number(name);
    const std::int64_t count = solver_.side_size(side);
    Array x(count), y(count), z(count);
    solver_.side_coordinates(side, writable(x), writable(y), writable(z));
    return py::make_tuple(x, y, z);
  }
  void set_side_values(const std::string &name, const py::object &values)
  {
    const auto [side, size] = together([&] {
      const int number = side_number(name);
      return std::pair{number, solver_.side_size(number)};
    });
    with_numbers(values, "values", size,
        [this, side](std::span<const double> numbers) { solver_.set_side_values(side, numbers); });
  }
  void update_sides() { solver_.update_sides(); }
};

const std::map<std::string, InCell> in_cell_words{
    {"constant", InCell::constant}, {"mean", InCell::mean}};

/// An array of one number per cell, (cells_z, cells_y, cells_x), in 2D (cells_y, cells_x), becomes the function `name`.
void set_cell_array(Problem &problem, const std::string &name, const py::array &array)
{
  std::array<std::int64_t, 3> count{1, 1, 1};
  std::string allowed;
  bool is_right = array.ndim() == problem.dim &&
      std::string("fiu").find(array.dtype().kind()) != std::string::npos;
  for (int i = 0; i < problem.dim; ++i)
  {
    const int d = problem.dim - 1 - i;
    count[static_cast<std::size_t>(d)] = problem.cells(d);
    is_right = is_right && array.shape(i) == problem.cells(d);
    allowed += i > 0 ? ", " : "";
    allowed += std::to_string(problem.cells(d));
  }
  if (!is_right)
    throw ArgumentError("the array of the " + name + " has the shape " +
        py::str(array.attr("shape")).cast<std::string>() + " and numbers of type " +
        py::str(array.dtype()).cast<std::string>() + "; allowed: numbers of the shape (" + allowed +
        "), one for each cell of the whole box");
  const Array numbers = Array::ensure(array);
  set_cell_values(problem, name, {numbers.data(), numbers.data() + numbers.size()});
}

/// What has one value in each cell: a number, an expression, a function or an array.
std::string cell_data_of(Problem &problem, const std::string &name, const py::object &data)
{
  if (py::isinstance<py::array>(data) && data.cast<py::array>().ndim() > 0)
  {
    set_cell_array(problem, name, data.cast<py::array>());
    return name;
  }
  if (py::isinstance<py::str>(data) || PyCallable_Check(data.ptr()))
    return data_of(problem, name, data);
  try
  {
    return py::str(py::float_(data));
  }
  catch (const py::error_already_set &)
  {
    throw ArgumentError(name + " is of type " + Py_TYPE(data.ptr())->tp_name +
        "; allowed: a number, an expression, a function of x, y, z, or a numpy array of one number for each cell");
  }
}

/// K and c, for the cells of the problem.
void set_coefficients(Problem &problem, const py::object &coefficient, const py::object &reaction)
{
  const auto is_number = [](const py::object &data) {
    return PyFloat_Check(data.ptr()) || PyLong_Check(data.ptr());
  };
  if (is_number(coefficient))
    problem.coefficient = coefficient.cast<double>();
  else if (py::isinstance<py::tuple>(coefficient))
  {
    const auto parts = coefficient.cast<py::tuple>();
    if (parts.size() != static_cast<std::size_t>(problem.dim))
      throw ArgumentError("the coefficient has " + std::to_string(parts.size()) +
          " entries; allowed: " + std::to_string(problem.dim) + ", one per direction");
    for (std::size_t d = 0; d < parts.size(); ++d)
      problem.cell_coefficient[d] =
          cell_data_of(problem, std::string("coefficient_") + "xyz"[d], py::object(parts[d]));
  }
  else
    problem.cell_coefficient[0] = cell_data_of(problem, "coefficient", coefficient);
  if (!(reaction.is_none() || (is_number(reaction) && reaction.cast<double>() == 0.)))
    problem.reaction = cell_data_of(problem, "reaction", reaction);
}

std::unique_ptr<PySolver> make(int dim, int degree, const std::vector<std::int64_t> &cells,
    const std::vector<double> &lower, const std::vector<double> &upper,
    const std::vector<std::vector<double>> &corners, const py::object &coefficient,
    const py::object &reaction, const py::object &right_hand_side,
    const std::map<std::string, std::tuple<std::string, py::object, py::object>> &boundary,
    const py::dict &options)
{
  Problem problem;
  problem.dim = dim;
  problem.degree = degree;
  problem.coarse_cells = {1, 1, 1};
  const auto axes = static_cast<std::size_t>(dim);
  if (dim < 2 || dim > 3 || cells.size() != axes || lower.size() != axes || upper.size() != axes)
    throw ArgumentError("cells, lower and upper must have 2 or 3 entries, all as many");
  problem.refinements = 20;
  for (std::size_t d = 0; d < axes; ++d)
  {
    problem.lower[d] = lower[d];
    problem.upper[d] = upper[d];
    problem.corners[d] = corners.at(d);
    int halvings = 0;
    while (cells[d] > 0 && (cells[d] >> halvings) % 2 == 0)
      ++halvings;
    problem.refinements = std::min(problem.refinements, halvings);
  }
  for (std::size_t d = 0; d < axes; ++d)
    problem.coarse_cells[d] = cells[d] >> problem.refinements;
  problem.coefficient_in_cell = word(
      "coefficient_in_cell", options["coefficient_in_cell"].cast<std::string>(), in_cell_words);
  set_coefficients(problem, coefficient, reaction);
  problem.right_hand_side = data_of(problem, "right_hand_side", right_hand_side);
  for (const auto &[side, data] : boundary)
  {
    const auto s = static_cast<std::size_t>(side_number(side, dim));
    const auto &[kind, value, robin] = data;
    problem.boundary[s] = word("the kind of " + side, kind, kinds);
    problem.boundary_value[s] = data_of(problem, side + "_value", value);
    problem.robin_coefficient[s] = data_of(problem, side + "_robin_coefficient", robin);
  }
  SolverOptions solver = solver_options(options);
  solver.full_multigrid = options["full_multigrid"].cast<bool>();
  Execution execution = execution_of(options);
  execution.backend = options["backend"].cast<std::string>();
  return std::make_unique<PySolver>(problem, solver, execution);
}
} // namespace

PYBIND11_MODULE(_tensormg, module)
{
  py::register_exception<ArgumentError>(module, "ArgumentError", PyExc_ValueError);
  py::register_exception_translator([](std::exception_ptr error) {
    try
    {
      if (error)
        std::rethrow_exception(error);
    }
    catch (const MemoryError &memory)
    {
      PyErr_SetString(PyExc_MemoryError, memory.what());
    }
  });
  module.attr("__version__") = version();
  py::class_<PySolver> solver(module, "Solver");
  solver.def(py::init(&make))
      .def_property_readonly("backend", &PySolver::backend)
      .def_property_readonly("cells", &PySolver::cells)
      .def("side_coordinates", &PySolver::side_coordinates)
      .def("set_side_values", &PySolver::set_side_values)
      .def("update_sides", &PySolver::update_sides);
  PySolver::add_verbs(solver);
  add_mesh_solver(module);
}
