// What all ranks do, or none: a failure of one is that of all.
#pragma once

#include <functional>
#include <string>

#include <mpi.h>

namespace tensormg
{
/// A text of one rank on all ranks.
std::string broadcast(std::string text, int from, MPI_Comm communicator);

/// Runs `action` if `active`, and afterwards throws on all ranks if it has thrown on one of them: there what it has
/// thrown, elsewhere std::runtime_error with the words of the first one that failed. `path`: what is written. Collective.
void run_together(MPI_Comm communicator, bool active, const std::string &path,
    const std::function<void()> &action);

/// The same for what is checked or evaluated: what is thrown elsewhere begins with the rank that failed, and is ArgumentError if that
/// one has thrown std::invalid_argument. Collective; on a rank alone it only runs `action`.
void check_together(MPI_Comm communicator, const std::function<void()> &action);
} // namespace tensormg
