// The directory that a run writes into, which no other run may have at the same time.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <mpi.h>

namespace tensormg
{
/// Calls `action` on rank 0; an exception there becomes a std::runtime_error on every rank.
/// Collective.
void on_first_rank(MPI_Comm communicator, const std::function<void()> &action);

/// What went wrong in `action` on rank 0, on every rank; empty if nothing did. Collective.
std::string complaint_of_first_rank(MPI_Comm communicator, const std::function<void()> &action);

/// Creates the directory and those above it, and writes a file into it for a test. Throws
/// ParameterError on every rank if that is impossible. Collective.
void prepare_directory(const std::filesystem::path &directory, MPI_Comm communicator);

/// A file in the directory says as long as this lives who is writing there. A process may claim a directory several
/// times: its studies consist of runs.
class DirectoryLock;

/// prepare_directory(), and the claim on it. A second run into the same directory would mix its files with those of the
/// first, so it is refused, by a ParameterError that names the other one. What killed runs have left is removed: their
/// claims and half-written files. Collective, as its end is not.
class OutputDirectory
{
public:
  OutputDirectory(const std::filesystem::path &directory, MPI_Comm communicator);

private:
  std::shared_ptr<const DirectoryLock> lock_; ///< of the first rank
};

/// What stands against that claim, as the same ParameterError, but nothing is created, written or removed. Collective.
void foresee_directory(const std::filesystem::path &directory, MPI_Comm communicator);

/// Why no file could get this name, as far as that shows without trying; empty if nothing stands against it.
std::string foreseen_trouble_with_file(const std::filesystem::path &path);

/// The file of the claim.
inline constexpr const char *lock_name = "tensormg.lock";
} // namespace tensormg
