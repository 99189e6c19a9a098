#include "operators/output/shared_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "operators/output/output_file.h"
#include "operators/output/together.h"

namespace tensormg
{
SharedFile::SharedFile(std::string path, MPI_Comm communicator)
  : path_(std::move(path))
  , communicator_(communicator)
{
  MPI_Comm_rank(communicator, &rank_);
  run_together(communicator_, rank_ == 0, path_, [&] { create(); });
  temporary_ = broadcast(temporary_, 0, communicator_);
  try
  {
    run_together(communicator_, rank_ != 0, path_, [&] {
      file_ = ::open(temporary_.c_str(), O_WRONLY | O_CLOEXEC);
      if (file_ < 0)
        fail(errno);
    });
  }
  catch (...)
  {
    close();
    throw;
  }
}

SharedFile::~SharedFile() { close(); }

void SharedFile::create()
{
  do
  {
    temporary_ = partial_path(path_);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  while (file_ < 0 && errno == EEXIST);
  if (file_ < 0)
    fail(errno);
  is_mine_ = true;
}

void SharedFile::write(std::int64_t offset, const void *bytes, std::size_t count)
{
  const char *begin = static_cast<const char *>(bytes);
  const char *const end = begin + count;
  while (begin != end)
  {
    const ssize_t written =
        ::pwrite(file_, begin, static_cast<std::size_t>(end - begin), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      fail(errno);
    begin += written;
    offset += written;
  }
}

void SharedFile::publish()
{
  // Some file systems tell of a full disk only now.
  run_together(communicator_, true, path_, [&] {
    if (::close(std::exchange(file_, -1)) != 0)
      fail(errno);
  });
  run_together(communicator_, rank_ == 0, path_, [&] {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
      fail(errno);
    is_mine_ = false;
  });
}

void SharedFile::close()
{
  if (file_ >= 0)
    ::close(std::exchange(file_, -1));
  if (std::exchange(is_mine_, false))
    ::unlink(temporary_.c_str());
}

void SharedFile::fail(int error) const
{
  throw std::system_error(error, std::generic_category(), "cannot write " + path_);
}
} // namespace tensormg
