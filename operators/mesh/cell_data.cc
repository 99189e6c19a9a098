#include "operators/mesh/cell_data.h"

#include <mpi.h>

#include "operators/mesh/grid.h"

namespace tensormg
{
std::int64_t CellArray::size(const Block &block)
{
  constexpr std::int64_t widest_load =
      16; // vectors are loaded from the place of a cell on, also of the last
  const std::int64_t around = block.dim == 3 ? 2 : 0;
  return (block.pitch + 2) * (block.cells[1] + 2) * (block.cells[2] + around) + widest_load;
}

CellArray::CellArray(const Block &block)
  : row_(block.pitch + 2)
  , plane_(row_ * (block.cells[1] + 2))
  , first_(1 + row_ + (block.dim == 3 ? plane_ : 0))
  , numbers_(static_cast<std::size_t>(size(block)), 1.)
{}

void CellArray::close(const LevelGrid &level)
{
  const Block &block = level.block;
  const std::int64_t end = block.cells[0];
  for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
    for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
    {
      const bool wraps = level.sides[0] == Side::wrap;
      (*this)(-1, cy, cz) = (*this)(wraps ? end - 1 : 0, cy, cz);
      (*this)(end, cy, cz) = (*this)(wraps ? 0 : end - 1, cy, cz);
    }
  for (int d = 1; d < block.dim; ++d)
    close_between(level, d);
}

void CellArray::close_between(const LevelGrid &level, int d)
{
  const Block &block = level.block;
  const std::int64_t rows = block.cells[3 - d], end = block.cells[d], length = block.cells[0];
  std::vector<double> buffer(static_cast<std::size_t>(rows * length)), received(buffer.size());
  const auto at = [&](std::int64_t layer, std::int64_t r, std::int64_t cx) -> double & {
    return d == 1 ? (*this)(cx, layer, r) : (*this)(cx, r, layer);
  };
  const auto for_layer = [&](std::int64_t layer, auto &&use) {
    std::size_t i = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t cx = 0; cx < length; ++cx)
        use(at(layer, r, cx), i++);
  };
  int rank = 0;
  MPI_Comm_rank(level.communicator, &rank);
  const auto partner = [&](int side) {
    return level.sides[side] == Side::ghost && level.communicator != MPI_COMM_SELF
        ? level.neighbour[side]
        : MPI_PROC_NULL;
  };
  // Up: the last layer becomes the one before the first of the upper neighbour; and down.
  for (const bool up : {true, false})
  {
    const int to = 2 * d + (up ? 1 : 0), from = 2 * d + (up ? 0 : 1);
    for_layer(up ? end - 1 : 0, [&](double number, std::size_t i) { buffer[i] = number; });
    const bool is_own = level.sides[from] == Side::ghost && partner(from) == MPI_PROC_NULL;
    MPI_Sendrecv(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, partner(to), d,
        received.data(), static_cast<int>(received.size()), MPI_DOUBLE, partner(from), d,
        level.communicator, MPI_STATUS_IGNORE);
    if (is_own)
      received = buffer;
    else if (level.sides[from] != Side::ghost) // the layer at that side itself
      for_layer(up ? 0 : end - 1, [&](double number, std::size_t i) { received[i] = number; });
    for_layer(up ? -1 : end, [&](double &number, std::size_t i) { number = received[i]; });
  }
}
} // namespace tensormg
