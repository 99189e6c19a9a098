// tensormg::MeshSolver for Python.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <tensormg/mesh_solver.h>

#include "solvers.h"

using namespace tensormg_python;

namespace
{
class PyMeshSolver : public PySolverOf<MeshSolver>
{
public:
  using PySolverOf<MeshSolver>::PySolverOf;

  std::string backend() const { return solver_.backend(); }
  /// The cells of the mesh, the parts of these, the materials.
  py::tuple cells() const
  {
    const std::vector<RefinedCell> cells = solver_.cells();
    const auto n = static_cast<py::ssize_t>(cells.size());
    py::array_t<std::int64_t> coarse(n), part({n, py::ssize_t{3}});
    py::array_t<int> material(n);
    for (py::ssize_t c = 0; c < n; ++c)
    {
      const RefinedCell &cell = cells[static_cast<std::size_t>(c)];
      coarse.mutable_at(c) = cell.coarse;
      material.mutable_at(c) = cell.material;
      for (py::ssize_t d = 0; d < 3; ++d)
        part.mutable_at(c, d) = cell.part[static_cast<std::size_t>(d)];
    }
    return py::make_tuple(coarse, part, material);
  }
  std::vector<std::string> boundaries() const { return solver_.boundaries(); }
  py::tuple boundary_coordinates(const std::string &name) const
  {
    const std::int64_t count = solver_.boundary_size(name);
    Array x(count), y(count), z(count);
    solver_.boundary_coordinates(name, writable(x), writable(y), writable(z));
    return py::make_tuple(x, y, z);
  }
  void set_boundary_values(const std::string &name, const py::object &values)
  {
    const std::int64_t size = together([&] { return solver_.boundary_size(name); });
    with_numbers(values, "values", size,
        [&](std::span<const double> numbers) { solver_.set_boundary_values(name, numbers); });
  }
  void update_boundaries() { solver_.update_boundaries(); }

  std::int64_t points_size() const { return solver_.points_size(); }
  py::tuple point_coordinates() const
  {
    const std::int64_t count = solver_.points_size();
    Array x(count), y(count), z(count);
    solver_.point_coordinates(writable(x), writable(y), writable(z));
    return py::make_tuple(x, y, z);
  }
  Array values_at_points(const py::object &u) const
  {
    const Input input(u, "u", demand());
    Array values(solver_.points_size());
    solver_.values_at_points(writable(values), input.numbers());
    return values;
  }
  void set_coefficient_values(const py::object &k)
  {
    const auto size = together([&] {
      const auto numbers = doubles(k, "k");
      return numbers ? static_cast<std::int64_t>(numbers->size()) : 0;
    });
    with_numbers(k, "k", size,
        [this](std::span<const double> numbers) { solver_.set_coefficient_values(numbers); });
  }
};

const std::map<std::string, FaceAverage> averages{
    {"arithmetic", FaceAverage::arithmetic}, {"harmonic", FaceAverage::harmonic}};
const std::map<std::string, Coarsening> coarsenings{{"auto", Coarsening::automatic},
    {"cells", Coarsening::cells}, {"vertices", Coarsening::vertices}};
const std::map<std::string, CycleOperator> cycle_operators{{"auto", CycleOperator::automatic},
    {"true_metric", CycleOperator::true_metric}, {"cell_mean", CycleOperator::cell_mean}};

/// Rows of points, in 2D with two columns.
std::vector<std::array<double, 3>> points_of(const Array &rows)
{
  std::vector<std::array<double, 3>> points(static_cast<std::size_t>(rows.shape(0)));
  for (py::ssize_t i = 0; i < rows.shape(0); ++i)
    for (py::ssize_t d = 0; d < std::min<py::ssize_t>(rows.shape(1), 3); ++d)
      points[static_cast<std::size_t>(i)][static_cast<std::size_t>(d)] = rows.at(i, d);
  return points;
}

MeshArrays arrays_of(const py::dict &mesh)
{
  MeshArrays arrays;
  arrays.degree = mesh["degree"].cast<int>();
  if (mesh["equidistant"].cast<bool>())
    arrays.places = CellNodePlaces::equidistant;
  arrays.points = points_of(mesh["points"].cast<Array>());
  arrays.cells = mesh["cells"].cast<std::vector<std::int64_t>>();
  arrays.material = mesh["material"].cast<std::vector<int>>();
  for (const auto &face : mesh["faces"].cast<std::vector<std::vector<std::int64_t>>>())
    std::copy_n(
        face.begin(), std::min<std::size_t>(face.size(), 4), arrays.faces.emplace_back().begin());
  arrays.boundary = mesh["boundary"].cast<std::vector<int>>();
  arrays.boundary_names = mesh["names"].cast<std::map<int, std::string>>();
  return arrays;
}

MeshOptions mesh_of(Problem &problem, const py::dict &mesh)
{
  MeshOptions options;
  const auto type = mesh["type"].cast<std::string>();
  if (type == "file")
  {
    options.type = MeshType::file;
    options.file = mesh["path"].cast<std::string>();
  }
  else if (type == "generated")
  {
    options.type = MeshType::generate;
    options.generator = mesh["name"].cast<std::string>();
    options.generator_arguments = mesh["arguments"].cast<std::string>();
  }
  else if (type == "arrays")
  {
    options.type = MeshType::arrays;
    options.arrays = arrays_of(mesh);
  }
  else
  {
    options.type = MeshType::mapped;
    const auto map = mesh["map"].cast<std::vector<py::object>>();
    for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
    {
      options.map[d] = data_of(problem, std::string("map_") + "xyz"[d], map.at(d));
      problem.coarse_cells[d] = mesh["cells"].cast<std::vector<std::int64_t>>().at(d);
      problem.lower[d] = mesh["lower"].cast<std::vector<double>>().at(d);
      problem.upper[d] = mesh["upper"].cast<std::vector<double>>().at(d);
    }
  }
  return options;
}

/// A number, or the parts of a tensor: the diagonal, or all six (2D: three).
void set_coefficient(Problem &problem, const std::vector<py::object> &parts)
{
  const auto dim = static_cast<std::size_t>(problem.dim), all = dim * (dim + 1) / 2;
  if (parts.size() != 1 && parts.size() != dim && parts.size() != all)
    throw ArgumentError("the coefficient has " + std::to_string(parts.size()) +
        " entries; allowed: 1, " + std::to_string(dim) + " or " + std::to_string(all));
  if (parts.size() == 1 && (PyFloat_Check(parts[0].ptr()) || PyLong_Check(parts[0].ptr())))
  {
    problem.coefficient = parts[0].cast<double>();
    return;
  }
  for (std::size_t c = 0; c < parts.size(); ++c)
    (c < dim ? problem.cell_coefficient[c] : problem.mixed_coefficient[c - dim]) =
        data_of(problem, "coefficient_" + std::to_string(c), parts[c]);
}

using Condition = std::tuple<std::string, py::object, py::object>;

void set_conditions(
    Problem &problem, MeshOptions &mesh, const std::map<std::string, Condition> &conditions)
{
  mesh.conditions.clear();
  std::size_t number = 0;
  for (const auto &[name, data] : conditions)
  {
    const auto &[word_of_kind, value, robin] = data;
    const BoundaryKind kind = word("the kind of " + name, word_of_kind, kinds);
    const std::string of = "boundary_" + std::to_string(number++);
    const BoundaryCondition condition{kind,
        kind == BoundaryKind::periodic ? py::str(value).cast<std::string>()
                                       : data_of(problem, of, value),
        data_of(problem, of + "_robin_coefficient", robin)};
    if (mesh.type != MeshType::mapped)
    {
      mesh.conditions.emplace_back(name, condition);
      continue;
    }
    const auto side = static_cast<std::size_t>(side_number(name, problem.dim));
    problem.boundary[side] = kind;
    problem.boundary_value[side] = condition.value;
    problem.robin_coefficient[side] = condition.robin_coefficient;
  }
}

std::unique_ptr<PyMeshSolver> make(int dim, int degree, int refinements, const py::dict &mesh,
    const std::vector<py::object> &coefficient, const py::object &reaction,
    const py::object &right_hand_side, const std::map<std::string, Condition> &boundary,
    const py::dict &options)
{
  Problem problem;
  problem.dim = dim;
  problem.degree = degree;
  problem.refinements = refinements;
  MeshOptions of_mesh = mesh_of(problem, mesh);
  of_mesh.degree = options["geometry_degree"].cast<int>();
  of_mesh.averages = word("averages", options["averages"].cast<std::string>(), averages);
  set_conditions(problem, of_mesh, boundary);
  set_coefficient(problem, coefficient);
  if (!reaction.is_none())
    problem.reaction = data_of(problem, "reaction", reaction);
  problem.right_hand_side = data_of(problem, "right_hand_side", right_hand_side);
  SolverOptions solver = solver_options(options);
  solver.restart = options["restart"].cast<int>();
  solver.multigrid.coarsening =
      word("coarsening", options["coarsening"].cast<std::string>(), coarsenings);
  solver.multigrid.cycle_operator =
      word("cycle_operator", options["cycle_operator"].cast<std::string>(), cycle_operators);
  Execution execution = execution_of(options);
  execution.backend = options["backend"].cast<std::string>();
  return std::make_unique<PyMeshSolver>(problem, of_mesh, solver, execution);
}
} // namespace

void tensormg_python::add_mesh_solver(py::module_ &module)
{
  py::class_<PyMeshSolver> solver(module, "MeshSolver");
  solver.def(py::init(&make))
      .def_property_readonly("backend", &PyMeshSolver::backend)
      .def_property_readonly("cells", &PyMeshSolver::cells)
      .def_property_readonly("boundaries", &PyMeshSolver::boundaries)
      .def("boundary_coordinates", &PyMeshSolver::boundary_coordinates)
      .def("set_boundary_values", &PyMeshSolver::set_boundary_values)
      .def("update_boundaries", &PyMeshSolver::update_boundaries)
      .def_property_readonly("points_size", &PyMeshSolver::points_size)
      .def("point_coordinates", &PyMeshSolver::point_coordinates)
      .def("values_at_points", &PyMeshSolver::values_at_points)
      .def("set_coefficient_values", &PyMeshSolver::set_coefficient_values);
  PyMeshSolver::add_verbs(solver);
}
