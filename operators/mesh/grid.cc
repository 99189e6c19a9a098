#include "operators/mesh/grid.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "tensormg/report.h"

namespace tensormg
{
double LevelGrid::reference_length() const
{
  double length = std::numeric_limits<double>::max();
  for (int d = 0; d < block.dim; ++d)
    length = std::min(length, mean_cell_size(d));
  return length;
}

double LevelGrid::mean_cell_volume() const
{
  double volume = 1.;
  for (int d = 0; d < block.dim; ++d)
    volume *= mean_cell_size(d);
  return volume;
}

bool LevelGrid::has_equal_cells() const
{
  return axis[0].is_equal() && axis[1].is_equal() && axis[2].is_equal();
}

double LevelGrid::relative_volume(std::int64_t cx, std::int64_t cy, std::int64_t cz) const
{
  return axis[0].relative_size(offset[0] + cx) * axis[1].relative_size(offset[1] + cy) *
      axis[2].relative_size(offset[2] + cz);
}

std::array<double, 3> LevelGrid::direction_factors() const
{
  std::array<double, 3> factors{0., 0., 0.};
  for (int d = 0; d < block.dim; ++d)
    factors[d] =
        (reference_length() / mean_cell_size(d)) * (reference_length() / mean_cell_size(d));
  return factors;
}

std::int64_t LevelGrid::global_dofs() const
{
  return global_cells[0] * global_cells[1] * global_cells[2] * block.dofs_per_cell();
}

namespace
{
  /// Levels with fewer degrees of freedom than this per rank are cheaper to compute everywhere than to
  /// communicate about.
  constexpr std::int64_t min_dofs_per_rank = 8192;

  /// Goes down the levels of a box.
  class Halving
  {
  public:
    explicit Halving(const Problem &problem)
      : dim_(problem.dim)
      , refinements_(problem.refinements)
    {
      for (int d = 0; d < dim_; ++d)
      {
        shape_.cells[d] = problem.coarse_cells[d] << refinements_;
        size_[d] = (problem.upper[d] - problem.lower[d]) / static_cast<double>(shape_.cells[d]);
      }
    }

    const LevelShape &shape() const { return shape_; }

    /// Finds the directions that go down from here, and those of this level that are exact instead; false: it is the coarsest.
    bool find_next()
    {
      for (;;)
      {
        double shortest = std::numeric_limits<double>::max();
        for (int d = 0; d < dim_; ++d)
          if (!shape_.exact[d])
            shortest = std::min(shortest, size_[d]);
        const auto is_short = [&](int d) {
          return !shape_.exact[d] && size_[d] < alike_cells * shortest;
        };
        bool all_short = true, any = false;
        for (int d = 0; d < dim_; ++d)
          all_short = all_short && (shape_.exact[d] || is_short(d));
        for (int d = 0; d < dim_; ++d)
        {
          halves_[d] = is_short(d) && shape_.cells[d] % 2 == 0 &&
              (!all_short || halvings_[d] < refinements_);
          any = any || halves_[d];
        }
        if (any || all_short)
          return any;
        for (int d = 0; d < dim_; ++d)
          shape_.exact[d] = shape_.exact[d] || is_short(d);
      }
    }

    void go_down()
    {
      for (int d = 0; d < dim_; ++d)
        if (halves_[d])
        {
          shape_.cells[d] /= 2;
          size_[d] *= 2.;
          ++halvings_[d];
        }
    }

  private:
    int dim_, refinements_;
    LevelShape shape_;
    std::array<double, 3> size_{1., 1., 1.};
    std::array<int, 3> halvings_{0, 0, 0};
    std::array<bool, 3> halves_{false, false, false};
  };

  using Parts = std::array<int, 3>;

  /// Whether every part has cells on the level, so many per direction, and exact directions are whole. Borders are drawn on
  /// the next coarser level, so that they are even on every distributed one above which their direction is halved.
  bool can_distribute(
      const std::vector<LevelShape> &shapes, int level, const Parts &parts, std::int64_t per_rank)
  {
    const auto &here = shapes[level].cells, &below = shapes[std::max(level - 1, 0)].cells;
    for (int d = 1; d < 3; ++d)
    {
      const std::int64_t needed = below[d] < here[d] ? (per_rank + 1) / 2 : per_rank;
      if (parts[d] > 1 && (below[d] < needed * parts[d] || shapes[level].exact[d]))
        return false;
    }
    return true;
  }

  /// The coarsest distributed level: four cells per rank and direction if the finest allows that. The number of levels if there is none.
  int find_coarsest_distributed(const Problem &problem, const std::vector<LevelShape> &shapes,
      const Parts &parts, const Division &division)
  {
    const int n_ranks = parts[1] * parts[2], finest = static_cast<int>(shapes.size()) - 1;
    if (n_ranks == 1 || !can_distribute(shapes, finest, parts, 1))
      return finest + 1;
    int coarsest = finest + 1;
    for (int level = finest; level >= 0; --level)
    {
      const Block whole(problem.dim, problem.degree, shapes[level].cells);
      if (whole.dofs() <= division.replicated_dofs)
        break;
      if (level < finest &&
          (!can_distribute(shapes, level, parts, 4) || whole.dofs() < min_dofs_per_rank * n_ranks))
        break;
      coarsest = level;
    }
    return coarsest;
  }

  /// Cells of the fullest rank, of all levels.
  std::int64_t cells_of_all_levels(const Problem &problem, const std::vector<LevelShape> &shapes,
      const Parts &parts, const Division &division)
  {
    const int distributed = find_coarsest_distributed(problem, shapes, parts, division);
    std::int64_t sum = 0;
    for (int level = 0; level < static_cast<int>(shapes.size()); ++level)
    {
      std::int64_t cells = 1;
      for (int d = 0; d < 3; ++d)
      {
        const int divided = level >= distributed ? parts[d] : 1;
        cells *= (shapes[level].cells[d] + divided - 1) / divided;
      }
      sum += cells;
    }
    return sum;
  }

  /// The division of y and z into ranks with the fewest cells on the fullest rank, of the finest level or, where levels are stretched
  /// and a direction may soon be too short to be divided, of all of them; then the smallest surface.
  Parts divide(const Problem &problem, const std::vector<LevelShape> &shapes, int n_ranks,
      const Division &division)
  {
    const auto &cells = shapes.back().cells;
    bool is_stretched = false;
    for (std::size_t l = 1; l < shapes.size(); ++l)
      for (int d = 0; d < problem.dim; ++d)
        is_stretched = is_stretched || shapes[l].cells[d] == shapes[l - 1].cells[d];
    if (const Parts slabs{1, 1, n_ranks}; division.least_layers > 0 && problem.dim == 3 &&
        !is_stretched && cells[2] >= division.least_layers * n_ranks &&
        can_distribute(shapes, static_cast<int>(shapes.size()) - 1, slabs, 1))
      return slabs;
    Parts best{1, n_ranks, 1};
    std::array<std::int64_t, 2> best_cost{
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
    for (int z = 1; z <= (problem.dim == 3 ? n_ranks : 1); ++z)
    {
      const Parts parts{1, n_ranks / z, z};
      if (n_ranks % z != 0 ||
          !can_distribute(shapes, static_cast<int>(shapes.size()) - 1, parts, 1))
        continue;
      const std::int64_t ly = (cells[1] + parts[1] - 1) / parts[1], lz = (cells[2] + z - 1) / z;
      // A cell of volume weighs more than a cell of surface; ties go to slabs in z.
      const std::array<std::int64_t, 2> cost{
          is_stretched ? cells_of_all_levels(problem, shapes, parts, division) : 0,
          8 * ly * lz + (parts[1] > 1 ? 2 * lz : 0) + (z > 1 ? 2 * ly : 0)};
      if (cost <= best_cost)
      {
        best_cost = cost;
        best = parts;
      }
    }
    return best;
  }

  std::int64_t first_cell(std::int64_t cells, int part, int parts) { return cells * part / parts; }

  Axis level_axis(const Problem &problem, int d, std::int64_t cells)
  {
    if (!problem.is_graded(d))
      return {problem.lower[d], problem.upper[d], cells};
    const std::int64_t merged = problem.cells(d) / cells;
    std::vector<double> corners;
    for (std::int64_t c = 0; c <= cells; ++c)
      corners.push_back(problem.corner(d, c * merged));
    return Axis(std::move(corners));
  }

  /// Sides of the block of a level, and the ranks behind them; `part` is this rank's place among `parts`.
  template <typename Parts>
  void set_sides(LevelGrid &l, const Problem &problem, const Parts &parts,
      const std::array<int, 3> &part, bool divided, int rank)
  {
    for (int d = 0; d < problem.dim; ++d)
      for (int upper = 0; upper < 2; ++upper)
      {
        const int s = 2 * d + upper;
        const bool at_end =
            upper ? l.offset[d] + l.block.cells[d] == l.global_cells[d] : l.offset[d] == 0;
        const bool periodic = problem.boundary[s] == BoundaryKind::periodic;
        if (at_end && !periodic)
          l.sides[s] =
              problem.boundary[s] == BoundaryKind::dirichlet ? Side::dirichlet : Side::neumann;
        else if (d == 0)
          l.sides[s] = Side::wrap;
        else
        {
          l.sides[s] = Side::ghost;
          std::array<int, 3> other = part;
          const int n_parts = divided ? parts[d] : 1;
          other[d] = (part[d] + (upper ? 1 : n_parts - 1)) % n_parts;
          l.neighbour[s] = divided ? other[1] + parts[1] * other[2] : rank;
        }
      }
  }
} // namespace

std::vector<LevelShape> level_shapes(const Problem &problem)
{
  std::vector<LevelShape> shapes;
  Halving coarsening(problem);
  while (coarsening.find_next())
  {
    shapes.push_back(coarsening.shape());
    coarsening.go_down();
  }
  shapes.push_back({coarsening.shape().cells, {}}); // which is solved as a whole
  std::reverse(shapes.begin(), shapes.end());
  return shapes;
}

double coarsening_factor(const LevelGrid &fine, const LevelGrid &coarse)
{
  double shortest = std::numeric_limits<double>::max();
  for (int d = 0; d < fine.block.dim; ++d)
  {
    const std::int64_t children = fine.global_cells[d] / coarse.global_cells[d];
    shortest = std::min(shortest, fine.mean_cell_size(d) * static_cast<double>(children));
  }
  const double ratio = shortest / fine.reference_length();
  return ratio * ratio;
}

int halved_directions(const LevelGrid &fine, const LevelGrid &coarse)
{
  int count = 0;
  for (int d = 0; d < fine.block.dim; ++d)
    count += fine.global_cells[d] != coarse.global_cells[d] ? 1 : 0;
  return count;
}

std::array<std::int64_t, 3> cells_below(
    std::array<std::int64_t, 3> cells, const LevelGrid &fine, const LevelGrid &coarse)
{
  for (int d = 0; d < fine.block.dim; ++d)
    if (coarse.global_cells[d] < fine.global_cells[d])
      cells[d] /= 2;
  return cells;
}

std::string complaint_about_corners(const Problem &problem, int d)
{
  constexpr double most_graded = 1e9;
  const std::vector<double> &corners = problem.corners[d];
  if (corners.empty())
    return "";
  if (!problem.has_right_corners(d))
    return "there are " + std::to_string(corners.size()) +
        " corners; allowed: coarse_cells * 2^k + 1 of them, coarse_cells being " +
        std::to_string(problem.coarse_cells[d]);
  for (std::size_t i = 1; i < corners.size(); ++i)
    if (!(corners[i - 1] < corners[i]))
      return "corner " + number_text(corners[i]) + " comes after " + number_text(corners[i - 1]) +
          "; allowed: increasing corners";
  if (corners.front() != problem.lower[d] || corners.back() != problem.upper[d])
    return "the corners go from " + number_text(corners.front()) + " to " +
        number_text(corners.back()) + "; allowed: from lower, " + number_text(problem.lower[d]) +
        ", to upper, " + number_text(problem.upper[d]);
  double smallest = std::numeric_limits<double>::max(), largest = 0.;
  for (std::int64_t i = 0; i < problem.cells(d); ++i)
  {
    const double begin = problem.corner(d, i), end = problem.corner(d, i + 1),
                 middle = begin + 0.5 * (end - begin);
    // Points within a cell must differ from its ends.
    if (!(begin < middle && middle < end))
      return "a cell goes from " + number_text(begin) + " to " + number_text(end) +
          "; allowed: cells with numbers of double precision between their ends";
    smallest = std::min(smallest, end - begin);
    largest = std::max(largest, end - begin);
  }
  if (!(largest <= most_graded * smallest))
    return "the sizes of cells go from " + number_text(smallest) + " to " + number_text(largest) +
        "; allowed: the largest at most " + number_text(most_graded) + " times the smallest";
  return "";
}

Grid make_grid(const Problem &problem, MPI_Comm communicator, const Division &division)
{
  Grid grid;
  grid.problem = problem;
  grid.division = division;
  grid.communicator = communicator;
  MPI_Comm_rank(communicator, &grid.rank);
  MPI_Comm_size(communicator, &grid.n_ranks);
  const std::vector<LevelShape> shapes = level_shapes(problem);
  const int finest = static_cast<int>(shapes.size()) - 1;
  grid.ranks_per_direction = divide(problem, shapes, grid.n_ranks, division);
  const auto &parts = grid.ranks_per_direction;
  const int coarsest_distributed = find_coarsest_distributed(problem, shapes, parts, division);
  const bool serial = grid.n_ranks == 1;

  const std::array<int, 3> part{0, grid.rank % parts[1], grid.rank / parts[1]};
  for (int level = 0; level <= finest; ++level)
  {
    LevelGrid l;
    l.global_cells = shapes[level].cells;
    l.exact = shapes[level].exact;
    for (int d = 0; d < problem.dim; ++d)
      l.axis[d] = level_axis(problem, d, l.global_cells[d]);
    l.replicated = !serial && level < coarsest_distributed;
    const bool divided = !serial && !l.replicated;
    l.communicator = divided ? communicator : MPI_COMM_SELF;
    std::array<std::int64_t, 3> cells = l.global_cells;
    for (int d = 0; d < problem.dim; ++d)
      if (divided && parts[d] > 1)
      {
        const int border_level = std::max(coarsest_distributed - 1, 0);
        const std::int64_t coarse = shapes[border_level].cells[d];
        const std::int64_t ratio = l.global_cells[d] / coarse;
        l.offset[d] = first_cell(coarse, part[d], parts[d]) * ratio;
        cells[d] = first_cell(coarse, part[d] + 1, parts[d]) * ratio - l.offset[d];
      }
    l.block = Block(problem.dim, problem.degree, cells);
    set_sides(l, problem, parts, part, divided, grid.rank);
    grid.levels.push_back(l);
  }
  return grid;
}
} // namespace tensormg
