#include "apps/common/log_file.h"

#include <cerrno>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "apps/common/output_directory.h"
#include "apps/parameters/parameters.h"
#include "apps/parameters/text.h"

namespace tensormg
{
namespace
{
  std::string system_message(int error) { return std::generic_category().message(error); }
} // namespace

std::string complaint_about_log(const std::string &name, const std::string &reason)
{
  return "output.log_file = '" + cut(name) +
      "': this file of output.directory cannot be written (" + reason +
      "); allowed: a name that the file system takes, and that no directory has, or nothing";
}

LogFile::LogFile(const std::filesystem::path &path, MPI_Comm communicator)
  : path_(path)
{
  const std::string complaint = complaint_of_first_rank(communicator, [&] {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0)
      throw std::runtime_error(system_message(errno));
  });
  if (!complaint.empty())
    throw ParameterError(complaint_about_log(path_.filename().string(), complaint));
}

LogFile::LogFile(LogFile &&other) noexcept
  : path_(std::exchange(other.path_, {}))
  , file_(std::exchange(other.file_, -1))
{}

LogFile &LogFile::operator=(LogFile &&other) noexcept
{
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

LogFile::~LogFile()
{
  if (file_ >= 0)
    ::close(file_);
}

void LogFile::write(const std::string &text)
{
  if (path_.empty())
    return;
  // Other ranks than the first one have nothing to say but that they fail.
  if (file_ < 0)
    file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  std::size_t written = 0;
  while (file_ >= 0 && written < text.size())
  {
    const ssize_t n = ::write(file_, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      break;
    written += static_cast<std::size_t>(n);
  }
  if (written == text.size())
    return;
  std::cerr << "tensormg: warning: " + path_.string() + " is not complete (" +
          system_message(errno) + ")\n"
            << std::flush;
  path_.clear();
}
} // namespace tensormg
