// A file that is there when it is complete, or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

namespace tensormg
{
/// A file that appears under its name only when it is complete. Until then it has a name of its own in the same folder,
/// which no other run uses: whoever writes the same file at the same time, what is there in the end is wholly one's.
/// std::ofstream would lose the reason of a failure, which this keeps from the first failing system call.
class OutputFile : private std::streambuf
{
public:
  /// Opens the file under its temporary name. std::system_error with the path and the system's reason if that fails.
  explicit OutputFile(const std::string &path);
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile() override;

  /// fill() and publish().
  void write(const std::function<void(std::ostream &)> &write);
  /// Calls write(stream), after which the file is complete. std::system_error if anything fails.
  void fill(const std::function<void(std::ostream &)> &write);
  /// Gives the file its name.
  void publish();

private:
  int overflow(int character) override;
  int sync() override;
  [[noreturn]] void fail(int error) const;

  std::string path_;
  std::string temporary_;
  std::vector<char> buffer_;
  std::ostream stream_;
  int file_ = -1;
  int error_ = 0;
  bool complete_ = false;
};

/// A name in the same folder for what is not complete yet, each time another one.
std::string partial_path(const std::string &path);

/// Removes what killed runs have left of files in this folder. Nobody else may be writing there.
void remove_partial_files(const std::filesystem::path &folder);

/// Why no file can get this name, in the system's words; empty if one can. Leaves nothing behind, and a file that is
/// there as it is.
std::string trouble_with_file(const std::filesystem::path &path);
} // namespace tensormg
