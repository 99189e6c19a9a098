// One file of all ranks that is there when it is complete, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <mpi.h>

namespace tensormg
{
/// Every rank writes bytes of its own into one file, which gets its name when all have done so; until then it has the
/// name of an incomplete one (operators/output/output_file.h). On several machines the file system has to be one that
/// all see and that keeps the bytes of every writer, as those of clusters do.
class SharedFile
{
public:
  /// Rank 0 creates the file. Collective: if that fails, all ranks throw as run_together() says.
  SharedFile(std::string path, MPI_Comm communicator);
  SharedFile(const SharedFile &) = delete;
  SharedFile &operator=(const SharedFile &) = delete;
  ~SharedFile();

  const std::string &path() const { return path_; }
  /// Puts bytes at this place of the file. Local; std::system_error with the path and the system's reason if that fails.
  void write(std::int64_t offset, const void *bytes, std::size_t count);
  /// Gives the file its name; all ranks have written. Collective, as the constructor.
  void publish();

private:
  [[noreturn]] void fail(int error) const;
  void create();
  void close();

  std::string path_;
  std::string temporary_;
  MPI_Comm communicator_;
  int rank_ = 0;
  int file_ = -1;
  bool is_mine_ = false; ///< created here, and not renamed yet
};
} // namespace tensormg
