#include "apps/common/output_directory.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/parameters/parameters.h"
#include "operators/output/output_file.h"

namespace tensormg
{
namespace
{
  std::string system_message(int error) { return std::generic_category().message(error); }

  /// A string of rank 0 on every rank.
  std::string from_first_rank(std::string text, MPI_Comm communicator)
  {
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, communicator);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, 0, communicator);
    return text;
  }

  std::string host_name()
  {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
  }

  /// Who holds a claim, as its file says.
  struct Holder
  {
    long process = 0; ///< 0: unknown, e.g. because it is just about to write this
    std::string host;

    bool is_gone() const
    {
      return process == 0 ||
          (host == host_name() && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH);
    }
    std::string text() const
    {
      return process == 0 ? "another run"
                          : "another run (process " + std::to_string(process) + " on " + host + ")";
    }
  };

  Holder read_holder(const std::filesystem::path &file)
  {
    Holder holder;
    std::ifstream stream(file);
    if (!(stream >> holder.process >> holder.host))
      holder = {};
    return holder;
  }

  /// What flock() has said of a claim's file: nobody else's if that is locked, or its holder gone.
  void refuse_if_held(const std::filesystem::path &file, bool locked, bool knows_locks)
  {
    const Holder holder = read_holder(file);
    if (!locked && (knows_locks || !holder.is_gone()))
      throw std::runtime_error("is in use by " + holder.text() +
          (knows_locks ? "" : ", or was when that was killed: then remove " + file.string()));
  }
} // namespace

/// Held by flock(), which ends with the process, however that ends. Where the file system has none, the file's content
/// tells.
class DirectoryLock
{
public:
  /// std::runtime_error with what is in the way.
  explicit DirectoryLock(std::filesystem::path file)
    : path_(std::move(file))
  {
    while (!acquire())
      ;
    const std::string text = std::to_string(::getpid()) + ' ' + host_name() + '\n';
    if (::ftruncate(file_, 0) != 0 ||
        ::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    {
      const int error = errno;
      release();
      throw std::runtime_error("cannot be written to (" + system_message(error) + ")");
    }
  }
  ~DirectoryLock() { release(); }
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  /// False if the file was removed meanwhile by the one who held it.
  bool acquire()
  {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0)
      throw std::runtime_error(
          "cannot be claimed by " + path_.string() + " (" + system_message(errno) + ")");
    const bool locked = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    const bool knows_locks = locked || errno == EWOULDBLOCK;
    try
    {
      refuse_if_held(path_, locked, knows_locks);
    }
    catch (...)
    {
      ::close(std::exchange(file_, -1));
      throw;
    }
    struct stat mine = {}, there = {};
    if (::fstat(file_, &mine) == 0 && ::stat(path_.c_str(), &there) == 0 &&
        mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
      return true;
    ::close(std::exchange(file_, -1));
    return false;
  }

  void release()
  {
    if (file_ < 0)
      return;
    ::unlink(path_.c_str());
    ::close(std::exchange(file_, -1));
  }

  std::filesystem::path path_;
  int file_ = -1;
};

namespace
{
  /// The claim of this process on a directory, new or the one that it has.
  std::shared_ptr<const DirectoryLock> claim(const std::filesystem::path &directory)
  {
    static std::map<std::pair<dev_t, ino_t>, std::weak_ptr<const DirectoryLock>> claims;
    struct stat status = {};
    if (::stat(directory.c_str(), &status) != 0)
      throw std::runtime_error("cannot be read (" + system_message(errno) + ")");
    std::weak_ptr<const DirectoryLock> &known = claims[{status.st_dev, status.st_ino}];
    std::shared_ptr<const DirectoryLock> lock = known.lock();
    if (!lock)
    {
      lock = std::make_shared<const DirectoryLock>(directory / lock_name);
      known = lock;
      remove_partial_files(directory);
    }
    return lock;
  }

  /// The path, or of the folders above it the nearest one that is there.
  std::filesystem::path existing_part(const std::filesystem::path &path)
  {
    std::filesystem::path part = std::filesystem::absolute(path);
    std::error_code ignored;
    while (!std::filesystem::exists(part, ignored) && part.has_relative_path())
      part = part.parent_path();
    return part;
  }

  /// A lock that is shared, and for a moment, so that of two who look none is in the way of the other.
  void refuse_if_held(const std::filesystem::path &file)
  {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
      return;
    const bool locked = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
    const bool knows_locks = locked || errno == EWOULDBLOCK;
    ::close(descriptor);
    refuse_if_held(file, locked, knows_locks);
  }

  [[noreturn]] void fail(const std::filesystem::path &directory, const std::string &complaint)
  {
    throw ParameterError("output.directory = '" + directory.string() + "' " + complaint +
        "; allowed: a directory that can be created and written to, and that no other run uses");
  }
} // namespace

std::string complaint_of_first_rank(MPI_Comm communicator, const std::function<void()> &action)
{
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  std::string complaint;
  if (rank == 0)
    try
    {
      action();
    }
    catch (const std::exception &error)
    {
      complaint = error.what();
    }
  return from_first_rank(complaint, communicator);
}

void on_first_rank(MPI_Comm communicator, const std::function<void()> &action)
{
  const std::string complaint = complaint_of_first_rank(communicator, action);
  if (!complaint.empty())
    throw std::runtime_error(complaint);
}

void prepare_directory(const std::filesystem::path &directory, MPI_Comm communicator)
{
  const std::string complaint = complaint_of_first_rank(communicator, [&] {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error)
      throw std::runtime_error("cannot be created (" + error.message() + ")");
    if (!std::filesystem::is_directory(directory))
      throw std::runtime_error("is not a directory");
    try
    {
      const OutputFile probe((directory / "probe").string()); // is never complete
    }
    catch (const std::system_error &trouble)
    {
      throw std::runtime_error("cannot be written to (" + trouble.code().message() + ")");
    }
  });
  if (!complaint.empty())
    fail(directory, complaint);
}

OutputDirectory::OutputDirectory(const std::filesystem::path &directory, MPI_Comm communicator)
{
  prepare_directory(directory, communicator);
  const std::string complaint =
      complaint_of_first_rank(communicator, [&] { lock_ = claim(directory); });
  if (!complaint.empty())
    fail(directory, complaint);
}

void foresee_directory(const std::filesystem::path &directory, MPI_Comm communicator)
{
  const std::string complaint = complaint_of_first_rank(communicator, [&] {
    const std::filesystem::path part = existing_part(directory);
    const bool is_there = std::filesystem::exists(directory);
    if (!std::filesystem::is_directory(part))
      throw std::runtime_error(
          is_there ? "is not a directory" : "cannot be created (" + system_message(ENOTDIR) + ")");
    if (::faccessat(AT_FDCWD, part.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
      throw std::runtime_error((is_there ? "cannot be written to (" : "cannot be created (") +
          system_message(errno) + ")");
    refuse_if_held(directory / lock_name);
  });
  if (!complaint.empty())
    fail(directory, complaint);
}

std::string foreseen_trouble_with_file(const std::filesystem::path &path)
{
  // Names that are too long are so in every folder.
  const std::filesystem::path folder = existing_part(path.parent_path());
  struct stat status = {};
  if (::lstat((folder / path.filename()).c_str(), &status) != 0)
    return errno == ENOENT ? "" : system_message(errno);
  const bool is_it = std::filesystem::exists(path.parent_path());
  return is_it && S_ISDIR(status.st_mode) ? system_message(EISDIR) : "";
}
} // namespace tensormg
