#include "apps/parameters/table.h"

#include <algorithm>

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/patterns.h>

#include "apps/parameters/diagnose.h"
#include "apps/parameters/fields.h"
#include "apps/parameters/mesh.h"
#include "apps/parameters/section.h"
#include "apps/parameters/values.h"

namespace tensormg
{
namespace
{
  constexpr const char *one_per_direction =
      "one number for all directions, or one per direction, separated by commas";

  void add_functions(const auto &problem)
  {
    problem.text(
        "right_hand_side", &Problem::right_hand_side, "an expression in x, y, z", "The f.");
    problem.text("initial_guess", &Problem::initial_guess, "an expression in x, y, z, or nothing",
        "What the iteration starts from; without it, from zero. Not with direct or full_multigrid.");
    problem.text("exact_solution", &Problem::exact_solution, "an expression in x, y, z, or nothing",
        "The solution if it is known; errors are then computed.");
    problem
        .add(
            "exact_gradient",
            "Gradient of the exact solution if it is known; the error in the gradient is then computed.",
            "one expression per direction, separated by semicolons, or nothing", any_pattern(),
            [](Problem &p, const std::string &text) {
              return read_gradient(p.exact_gradient, p.dim, text);
            },
            [](const Problem &p) { return write_gradient(p.exact_gradient, p.dim); })
        .list_separator = ';';
  }

  void add_fields(std::vector<ParameterEntry> &table)
  {
    const Section of_all(
        table, "problem", [](auto &p) -> auto & { return p; });
    of_all.add(
        "fields",
        "Names for data in files, each in place of a whole expression: the description NAME.json of a solution that "
        "output.write_npy has written, or an array NAME.npy of voxels. Relative to where the program is started; "
        "docs/fields.md.",
        "a list name=path, ... with names that have no other meaning (a comma of a path is written \\,), or nothing",
        any_pattern(),
        [](Parameters &p, const std::string &text) {
          return read_fields(p.fields, p.problem.constants, text);
        },
        [](const Parameters &p) { return write_fields(p.fields); });
  }

  void add_coefficients(std::vector<ParameterEntry> &table, const auto &problem)
  {
    problem
        .add(
            "coefficient",
            "The K in -div(K grad u) + c u = f: one for the whole box or for each cell; one per direction is the diagonal of a tensor. On curved "
            "cells it may vary in cells and name `material`, and be xx; yy; zz; xy; xz; yz (2D xx; yy; xy) of a tensor.",
            "a number > 0, from 1e-300 to 1e300, an expression in x, y, z or the name of a field, > 0; or several, separated by semicolons",
            any_pattern(),
            [](Problem &p, const std::string &text) { return read_coefficient(p, text); },
            write_coefficient)
        .list_separator = ';';
    problem.word("coefficient_in_cell", &Problem::coefficient_in_cell,
        "constant: coefficient and reaction have one value in each cell; a place where they have not is refused. "
        "mean: where they vary within a cell its mean is taken (docs/mathematics.md). "
        "Curved cells: K varies within cells unless this is mean, which serves K that jumps inside cells.");
    problem.add(
        "reaction",
        "The c in -div(K grad u) + c u = f, with one value in each cell, as the coefficient.",
        "an expression in x, y, z or the name of a field, >= 0; or nothing, as 0", any_pattern(),
        [](Problem &p, const std::string &text) { return read_reaction(p.reaction, text); },
        [](const Problem &p) { return p.reaction; });
    const Section of_all(
        table, "problem", [](auto &p) -> auto & { return p; });
    of_all.add(
        "materials",
        "K of each label, as in 0: 1.2, 1: 45, for a field of integers that is the coefficient (docs/fields.md).",
        "a list label: number, ... with integers and numbers > 0, from 1e-300 to 1e300; or nothing",
        any_pattern(),
        [](Parameters &p, const std::string &text) { return read_materials(p.materials, text); },
        [](const Parameters &p) { return write_materials(p.materials); });
  }

  void add_grading(std::vector<ParameterEntry> &table)
  {
    Section(
        table, "problem", [](auto &p) -> auto & { return p; })
        .add(
            "grading",
            "Sizes of cells. RATIO of the largest to the smallest, 1 to 1e9; END with the small ones: lower, upper, both. "
            "NUMBERS, or those of a file: where cells end, coarse_cells * 2^k + 1, halved or merged to 2^refinements.",
            "nothing, or equal, geometric RATIO END, tanh RATIO END, corners NUMBERS, file PATH: for all directions, or for each, "
            "separated by semicolons",
            any_pattern(),
            [](Parameters &p, const std::string &text) {
              return read_grading(p.grading, p.problem.dim, text);
            },
            [](const Parameters &p) { return write_grading(p.grading, p.problem.dim); })
        .list_separator = ';';
  }

  void add_problem(std::vector<ParameterEntry> &table)
  {
    const Section problem(
        table, "problem", [](auto &p) -> auto & { return p.problem; });
    problem.integer("dimension", &Problem::dim, 2, 3, "Space dimension.");
    const auto corner = [&](const char *key, std::array<double, 3> Problem::*member,
                            const char *description) {
      problem.add(
          key, description, one_per_direction, any_pattern(),
          [=](Problem &p, const std::string &text) {
            return read_directions(p.*member, p.dim, text, to_number);
          },
          [=](const Problem &p) { return write_directions(p.*member, p.dim, to_text); });
    };
    corner("lower", &Problem::lower, "Corner of the box with the smallest coordinates.");
    corner("upper", &Problem::upper, "Corner of the box with the largest coordinates.");
    problem.add(
        "coarse_cells",
        "Cells of the coarsest grid per direction. Where cells are stretched, even numbers are solved faster than odd ones.",
        std::string(one_per_direction) + "; integers >= 1", any_pattern(),
        [](Problem &p, const std::string &text) {
          p.coarse_cells = {1, 1, 1};
          return read_directions(p.coarse_cells, p.dim, text,
              [](const std::string &part) -> std::optional<std::int64_t> {
                const auto value = to_integer(part);
                const bool usable = value && *value >= 1 && *value <= max_int;
                return usable ? value : std::nullopt;
              });
        },
        [](const Problem &p) {
          return write_directions(
              p.coarse_cells, p.dim, [](std::int64_t n) { return std::to_string(n); });
        });
    problem.integer("refinements", &Problem::refinements, 0, 30,
        "How often every cell of the coarsest grid is halved in each direction: the solve "
        "runs on coarse_cells * 2^refinements cells per direction.");
    add_grading(table);
    problem.integer("degree", &Problem::degree, 1, 8, "Polynomial degree of the elements.");
    add_coefficients(table, problem);
    problem.add(
        "constants", "Names for numbers, usable in every expression; `pi` is always there.",
        "a list name=number, ... with names that have no other meaning; may be empty",
        any_pattern(),
        [](Problem &p, const std::string &text) { return read_constants(p.constants, text); },
        [](const Problem &p) { return write_constants(p.constants); });
    add_fields(table);
    add_functions(problem);
  }

  void add_mesh(std::vector<ParameterEntry> &table)
  {
    const Section mesh(
        table, "mesh", [](auto &p) -> auto & { return p.mesh; });
    mesh.word("type", &MeshOptions::type,
        "box: the cells of problem.*, axis-parallel; mapped: these cells, moved by mesh.map; generate: by mesh.generator; file: from "
        "mesh.file.");
    const Section of_all(
        table, "mesh", [](auto &p) -> auto & { return p; });
    of_all
        .add(
            "map", "mapped: where the point (x, y, z) of the box goes.",
            "one expression in x, y, z per direction, separated by semicolons, as in x + 0.1*sin(pi*y); y; z; or nothing",
            any_pattern(),
            [](Parameters &p, const std::string &text) {
              return read_map(p.mesh.map, p.problem.dim, text);
            },
            [](const Parameters &p) { return write_map(p.mesh.map, p.problem.dim); })
        .list_separator = ';';
    mesh.text("generator", &MeshOptions::generator,
        "the name of a function in deal.II's GridGenerator, as in hyper_shell, plate_with_a_hole, channel_with_cylinder; or nothing",
        "generate: who makes the mesh; problem.lower, upper and coarse_cells play no part.");
    mesh.text("generator_arguments", &MeshOptions::generator_arguments,
        "the arguments of that function, separated by colons, as in 0,0,0 : 0.5 : 1 : 6; or nothing",
        "generate: what it makes. With `true` for colorize, boundaries have numbers.");
    mesh.text("file", &MeshOptions::file, "a path, or nothing",
        "file: the mesh, of quadrilaterals or hexahedra.");
    mesh.integer("degree", &MeshOptions::degree, 0, 8,
        "Polynomial degree of the geometry of a cell, at most that of the elements; 0 is theirs.");
    mesh.word("averages", &MeshOptions::averages,
        "Of the fluxes and penalties of the two sides of a face, on curved cells: arithmetic, or harmonic, weighted interior penalty (SWIP), "
        "where K jumps: the diagonal is then enough for the smoother at any jump between blocks.");
  }

  void add_conditions(std::vector<ParameterEntry> &table)
  {
    Section(
        table, "boundary", [](auto &p) -> auto & { return p.mesh; })
        .add(
            "conditions",
            "Of a mesh that is generated or from a file: boundaries by name or number, * for all others, and what holds there "
            "(docs/meshes.md): u, K du/dn = q, K du/dn + r u = q, or the other one of a periodic pair.",
            "a list NAME: dirichlet u, NAME: neumann q, NAME: robin r, q or NAME: periodic NAME, separated by semicolons, with expressions in x, y, z",
            any_pattern(),
            [](MeshOptions &m, const std::string &text) {
              return read_conditions(m.conditions, text);
            },
            [](const MeshOptions &m) { return write_conditions(m.conditions); })
        .list_separator = ';';
  }

  void add_boundary(std::vector<ParameterEntry> &table)
  {
    const Section boundary(
        table, "boundary", [](auto &p) -> auto & { return p.problem; });
    const std::vector<std::string> kinds = first_column(words<BoundaryKind>);
    for (std::size_t s = 0; s < side_names.size(); ++s)
    {
      const std::string side = side_names[s];
      boundary.add(
          side, "Kind of condition on the side " + side + ".", join(kinds, ", "),
          words_pattern(kinds),
          [s](Problem &p, const std::string &text) { return read_word(p.boundary[s], text); },
          [s](const Problem &p) { return to_word(p.boundary[s]); });
      boundary.add(
          side + "_value",
          "On the side " + side +
              ": u if dirichlet, the flux K du/dn if neumann, q of K du/dn + r u = q if robin; a "
              "periodic side has none.",
          "an expression in x, y, z", any_pattern(),
          [s](Problem &p, const std::string &text) {
            p.boundary_value[s] = text;
            return "";
          },
          [s](const Problem &p) { return p.boundary_value[s]; });
      boundary.add(
          side + "_robin_coefficient",
          "If the side " + side +
              " is robin: r >= 0, in units of K per length, one value on each face of a cell as "
              "problem.coefficient_in_cell says.",
          "an expression in x, y, z", any_pattern(),
          [s](Problem &p, const std::string &text) {
            p.robin_coefficient[s] = text;
            return "";
          },
          [s](const Problem &p) { return p.robin_coefficient[s]; });
    }
  }

  void add_solver(std::vector<ParameterEntry> &table)
  {
    const Section solver(
        table, "solver", [](auto &p) -> auto & { return p.solver; });
    solver.word("solver", &SolverOptions::solver,
        "The method: fgmres and cg iterate with multigrid as preconditioner, direct solves by "
        "fast diagonalisation of the whole grid, and corrects by the residual as long as that helps: "
        "a tolerance below what rounding permits is not reached, and the solve has then failed.");
    solver.number("tolerance", &SolverOptions::tolerance,
        {.lower = 0., .upper = 1., .open_lower = true, .open_upper = true},
        "The iteration ends when the residual, relative to the right-hand side, is below it.");
    solver.integer("max_iterations", &SolverOptions::max_iterations, 1, max_int,
        "After so many iterations the solve has failed.");
    solver.integer("restart", &SolverOptions::restart, 1, max_int,
        "fgmres: the most vectors of a basis; one in single precision is begun anew after fewer steps "
        "if these have reduced the residual by 1e-4 to 1e-6. On curved cells 30 unless it is set.");
    solver.word("basis_precision", &SolverOptions::basis_precision,
        "Numbers in which fgmres stores its basis, cg its residual and directions (one computes with "
        "them in double); auto is double for a cycle in double and single otherwise.");
    solver.boolean("full_multigrid", &SolverOptions::full_multigrid,
        "Whether the iteration starts from a full-multigrid approximation instead of zero.");
    solver.integer("full_multigrid_cycles", &SolverOptions::full_multigrid_cycles, 1, max_int,
        "Cycles on each level of that approximation; with two its error is about that of the "
        "discretisation.");
  }

  void add_multigrid(std::vector<ParameterEntry> &table)
  {
    const Section multigrid(
        table, "multigrid", [](auto &p) -> auto & { return p.solver.multigrid; });
    multigrid.word("precision", &MultigridOptions::precision,
        "Numbers of the cycle; auto is single, and double for cells so flat, or coefficients so different, that single holds too little. half stores 16 bits and computes with 32. On the tensor cores of a GPU (backend auto, mma or "
        "wmma): tf32 is single with smoothing steps in TF32, 2xfp16 is half with error-corrected smoothing steps.");
    multigrid.word("cycle", &MultigridOptions::cycle,
        "Visits coarser levels once (v) or, if they have at most a quarter of the unknowns, twice (w).");
    multigrid.word("coarsening", &MultigridOptions::coarsening,
        "What serves coefficients of cells. cells: coarser cells; vertices: linear elements, smoothed by cells and strong lines; "
        "vertices_and_lines: by all lines; fast_diagonalisation: the whole grid at once, for products. "
        "auto goes by the cells, and on to the next if slow. Curved cells have cells and vertices.");
    multigrid.word("smoother", &MultigridOptions::smoother,
        "chebyshev: polynomial over the inverted cell blocks; patch: vertex-patch Schwarz; "
        "jacobi: damped inverted cell blocks.");
    multigrid.word("relaxation", &MultigridOptions::relaxation,
        "What the smoother inverts on curved cells: the diagonal, each cell by fast diagonalisation (coefficients that vary), rows of cells in all "
        "directions (stretched and sheared cells), or both. auto goes by the metric of each level, and says why.");
    multigrid.word("operator", &MultigridOptions::cycle_operator,
        "The operator of the cycle on curved cells: true_metric, that of the system, or cell_mean, one metric per cell, which is faster and closer the "
        "less the metric varies in cells. auto goes by that, and says why.");
    multigrid.word("chebyshev_kind", &MultigridOptions::chebyshev_kind,
        "chebyshev: fourth needs no smoothing_range, first uses it.");
    multigrid.integer("degree", &MultigridOptions::degree, 1, 100,
        "Degree of the Chebyshev polynomial, or number of sweeps of the other smoothers, "
        "before and again after the coarse correction.");
    multigrid.number("smoothing_range", &MultigridOptions::smoothing_range, above(1.),
        "chebyshev of the first kind: smooths eigenvalues from lambda_max / "
        "smoothing_range to lambda_max.");
    multigrid.integer("eigenvalue_steps", &MultigridOptions::eigenvalue_steps, 6, 1000,
        "Lanczos steps for the estimate of lambda_max on each level; at least 20 where K jumps between cells in the "
        "blocks of a mesh.");
    multigrid.number("eigenvalue_safety", &MultigridOptions::eigenvalue_safety, at_least(1.),
        "Factor on the estimate of lambda_max.");
    multigrid.word("schwarz_kind", &MultigridOptions::schwarz_kind,
        "patch: corrections one colour after the other, or all at once.");
    multigrid.number("damping", &MultigridOptions::damping, at_least(0.),
        "jacobi and the additive patch: factor on the correction; 0 chooses it from the "
        "estimate of lambda_max.");
    multigrid.boolean("precision_fallback", &MultigridOptions::precision_fallback,
        "half, 2xfp16, tf32: whether a solve whose cycle leaves the range of its numbers starts again with the "
        "level on which that was, and all below it, in single, and one that is slow with coefficients of cells goes on in single; the run then "
        "says so.");
    multigrid.integer("replicated_dofs", &MultigridOptions::replicated_dofs, 0, 100000000,
        "Several GPUs: levels with at most so many unknowns are computed by each of them, others are divided.");
    multigrid.integer("single_levels", &MultigridOptions::single_levels, 0, 60,
        "half, 2xfp16, tf32: so many levels, from the coarsest one, are in single from the start.");
  }

  void add_operator(std::vector<ParameterEntry> &table)
  {
    const Section operators(
        table, "operator", [](auto &p) -> auto & { return p; });
    operators.add(
        "backend",
        "Implementation of the kernels; auto takes the best one that this build and this "
        "machine have, reference is slow and simple.",
        join(backend_words(), ", ") + " (as far as built)", words_pattern(backend_words()),
        [](Parameters &p, const std::string &text) { return read_backend(p.backend, text); },
        [](const Parameters &p) { return p.backend; });
  }

  /// What the files call the solution, and what they have beside it.
  void add_field(const auto &output)
  {
    const auto text = [&](const char *key, std::string OutputOptions::*member,
                          const std::vector<std::string> &taken, const char *allowed,
                          const char *description) {
      output.add(
          key, description, allowed, any_pattern(),
          [=](OutputOptions &o, const std::string &value) {
            return read_printable(o.*member, taken, value);
          },
          [=](const OutputOptions &o) { return o.*member; });
    };
    text("field_name", &OutputOptions::field_name, {"", "exact", "error", "rank"},
        "a printable text other than exact, error and rank",
        "What the solution is called within the field files.");
    text("field_unit", &OutputOptions::field_unit, {}, "a printable text, or nothing",
        "Its unit: the field is then called NAME [UNIT].");
    output.boolean("gradient", &OutputOptions::gradient,
        "Whether the VTU has the vector field \"grad NAME\": in each cell the gradient of the solution "
        "there, which jumps between cells. Three components, in 2D the last is 0.");
    output.boolean("flux", &OutputOptions::flux,
        "Whether the VTU has the vector field \"flux NAME\", -K grad u.");
  }

  void add_vtu(std::vector<ParameterEntry> &table, const auto &output)
  {
    output.boolean("write_vtu", &OutputOptions::write_vtu,
        "Whether the solution is written for ParaView, as NAME.vtu "
        "or .pvtu; NAME_not_converged if the solve has not converged, which the field data `converged` (1 or 0) "
        "tell, too. Coordinates are in double precision.");
    output.word("vtu_precision", &OutputOptions::vtu_precision,
        "Numbers of the fields: auto is single, and double for a field whose values single would not show.");
    output.word("vtu_cells", &OutputOptions::vtu_cells,
        "high_order: curved Lagrange cells of the solution's degree (ParaView 5.5 or newer); "
        "subdivided: linear cells, readable everywhere.");
    output.integer("vtu_coarsening", &OutputOptions::vtu_coarsening, 0, 30,
        "So many levels below the finest one lies the grid on which the solution is written, as its L2 "
        "projection; at most the coarsest.");
    const Section of_all(
        table, "output", [](auto &p) -> auto & { return p; });
    const auto corner = [&](const char *key, auto OutputOptions::*member, const char *description) {
      of_all.add(
          key, description, std::string("nothing, ") + one_per_direction, any_pattern(),
          [=](Parameters &p, const std::string &text) -> std::string {
            auto &value = p.output.*member;
            value.reset();
            return text.empty() ? ""
                                : read_directions(value.emplace(), p.problem.dim, text, to_number);
          },
          [=](const Parameters &p) {
            const auto &value = p.output.*member;
            return value ? write_directions(*value, p.problem.dim, to_text) : std::string();
          });
    };
    corner("vtu_lower", &OutputOptions::vtu_lower,
        "Corner with the smallest coordinates of the part of the box that is written: all cells that "
        "have points inside; nothing is problem.lower.");
    corner("vtu_upper", &OutputOptions::vtu_upper,
        "Corner of that part with the largest coordinates; nothing is problem.upper.");
    output.integer("vtu_max_cells", &OutputOptions::vtu_max_cells, 0, max_int,
        "More cells than this are not written, since the files would be huge.");
  }

  void add_probes(std::vector<ParameterEntry> &table)
  {
    const Section of_all(
        table, "output", [](auto &p) -> auto & { return p; });
    of_all
        .add(
            "probes",
            "Points at which the value and the gradient of the solution are shown and stand in run.json. Where cells "
            "meet in a point it is the mean of theirs. Needs vtu_coarsening = 0.",
            "points of the box, separated by semicolons, each of one number per direction, as in "
            "0.5 0.5 0.5; 0.1 0.2 0.3; or nothing",
            any_pattern(),
            [](Parameters &p, const std::string &text) {
              return read_points(p.output.probes, p.problem.dim, text);
            },
            [](const Parameters &p) { return write_points(p.output.probes, p.problem.dim); })
        .list_separator = ';';
    of_all
        .add(
            "probe_lines",
            "Straight lines by their ends and numbers of points. Value and gradient of the solution go into a file for each, "
            "NAME_line_1.csv, ..., with x, y, z and the distance; nan outside of the mesh (docs/meshes.md). Needs vtu_coarsening = 0.",
            "lines FROM : TO : POINTS, separated by semicolons, as in 0 0 0 : 1 1 1 : 101; 0 0 0.5 : 1 0 0.5 : 11; or nothing",
            any_pattern(),
            [](Parameters &p, const std::string &text) {
              return read_lines(p.output.probe_lines, p.problem.dim, text);
            },
            [](const Parameters &p) { return write_lines(p.output.probe_lines, p.problem.dim); })
        .list_separator = ';';
  }

  void add_output(std::vector<ParameterEntry> &table)
  {
    const Section output(
        table, "output", [](auto &p) -> auto & { return p.output; });
    output.add(
        "directory",
        "Where files are written; created if missing. One run at a time: another one that is "
        "started into the same directory is refused.",
        "a path, written in full: ~ and $ have no meaning", any_pattern(),
        [](OutputOptions &o, const std::string &text) { return read_directory(o.directory, text); },
        [](const OutputOptions &o) { return o.directory; });
    output.add(
        "name", "Stem of the names of the field files.", "a file name without a directory",
        any_pattern(),
        [](OutputOptions &o, const std::string &text) { return read_file_name(o.name, text); },
        [](const OutputOptions &o) { return o.name; });
    add_field(output);
    add_vtu(table, output);
    output.boolean("write_npy", &OutputOptions::write_npy,
        "Whether the solution, of any size, is written as an array for NumPy, NAME.npy, with its description NAME.json, from which "
        "another run can start (problem.fields); not with vtu_coarsening. docs/fields.md.");
    add_probes(table);
    output.boolean("level_times", &OutputOptions::level_times,
        "On a device: whether each part of a cycle is waited for, so that the report tells where "
        "the time goes; the solve is slower then.");
    output.word("verbosity", &OutputOptions::verbosity, "How much appears on the screen.");
    output.add(
        "log_file",
        "A file in output.directory that takes what appears on the screen, as it appears, also the error "
        "that ends a run; where verbosity is quiet, as much as with normal.",
        "nothing, or a file name without a directory that ends in .txt or .log", any_pattern(),
        [](OutputOptions &o, const std::string &text) { return read_log_name(o.log_file, text); },
        [](const OutputOptions &o) { return o.log_file; });
  }

  void add_converge(std::vector<ParameterEntry> &table)
  {
    const Section converge(
        table, "converge", [](auto &p) -> auto & { return p.converge; });
    converge.increasing("degrees", &ConvergeOptions::degrees, 1, 8,
        "Polynomial degrees of the study, in place of problem.degree.");
    converge.increasing("refinements", &ConvergeOptions::refinements, 0, 30,
        "Refinements of the study, in place of problem.refinements.");
    converge.boolean("check_orders", &ConvergeOptions::check_orders,
        "Whether the study fails if the error falls too slowly from the last but one to "
        "the last refinement.");
    converge.number("order_tolerance", &ConvergeOptions::order_tolerance, above(0.),
        "check_orders asks for orders of at least degree + 1 (L2) and degree (gradient), less this.");
  }

  void add_compare(std::vector<ParameterEntry> &table)
  {
    const Section compare(
        table, "compare", [](auto &p) -> auto & { return p.compare; });
    compare.increasing("dimensions", &CompareOptions::dimensions, 2, 3, "Space dimensions.");
    compare.increasing("degrees", &CompareOptions::degrees, 1, 8, "Polynomial degrees.");
    compare.increasing("dofs", &CompareOptions::dofs, 1, 1'000'000'000'000,
        "Degrees of freedom wanted, of all ranks together; every rank has a cube of cells of its "
        "own, as nearly as possible of its share.");
    compare.boolean("powers_of_two", &CompareOptions::powers_of_two,
        "Whether cubes have a power of two of cells in each direction, as refinement of one cell "
        "gives them, instead of a multiple of 8.");
    compare.word_list("backends", &CompareOptions::backends, compare_backends(),
        "Implementations; one that this build or this machine lacks is listed as not available, "
        "with the reason.");
    compare.word_list("forms", &CompareOptions::forms, compare_forms,
        "Forms of the operator: rank2, in the basis that the solver uses; rank2_cells, with numbers of each "
        "cell; nodal, by dense "
        "contractions on the vertex patches of one colour, nodal_cells, on cells; patch_inverse: the "
        "local inverse of these patches (docs/diagnostics.md).");
    compare.word_list("steps", &CompareOptions::steps, compare_steps,
        "apply: y = A u; residual: b - A u; chebyshev: one fused step of the smoother.");
    compare.word_list("precisions", &CompareOptions::precisions, compare_precisions,
        "Number types of the vectors; tf32 is single with products in TF32, 3xtf32 and 3xfp16 are "
        "single with products of numbers that are split into two of TF32 or FP16; 2xfp16 is half with "
        "constant factors that are split into two.");
    compare.boolean("solve", &CompareOptions::solve,
        "Whether whole solves of the problem are compared instead of the operator: refined until the "
        "unknowns are nearest to dofs; dimensions, forms and steps then mean nothing.");
    compare.word_list("solvers", &CompareOptions::solvers, first_column(words<OuterSolver>),
        "solve: outer methods.");
    compare.word_list("smoothers", &CompareOptions::smoothers, first_column(words<Smoother>),
        "solve: smoothers.");
    compare.integer("repetitions", &CompareOptions::repetitions, 1, 100000,
        "Timings of every entry, after some that do not count; the median is reported.");
    compare.number("max_seconds", &CompareOptions::max_seconds, above(0.),
        "Time after which an entry gets no further repetitions.");
    compare.number("rest_seconds", &CompareOptions::rest_seconds, at_least(0.),
        "Pause between the check of an entry on the GPU and its timings, and between bursts of these "
        "of 20 ms, so that all are at the clock of a chip that has rested; under load it falls. Not for solve.");
    compare.number("lasting_seconds", &CompareOptions::lasting_seconds, at_least(0.),
        "Time for which an entry on the GPU runs once more without pauses; how fast it is in the second "
        "half, and at which clock, is told apart. 0: it does not. Not for solve.");
  }
} // namespace

PatternPointer number_pattern(double lower, double upper)
{
  return dealii::Patterns::Double(lower, upper).clone();
}

PatternPointer integer_pattern(int lower, int upper)
{
  return dealii::Patterns::Integer(lower, upper).clone();
}

PatternPointer words_pattern(const std::vector<std::string> &list)
{
  return dealii::Patterns::Selection(join(list, "|")).clone();
}

PatternPointer any_pattern() { return dealii::Patterns::Anything().clone(); }

const std::vector<ParameterEntry> &parameter_table()
{
  static const std::vector<ParameterEntry> table = [] {
    std::vector<ParameterEntry> entries;
    add_problem(entries);
    add_mesh(entries);
    add_boundary(entries);
    add_conditions(entries);
    add_solver(entries);
    add_multigrid(entries);
    add_operator(entries);
    add_output(entries);
    add_converge(entries);
    add_compare(entries);
    add_diagnose(entries);
    return entries;
  }();
  return table;
}

const ParameterEntry *find_parameter(const std::string &name)
{
  for (const ParameterEntry &entry : parameter_table())
    if (entry.name() == name)
      return &entry;
  return nullptr;
}

std::vector<std::string> sections_of(const std::string &program, const Parameters &parameters)
{
  std::vector<std::string> sections;
  for (std::size_t i = 0; i < section_readers.size(); ++i)
    for (const std::string &reader : split(section_readers[i], ','))
      if (reader == program || (parameters.compare.solve && reader == program + " --solve"))
        sections.emplace_back(parameter_sections[i].first);
  return sections;
}

void declare(dealii::ParameterHandler &handler, const std::vector<std::string> &sections)
{
  const Parameters defaults;
  for (const ParameterEntry &entry : parameter_table())
  {
    if (!sections.empty() &&
        std::find(sections.begin(), sections.end(), entry.section) == sections.end())
      continue;
    handler.enter_subsection(entry.section);
    handler.declare_entry(entry.key, entry.write(defaults), *entry.pattern,
        entry.description + " Allowed: " + entry.allowed + ".");
    handler.leave_subsection();
  }
}
} // namespace tensormg
