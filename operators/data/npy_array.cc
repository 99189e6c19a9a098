#include "operators/data/npy_array.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "operators/data/short_text.h"

namespace tensormg
{
namespace
{
  static_assert(std::endian::native == std::endian::little, "numbers of files are little-endian");

  constexpr std::string_view magic{"\x93NUMPY", 6};
  constexpr std::size_t versioned = 8; ///< magic and two bytes of the version

  constexpr const char *allowed =
      "; allowed: a .npy file of float32 or float64, or of labels in uint8, uint16 or int32, little-endian and in C order, "
      "as numpy.save() writes numpy.ascontiguousarray(array)";

  std::string tuple_text(const std::vector<std::int64_t> &shape)
  {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
      text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
  }

  std::string_view without_blanks(std::string_view text)
  {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n'))
      text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n'))
      text.remove_suffix(1);
    return text;
  }

  /// What stands behind 'KEY': in Python's text of a dictionary, up to the comma outside of brackets; nothing without one.
  std::optional<std::string_view> value_of(std::string_view text, const std::string &key)
  {
    const std::size_t at = text.find('\'' + key + '\'');
    if (at == std::string_view::npos)
      return std::nullopt;
    const std::size_t colon = text.find(':', at);
    if (colon == std::string_view::npos)
      return std::nullopt;
    int depth = 0;
    for (std::size_t i = colon + 1; i < text.size(); ++i)
    {
      if (depth == 0 && (text[i] == ',' || text[i] == '}'))
        return without_blanks(text.substr(colon + 1, i - colon - 1));
      depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
    }
    return std::nullopt;
  }

  /// The numbers in "(3, 4)"; nothing for other texts.
  std::optional<std::vector<std::int64_t>> to_shape(std::string_view text)
  {
    if (text.size() < 2 || text.front() != '(' || text.back() != ')')
      return std::nullopt;
    text = without_blanks(text.substr(1, text.size() - 2));
    std::vector<std::int64_t> shape;
    while (!text.empty())
    {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || number < 0)
        return std::nullopt;
      shape.push_back(number);
      text = without_blanks(text.substr(static_cast<std::size_t>(end - text.data())));
      if (!text.empty() && text.front() != ',')
        return std::nullopt;
      text = without_blanks(text.substr(text.empty() ? 0 : 1));
    }
    return shape;
  }
} // namespace

std::string npy_head(const std::vector<std::int64_t> &shape)
{
  constexpr std::size_t alignment = 64, size_of_length = 2, bits_per_byte = 8;
  std::string text =
      "{'descr': '<f8', 'fortran_order': False, 'shape': " + tuple_text(shape) + ", }";
  const std::size_t before = versioned + size_of_length;
  const std::size_t all = (before + text.size() + 1 + alignment - 1) / alignment * alignment;
  text.resize(all - before - 1, ' ');
  text += '\n';
  return std::string(magic) + '\1' + '\0' + static_cast<char>(text.size() & 0xFFU) +
      static_cast<char>(text.size() >> bits_per_byte) + text;
}

NpyArray::NpyArray(const std::string &path)
  : path_(path)
{
  map();
  try
  {
    std::size_t end = 0;
    read_header(header(end));
    const std::size_t expected = end + static_cast<std::size_t>(size_) * traits().bytes;
    if (bytes_ != expected)
      fail("has " + std::to_string(bytes_) + " bytes, but one of shape " + shape_text() + " has " +
          std::to_string(expected) + ": it is not complete, or damaged");
    numbers_ = file_ + end;
  }
  catch (...)
  {
    ::munmap(const_cast<char *>(file_), bytes_);
    throw;
  }
}

NpyArray::~NpyArray() { ::munmap(const_cast<char *>(file_), bytes_); }

std::string NpyArray::shape_text() const { return tuple_text(shape_); }

std::string NpyArray::type_text() const { return traits().name; }

void NpyArray::fail(const std::string &reason) const
{
  throw DataFileError(path_ + ": " + reason + allowed);
}

void NpyArray::map()
{
  const auto words = [](int error) { return std::generic_category().message(error); };
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    fail("cannot be read (" + words(errno) + ")");
  struct stat status = {};
  void *address = MAP_FAILED;
  int error = ::fstat(file, &status) == 0 ? 0 : errno;
  const bool is_file = error == 0 && S_ISREG(status.st_mode);
  if (is_file && status.st_size > 0)
  {
    bytes_ = static_cast<std::size_t>(status.st_size);
    address = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
    error = address == MAP_FAILED ? errno : 0;
  }
  ::close(file);
  if (error != 0)
    fail("cannot be read (" + words(error) + ")");
  if (!is_file)
    fail(S_ISDIR(status.st_mode) ? "is a directory" : "is not a file");
  if (bytes_ == 0)
    fail("is empty");
  file_ = static_cast<const char *>(address);
}

/// The text of the header, and where it ends.
std::string NpyArray::header(std::size_t &end) const
{
  const std::string_view bytes(file_, bytes_);
  if (!bytes.starts_with(magic) || bytes_ <= versioned)
    fail("is not a .npy file");
  const int version = static_cast<unsigned char>(bytes[magic.size()]);
  if (version < 1 || version > 3)
    fail("is of version " + std::to_string(version) + " of the format");
  const std::size_t size_of_length = version == 1 ? 2 : 4;
  std::size_t length = 0;
  if (bytes_ >= versioned + size_of_length)
    std::memcpy(&length, file_ + versioned, size_of_length);
  end = versioned + size_of_length + length;
  if (length == 0 || end > bytes_)
    fail("has no complete header");
  return std::string(bytes.substr(versioned + size_of_length, length));
}

void NpyArray::read_header(const std::string &text)
{
  const auto type = value_of(text, "descr"), order = value_of(text, "fortran_order"),
             shape_of = value_of(text, "shape");
  const auto shape = shape_of ? to_shape(*shape_of) : std::nullopt;
  if (!type || !order || !shape)
    fail("has a header that cannot be read: " + cut(text));
  const auto known = std::find_if(
      types.begin(), types.end(), [&](const TypeTraits &traits) { return *type == traits.code; });
  if (known == types.end())
    fail("has numbers of type " + cut(std::string(*type)));
  if (*order != "False")
    fail("is in Fortran order");
  type_ = static_cast<Type>(known - types.begin());
  shape_ = *shape;
  // What is larger than the file is no number that can be right.
  for (const std::int64_t n : shape_)
  {
    if (n > 0 && size_ > static_cast<std::int64_t>(bytes_) / n)
      fail("is not complete: it has " + std::to_string(bytes_) + " bytes, and the shape " +
          shape_text());
    size_ *= n;
  }
}
} // namespace tensormg
