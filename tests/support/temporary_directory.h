// A directory that lives as long as a test, and what stands in its files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <mpi.h>

namespace tensormg::test
{
/// Removed with its contents at the end. With a communicator all ranks share the one of rank 0; without MPI it is of one process.
class TemporaryDirectory
{
public:
  explicit TemporaryDirectory(MPI_Comm communicator = MPI_COMM_SELF)
    : communicator_(communicator)
  {
    int has_mpi = 0;
    MPI_Initialized(&has_mpi);
    has_mpi_ = has_mpi != 0;
    if (has_mpi_)
      MPI_Comm_rank(communicator, &rank_);
    std::string pattern = (std::filesystem::temp_directory_path() / "tensormg_XXXXXX").string();
    if (rank_ == 0 && ::mkdtemp(pattern.data()) == nullptr)
      pattern = ".";
    if (has_mpi_)
      MPI_Bcast(pattern.data(), static_cast<int>(pattern.size()), MPI_CHAR, 0, communicator);
    path_ = pattern;
  }
  ~TemporaryDirectory()
  {
    if (has_mpi_)
      MPI_Barrier(communicator_);
    std::error_code ignored;
    if (rank_ == 0 && path_ != ".")
      std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  const std::filesystem::path &path() const { return path_; }
  std::filesystem::path operator/(const std::string &name) const { return path_ / name; }

private:
  MPI_Comm communicator_;
  bool has_mpi_ = false;
  int rank_ = 0;
  std::filesystem::path path_;
};

inline std::string content(const std::filesystem::path &file)
{
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline void write(const std::filesystem::path &file, const std::string &text)
{
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}
} // namespace tensormg::test
