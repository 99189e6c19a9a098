// What the classes for Python have in common: vectors, functions, words, calls of a solver without the interpreter's lock.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <tensormg/solver.h>

#include "arrays.h"

namespace tensormg_python
{
namespace py = pybind11;
using namespace tensormg;

inline std::span<double> writable(Array &array)
{
  return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

/// Called, copied and given up by the solver, which does not hold the interpreter.
inline Function function_of(const py::function &callable)
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

inline py::dict dictionary(const SolveReport &report)
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

/// In 2D the first four alone.
inline int side_number(const std::string &name, int dim = 3)
{
  std::map<std::string, int> numbers;
  for (std::size_t s = 0; s < side_names.size(); ++s)
    numbers[side_names[s]] = static_cast<int>(s);
  const int number = word("the side", name, numbers);
  if (number >= 2 * dim)
    throw ArgumentError("the side = '" + name + "'; allowed in 2D: left, right, front, back");
  return number;
}

/// A warning of Python's, from any thread.
inline void warn(const std::string &message)
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

/// The verbs of Solver and MeshSolver.
template <typename SolverClass>
class PySolverOf
{
public:
  template <typename... Arguments>
  explicit PySolverOf(const Arguments &...arguments)
    : solver_(made(arguments...))
  {}

  std::int64_t size() const { return solver_.size(); }
  py::tuple coordinates() const
  {
    Array x(size()), y(size()), z(size());
    solver_.coordinates(writable(x), writable(y), writable(z));
    return py::make_tuple(x, y, z);
  }
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
    return product(&SolverClass::multiply, x, "x", out);
  }
  py::object precondition(const py::object &r, const py::object &out)
  {
    return product(&SolverClass::precondition, r, "r", out);
  }

  /// How both classes are shown to Python.
  template <typename Class>
  static void add_verbs(Class &shown)
  {
    using This = typename Class::type;
    shown.def_property_readonly("size", &This::size)
        .def("coordinates", &This::coordinates)
        .def("update_coefficients", &This::update_coefficients)
        .def("solve", &This::solve)
        .def("solve_system", &This::solve_system)
        .def("multiply", &This::multiply)
        .def("precondition", &This::precondition);
  }

protected:
  Demand demand() const
  {
    const std::string name = solver_.backend();
    if constexpr (std::is_same_v<SolverClass, Solver>)
      return {size(), name != "cpu" && name != "reference", name};
    else
      return {size(), false, name + ", with vectors in host memory"};
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
  /// f(numbers) of such an array, without the lock.
  template <typename Call>
  void with_numbers(
      const py::object &object, const std::string &name, std::int64_t size, const Call &call)
  {
    const Input input = together([&] { return Input(object, name, {size, false, "cpu"}); });
    const Work work(busy_);
    const py::gil_scoped_release released;
    call(input.numbers());
  }

private:
  py::object product(void (SolverClass::*by)(std::span<double>, std::span<const double>),
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
  template <typename... Arguments>
  static SolverClass made(const Arguments &...arguments)
  {
    const py::gil_scoped_release released;
    return SolverClass(arguments...);
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

protected:
  SolverClass solver_;

private:
  std::atomic<bool> busy_ = false;
};

inline const std::map<std::string, BoundaryKind> kinds{{"dirichlet", BoundaryKind::dirichlet},
    {"neumann", BoundaryKind::neumann}, {"robin", BoundaryKind::robin},
    {"periodic", BoundaryKind::periodic}};
inline const std::map<std::string, Precision> precisions{{"auto", Precision::automatic},
    {"double", Precision::double_precision}, {"single", Precision::single_precision},
    {"tf32", Precision::tf32_precision}, {"half", Precision::half_precision},
    {"2xfp16", Precision::corrected_half_precision}};

inline const std::map<std::string, OuterSolver> methods{
    {"fgmres", OuterSolver::fgmres}, {"cg", OuterSolver::cg}, {"direct", OuterSolver::direct}};
inline const std::map<std::string, Nodes> node_words{
    {"gauss", Nodes::gauss}, {"gauss_lobatto", Nodes::gauss_lobatto}};

/// The text of an expression, or the name under which the problem gets the function.
inline std::string data_of(Problem &problem, const std::string &what, const py::object &data)
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

/// The options that both classes have.
inline SolverOptions solver_options(const py::dict &options)
{
  SolverOptions solver;
  solver.tolerance = options["tolerance"].cast<double>();
  solver.max_iterations = options["max_iterations"].cast<int>();
  solver.solver = word("method", options["method"].cast<std::string>(), methods);
  solver.multigrid.precision =
      word("precision", options["precision"].cast<std::string>(), precisions);
  return solver;
}
inline Execution execution_of(const py::dict &options)
{
  Execution execution;
  execution.nodes = word("nodes", options["nodes"].cast<std::string>(), node_words);
  execution.communicator = options["communicator"].cast<int>();
  execution.message_callback = warn;
  return execution;
}

/// tensormg::MeshSolver, in mesh_solver.cc.
void add_mesh_solver(py::module_ &module);
} // namespace tensormg_python
