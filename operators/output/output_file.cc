#include "operators/output/output_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tensormg
{
namespace
{
  constexpr std::string_view partial_begin = "tensormg-", partial_end = ".part";
  constexpr std::size_t n_digits = 16;

  /// Not made of the file's name, which may be as long as the system allows.
  std::string partial_name()
  {
    std::random_device random;
    std::array<char, n_digits + 1> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x%08x", static_cast<unsigned int>(random()),
        static_cast<unsigned int>(random()));
    return std::string(partial_begin) + digits.data() + std::string(partial_end);
  }

  bool is_partial_name(std::string_view name)
  {
    if (!name.starts_with(partial_begin) || !name.ends_with(partial_end) ||
        name.size() != partial_begin.size() + n_digits + partial_end.size())
      return false;
    name.remove_prefix(partial_begin.size());
    name.remove_suffix(partial_end.size());
    return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  }

  /// Opens a file that has not been there; -1 with errno if that fails.
  int create(const std::string &path)
  {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
} // namespace

std::string partial_path(const std::string &path)
{
  return std::filesystem::path(path).replace_filename(partial_name()).string();
}

OutputFile::OutputFile(const std::string &path)
  : path_(path)
  , buffer_(1 << 20)
  , stream_(this)
{
  do
  {
    temporary_ = partial_path(path);
    file_ = create(temporary_);
  }
  while (file_ < 0 && errno == EEXIST);
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
  fill(write);
  publish();
}

void OutputFile::fill(const std::function<void(std::ostream &)> &write)
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
}

void OutputFile::publish()
{
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

void remove_partial_files(const std::filesystem::path &folder)
{
  std::error_code ignored;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(folder, ignored), end; entry != end;
       entry.increment(ignored))
    if (is_partial_name(entry->path().filename().string()))
      files.push_back(entry->path());
  for (const std::filesystem::path &file : files)
    if (std::filesystem::is_regular_file(std::filesystem::symlink_status(file, ignored)))
      std::filesystem::remove(file, ignored);
}

std::string trouble_with_file(const std::filesystem::path &path)
{
  const auto words = [](int error) { return std::generic_category().message(error); };
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0)
    return S_ISDIR(status.st_mode) ? words(EISDIR) : "";
  if (errno != ENOENT)
    return words(errno);
  // Only the file system itself knows which names it takes.
  const int file = create(path.string());
  if (file < 0)
    return errno == EEXIST ? "" : words(errno);
  ::close(file);
  ::unlink(path.c_str());
  return "";
}
} // namespace tensormg
