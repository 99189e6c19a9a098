// The solution and what belongs to it as VTU files: the part of one rank, and the record of all parts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "kernels/basis/cell_basis.h"
#include "operators/data/functions.h"
#include "operators/data/tensor_rule.h"
#include "operators/mesh/grid.h"
#include "operators/output/field_output.h"
#include "operators/output/output_file.h"
#include "operators/output/vtu_file.h"
#include "operators/output/vtu_shape.h"
#include "operators/vectors/vector.h"
#include "tensormg/problem.h"

namespace tensormg
{
std::int64_t n_cells(const CellRange &range);

/// The fields at the equidistant points of cells. Points are in double precision, a field in single where that shows it.
class FieldWriter
{
public:
  /// For the local cells of this range of the finest level.
  FieldWriter(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
      const CellRange &cells, const FieldOutputOptions &options);

  /// Finds out how large this rank's values are.
  void measure();
  /// Chooses the numbers in which the fields are written, on all ranks alike. Collective.
  void choose_numbers(MPI_Comm communicator);
  /// Those that are not in single precision.
  std::vector<std::string> fields_in_double() const;

  /// This rank's cells. The file is then complete, but has not its name yet.
  void write_piece(OutputFile &file);
  /// The file that makes one data set of the pieces, which it names relative to its own folder.
  void write_record(const std::string &path, const std::vector<std::string> &pieces) const;

private:
  struct Field : VtuField
  {
    /// A component at the points of a tile.
    using Values = std::function<void(const Tile &, int component, std::vector<double> &)>;

    Field(std::string name_, Values values_, int components_ = 1)
      : values(std::move(values_))
    {
      name = std::move(name_);
      components = components_;
    }
    Values values;
  };

  std::vector<Field> make_fields(const FieldOutputOptions &options);
  Field::Values gradient_values(bool is_flux);
  int points_per_cell() const;
  template <typename Use>
  void for_each_value(const Field &field, const Use &use);
  void visit_points(const std::function<void(double)> &use);

  const LevelGrid &grid_;
  CellRange cells_;
  const Problem &problem_;
  TensorRule rule_;
  VtuShape shape_;
  int rank_;
  bool all_in_double_;
  bool converged_;
  const Vector<double> &u_;
  std::unique_ptr<const ScalarFunction> exact_;
  double shift_ = 0.;
  TileEvaluator evaluator_;
  TilePoints points_;
  std::vector<double> other_;
  std::vector<Field> fields_;
};
} // namespace tensormg
