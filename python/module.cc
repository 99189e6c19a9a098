// The classes of tensormg/solver.h for Python. tensormg/__init__.py is what users see.
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <tensormg/solver.h>
#include <tensormg/version.h>
#include <tensormg/voxels.h>

#include "arrays.h"

namespace py = pybind11;
using namespace tensormg;
using namespace tensormg_python;

namespace
{
std::span<double> writable(Array &array)
{
  return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

/// Called, copied and given up by the solver, which does not hold the interpreter.
Function function_of(const py::function &callable)
{
  const std::shared_ptr<py::function> shared(
      new py::function(callable), [](const py::function *last) {
        const py::gil_scoped_acquire held;
        delete last;
      });
  return
      [shared](std::size_t n, const double *x, const double *y, const double *z, double *values) {
        const py::gil_scoped_acquire held;
        const auto view = [n](const double *p) {
          return py::array_t<double>(static_cast<py::ssize_t>(n), p);
        };
        const auto result =
            doubles((*shared)(view(x), view(y), view(z)), "what a function of x, y and z returns");
        if (!result || (result->size() != 1 && static_cast<std::size_t>(result->size()) != n))
          throw ArgumentError(
              "a function of x, y and z must return a number or " + std::to_string(n) + " numbers");
        for (std::size_t q = 0; q < n; ++q)
          values[q] = result->data()[result->size() == 1 ? 0 : q];
      };
}

template <typename Enum>
Enum word(
    const std::string &name, const std::string &found, const std::map<std::string, Enum> &words)
{
  const auto at = words.find(found);
  if (at != words.end())
    return at->second;
  std::string allowed;
  for (const auto &[text, value] : words)
    allowed += (allowed.empty() ? "" : ", ") + text;
  throw ArgumentError(name + " = '" + found + "'; allowed: " + allowed);
}

py::dict dictionary(const SolveReport &report)
{
  py::dict result;
  result["converged"] = report.converged();
  result["reason"] = to_string(report.reason);
  result["detail"] = report.detail;
  result["iterations"] = report.iterations;
  result["residuals"] = report.residuals;
  result["relative_residual"] = report.true_relative_residual;
  return result;
}

int side_number(const std::string &name)
{
  std::map<std::string, int> numbers;
  for (std::size_t s = 0; s < side_names.size(); ++s)
    numbers[side_names[s]] = static_cast<int>(s);
  return word("the side", name, numbers);
}

/// A warning of Python's, from any thread.
void warn(const std::string &message)
{
  const py::gil_scoped_acquire lock;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 2) != 0)
    throw py::error_already_set(); // warnings are errors
}

/// Without the interpreter's lock others may call a solver that is at work, or functions that it calls: that is refused.
class Work
{
public:
  explicit Work(std::atomic<bool> &busy)
    : busy_(busy)
  {
    if (busy_.exchange(true))
      throw std::runtime_error(
          "the solver is at work in another thread, or calls this function: one call at a time");
  }
  ~Work() { busy_ = false; }
  Work(const Work &) = delete;
  Work &operator=(const Work &) = delete;

private:
  std::atomic<bool> &busy_;
};

/// A solver and the problem that it is made from.
class PySolver
{
public:
  PySolver(Problem problem, const SolverOptions &options, const Execution &execution)
    : solver_(made(problem, options, execution))
  {}

  std::int64_t size() const { return solver_.size(); }
  std::string backend() const { return solver_.backend(); }
  py::tuple cells() const
  {
    const LocalCells cells = solver_.cells();
    return py::make_tuple(cells.begin, cells.end, cells.box);
  }
  py::tuple coordinates() const
  {
    Array x(size()), y(size()), z(size());
    solver_.coordinates(writable(x), writable(y), writable(z));
    return py::make_tuple(x, y, z);
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
    const auto [side, numbers] = together([&] {
      const int number = side_number(name);
      const Input input(values, "values", {solver_.side_size(number), false, "cpu"});
      return std::pair{number, std::vector<double>(input.numbers().begin(), input.numbers().end())};
    });
    const Work work(busy_);
    const py::gil_scoped_release released;
    solver_.set_side_values(side, numbers);
  }
  void update_sides() { solver_.update_sides(); }
  void update_coefficients() { solver_.update_coefficients(); }
  py::tuple solve(const py::object &f, const py::object &start, const py::object &out)
  {
    if (f.is_none())
    {
      if (!start.is_none())
        together([]() -> Input { throw ArgumentError("start needs f"); });
      return solved(start, out, [&](std::span<double> u, Start) { return solver_.solve(u); });
    }
    const Input values = together([&] { return Input(f, "f", demand()); });
    return solved(start, out,
        [&](std::span<double> u, Start how) { return solver_.solve(values.numbers(), u, how); });
  }
  py::tuple solve_system(const py::object &b, const py::object &start, const py::object &out)
  {
    const Input values = together([&] { return Input(b, "b", demand()); });
    return solved(start, out, [&](std::span<double> u, Start how) {
      return solver_.solve_system(values.numbers(), u, how);
    });
  }
  py::object multiply(const py::object &x, const py::object &out)
  {
    return product(&Solver::multiply, x, "x", out);
  }
  py::object precondition(const py::object &r, const py::object &out)
  {
    return product(&Solver::precondition, r, "r", out);
  }

private:
  Demand demand() const
  {
    const std::string name = backend();
    return {size(), name != "cpu" && name != "reference", name};
  }
  /// Arguments of this process. If they cannot be used, the others, which wait in the library, are told so by a call that it
  /// refuses on all.
  template <typename Make>
  std::invoke_result_t<Make> together(const Make &make)
  {
    try
    {
      return make();
    }
    catch (...)
    {
      const py::gil_scoped_release released;
      try
      {
        solver_.multiply({}, {});
      }
      catch (const ArgumentError &)
      {}
      throw;
    }
  }
  py::object product(void (Solver::*by)(std::span<double>, std::span<const double>),
      const py::object &object, const std::string &name, const py::object &out)
  {
    const Input from = together([&] { return Input(object, name, demand()); });
    const Output to = together([&] { return Output(out, demand()); });
    {
      const Work work(busy_);
      const py::gil_scoped_release released;
      (solver_.*by)(to.numbers(), from.numbers());
    }
    return to.object();
  }
  static Solver made(
      const Problem &problem, const SolverOptions &options, const Execution &execution)
  {
    const py::gil_scoped_release released;
    return Solver(problem, options, execution);
  }
  template <typename Solve>
  py::tuple solved(const py::object &start, const py::object &out, const Solve &solve)
  {
    const Output u = together([&] {
      Output to(out, demand());
      if (!start.is_none())
        copy(Input(start, "start", demand()), to);
      return to;
    });
    SolveReport report;
    {
      const Work work(busy_);
      const py::gil_scoped_release released;
      report = solve(u.numbers(), start.is_none() ? Start::zero : Start::given);
    }
    return py::make_tuple(u.object(), dictionary(report));
  }

  Solver solver_;
  std::atomic<bool> busy_ = false;
};

const std::map<std::string, BoundaryKind> kinds{{"dirichlet", BoundaryKind::dirichlet},
    {"neumann", BoundaryKind::neumann}, {"robin", BoundaryKind::robin},
    {"periodic", BoundaryKind::periodic}};
const std::map<std::string, Precision> precisions{{"auto", Precision::automatic},
    {"double", Precision::double_precision}, {"single", Precision::single_precision},
    {"tf32", Precision::tf32_precision}, {"half", Precision::half_precision},
    {"2xfp16", Precision::corrected_half_precision}};

const std::map<std::string, OuterSolver> methods{
    {"fgmres", OuterSolver::fgmres}, {"cg", OuterSolver::cg}, {"direct", OuterSolver::direct}};
const std::map<std::string, InCell> in_cell_words{
    {"constant", InCell::constant}, {"mean", InCell::mean}};
const std::map<std::string, Nodes> node_words{
    {"gauss", Nodes::gauss}, {"gauss_lobatto", Nodes::gauss_lobatto}};

/// The text of an expression, or the name under which the problem gets the function.
std::string data_of(Problem &problem, const std::string &what, const py::object &data)
{
  if (PyCallable_Check(data.ptr()) != 0)
  {
    problem.functions[what + "_"] = function_of(data.cast<py::function>());
    return what + "_";
  }
  if (py::isinstance<py::str>(data))
    return data.cast<std::string>();
  try
  {
    return py::str(py::float_(data));
  }
  catch (const py::error_already_set &)
  {
    throw ArgumentError(what + " is of type " +
        std::string(py::str(py::type::of(data).attr("__name__"))) +
        "; allowed: a number, an expression or a function of x, y and z");
  }
}

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
    const auto s = static_cast<std::size_t>(side_number(side));
    if (side_number(side) >= 2 * dim)
      throw ArgumentError("the side = '" + side + "'; allowed in 2D: left, right, front, back");
    const auto &[kind, value, robin] = data;
    problem.boundary[s] = word("the kind of " + side, kind, kinds);
    problem.boundary_value[s] = data_of(problem, side + "_value", value);
    problem.robin_coefficient[s] = data_of(problem, side + "_robin_coefficient", robin);
  }
  SolverOptions solver;
  Execution execution;
  solver.tolerance = options["tolerance"].cast<double>();
  solver.max_iterations = options["max_iterations"].cast<int>();
  solver.solver = word("method", options["method"].cast<std::string>(), methods);
  solver.full_multigrid = options["full_multigrid"].cast<bool>();
  solver.multigrid.precision =
      word("precision", options["precision"].cast<std::string>(), precisions);
  execution.backend = options["backend"].cast<std::string>();
  execution.nodes = word("nodes", options["nodes"].cast<std::string>(), node_words);
  execution.communicator = options["communicator"].cast<int>();
  execution.message_callback = warn;
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
  py::class_<PySolver>(module, "Solver")
      .def(py::init(&make))
      .def_property_readonly("size", &PySolver::size)
      .def_property_readonly("backend", &PySolver::backend)
      .def_property_readonly("cells", &PySolver::cells)
      .def("coordinates", &PySolver::coordinates)
      .def("side_coordinates", &PySolver::side_coordinates)
      .def("set_side_values", &PySolver::set_side_values)
      .def("update_sides", &PySolver::update_sides)
      .def("update_coefficients", &PySolver::update_coefficients)
      .def("solve", &PySolver::solve)
      .def("solve_system", &PySolver::solve_system)
      .def("multiply", &PySolver::multiply)
      .def("precondition", &PySolver::precondition);
}
