// A solution in one file, or in one piece of each rank and a record of the pieces.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "operators/output/field_output.h"
#include "operators/output/output_file.h"
#include "operators/output/stale_files.h"
#include "operators/output/together.h"

namespace tensormg
{
/// base + ".vtu"; of more than one piece base + ".pvtu" and the pieces base + ".RANK.vtu".
std::vector<std::string> field_files(int n_pieces, const std::string &base);

/// With what FieldWriter has. Collective: all ranks throw if one fails. n_pieces = 1: what the first rank has.
template <typename Writer>
FieldOutput write_in_pieces(
    Writer &writer, MPI_Comm communicator, int n_pieces, const std::string &base)
{
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const std::vector<std::string> files = field_files(n_pieces, base);
  const std::string &path = files.front();
  run_together(communicator, true, path, [&] { writer.measure(); });
  writer.choose_numbers(communicator);

  const bool has_piece = n_pieces > 1 || rank == 0;
  std::optional<OutputFile> piece;
  run_together(communicator, has_piece, path, [&] {
    piece.emplace(n_pieces > 1 ? files[static_cast<std::size_t>(rank) + 1] : path);
    writer.write_piece(*piece);
  });
  // Only now, so that there are never pieces of two solutions, nor a record of pieces that are not there.
  run_together(communicator, has_piece, path, [&] { piece->publish(); });
  run_together(communicator, rank == 0, path, [&] {
    if (n_pieces > 1)
      writer.write_record(path, {files.begin() + 1, files.end()});
    remove_stale_files(base, n_pieces);
  });
  return {path, writer.fields_in_double()};
}
} // namespace tensormg
