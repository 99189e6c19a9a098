// The log of a run: what appears on the screen, in a file that grows with it.
#pragma once

#include <filesystem>
#include <string>

#include <mpi.h>

namespace tensormg
{
/// The message about a log that cannot be written for this reason.
std::string complaint_about_log(const std::string &name, const std::string &reason);

/// Appends finished text by one write each, so that the file can be read while the run goes on, and after whatever ended
/// it. Trouble while it grows, as with a disk that is full, is said once on standard error: no reason to lose the run.
class LogFile
{
public:
  /// None.
  LogFile() = default;
  /// Empties the file. Throws ParameterError on every rank if that cannot be. Collective.
  LogFile(const std::filesystem::path &path, MPI_Comm communicator);
  LogFile(const LogFile &) = delete;
  LogFile &operator=(const LogFile &) = delete;
  LogFile(LogFile &&other) noexcept;
  LogFile &operator=(LogFile &&other) noexcept;
  ~LogFile();

  /// Any rank may call this; without a file it does nothing.
  void write(const std::string &text);

private:
  std::filesystem::path path_;
  int file_ = -1; ///< of the ranks that have written
};
} // namespace tensormg
