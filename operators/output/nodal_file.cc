#include "operators/output/nodal_file.h"

#include <cstddef>
#include <filesystem>

#include "kernels/basis/make_cell_basis.h"
#include "operators/data/npy_array.h"
#include "operators/data/tensor_rule.h"
#include "operators/output/shared_file.h"
#include "operators/output/together.h"

namespace tensormg
{
namespace
{
  /// The values of cells that follow each other in the file, which are written together.
  class Run
  {
  public:
    Run(SharedFile &file, std::int64_t begin_of_numbers)
      : file_(file)
      , begin_(begin_of_numbers)
    {}

    /// The values of the cells of a tile from cell number `cell` on, [node][cell].
    void add(std::int64_t cell, std::int64_t count, const std::vector<double> &values)
    {
      constexpr std::size_t most_numbers = std::size_t(1) << 17; // 1 MiB
      const auto dofs = static_cast<std::int64_t>(values.size()) / count;
      const std::int64_t first = cell * dofs;
      if (first != first_ + static_cast<std::int64_t>(numbers_.size()) ||
          numbers_.size() + values.size() > most_numbers)
      {
        write();
        first_ = first;
      }
      for (std::int64_t c = 0; c < count; ++c)
        for (std::int64_t node = 0; node < dofs; ++node)
          numbers_.push_back(values[static_cast<std::size_t>(node * count + c)]);
    }

    void write()
    {
      constexpr std::int64_t bytes = sizeof(double);
      file_.write(begin_ + bytes * first_, numbers_.data(), numbers_.size() * sizeof(double));
      numbers_.clear();
    }

  private:
    SharedFile &file_;
    std::int64_t begin_;
    std::int64_t first_ = 0; ///< number of numbers_[0] among all
    std::vector<double> numbers_;
  };

  void write_cells(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u,
      std::int64_t begin_of_numbers, SharedFile &file)
  {
    const TensorRule rule = tensor_rule(grid.block, gauss_rule(basis, basis.n));
    const auto &cells = grid.global_cells;
    TileEvaluator evaluator;
    std::vector<double> values;
    Run run(file, begin_of_numbers);
    for_each_tile(all_cells(grid.block), rule, [&](const Tile &tile) {
      evaluator.evaluate(u, rule, tile, -1, values);
      const std::int64_t row = (grid.offset[2] + tile.cz) * cells[1] + grid.offset[1] + tile.cy;
      run.add(row * cells[0] + grid.offset[0] + tile.cx, tile.count, values);
    });
    run.write();
  }
} // namespace

std::vector<std::int64_t> nodal_shape(const Grid &grid)
{
  const LevelGrid &level = grid.finest();
  std::vector<std::int64_t> shape;
  for (int d = level.block.dim; d-- > 0;)
    shape.push_back(level.global_cells[d]);
  shape.insert(shape.end(), static_cast<std::size_t>(level.block.dim), level.block.n);
  return shape;
}

std::vector<double> nodes_of_file(int degree)
{
  return gauss_rule(make_cell_basis(degree), degree + 1).points;
}

void write_nodal_file(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
    const std::string &path, const std::string &about)
{
  const std::string head = npy_head(nodal_shape(grid));
  SharedFile file(path, grid.communicator);
  // Of ranks with copies of the same cells the first one writes.
  run_together(grid.communicator, grid.rank == 0 || !grid.finest().replicated, path, [&] {
    if (grid.rank == 0)
      file.write(0, head.data(), head.size());
    write_cells(grid.finest(), basis, u, static_cast<std::int64_t>(head.size()), file);
  });
  run_together(grid.communicator, grid.rank == 0 && !about.empty(), path,
      [&] { std::filesystem::remove(about); });
  file.publish();
}
} // namespace tensormg
