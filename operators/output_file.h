// A file that is there when it is complete, or not at all.
#pragma once

#include <functional>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

namespace tensormg
{
/// A file that appears under its name only when it is complete. std::ofstream would lose the reason of a failure, which
/// this keeps from the first failing system call.
class OutputFile : private std::streambuf
{
public:
  /// Opens path + ".part". std::system_error with the path and the system's reason if that fails.
  explicit OutputFile(const std::string &path);
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile() override;

  /// Calls write(stream) and gives the file its name. std::system_error if anything fails.
  void write(const std::function<void(std::ostream &)> &write);

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
} // namespace tensormg
