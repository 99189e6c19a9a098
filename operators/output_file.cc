#include "operators/output_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace tensormg
{
OutputFile::OutputFile(const std::string &path)
  : path_(path)
  , temporary_(path + ".part")
  , buffer_(1 << 20)
  , stream_(this)
{
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0)
    fail(errno);
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

OutputFile::~OutputFile()
{
  if (file_ >= 0)
    ::close(file_);
  if (!complete_)
    ::unlink(temporary_.c_str());
}

void OutputFile::write(const std::function<void(std::ostream &)> &write)
{
  try
  {
    write(stream_);
    stream_.flush();
  }
  catch (...)
  {
    if (error_ != 0)
      fail(error_);
    throw;
  }
  if (error_ != 0)
    fail(error_);
  if (::close(std::exchange(file_, -1)) != 0)
    fail(errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(errno);
  complete_ = true;
}

int OutputFile::overflow(int character)
{
  const char *begin = pbase();
  while (begin != pptr())
  {
    const ssize_t written = ::write(file_, begin, pptr() - begin);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
    {
      if (error_ == 0)
        error_ = errno;
      return traits_type::eof();
    }
    begin += written;
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  if (!traits_type::eq_int_type(character, traits_type::eof()))
    sputc(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

int OutputFile::sync() { return overflow(traits_type::eof()) == traits_type::eof() ? -1 : 0; }

void OutputFile::fail(int error) const
{
  throw std::system_error(error, std::generic_category(), "cannot write " + path_);
}
} // namespace tensormg
