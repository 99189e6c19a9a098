// Arrays of numbers in files of NumPy (.npy).
// Source: "NEP 1 - A simple file format for NumPy arrays", and numpy.lib.format.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensormg
{
/// The bytes before the numbers of an array of float64 of this shape, in C order.
std::string npy_head(const std::vector<std::int64_t> &shape);

/// A file that cannot be used, or not as it is used here. what(): the file, what is wrong, and what is allowed.
class DataFileError : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/// The numbers of a .npy file, in the memory of which only what is read: the file is mapped, and must not be shortened as
/// long as that is so (a new one may take its name). Any number of threads may read.
class NpyArray
{
public:
  /// Throws DataFileError unless this is a complete file of one of these types, in little-endian bytes and C order.
  explicit NpyArray(const std::string &path);
  NpyArray(const NpyArray &) = delete;
  NpyArray &operator=(const NpyArray &) = delete;
  ~NpyArray();

  const std::string &path() const { return path_; }
  const std::vector<std::int64_t> &shape() const { return shape_; }
  std::string shape_text() const; ///< "(3, 4)"
  std::int64_t size() const { return size_; }
  std::string type_text() const; ///< "float64", ...
  bool has_integers() const { return type_ != Type::float32 && type_ != Type::float64; }

  /// The number at this place, in C order.
  double operator[](std::int64_t i) const
  {
    switch (type_)
    {
      case Type::float64:
        return number<double>(i);
      case Type::float32:
        return number<float>(i);
      case Type::uint8:
        return number<std::uint8_t>(i);
      case Type::uint16:
        return number<std::uint16_t>(i);
      default:
        return number<std::int32_t>(i);
    }
  }

private:
  enum class Type : std::uint8_t
  {
    float64,
    float32,
    uint8,
    uint16,
    int32
  };
  /// As NumPy writes it, its name, and the bytes of a number; in the order of Type.
  struct TypeTraits
  {
    const char *code, *name;
    std::size_t bytes;
  };
  static constexpr std::array<TypeTraits, 5> types{
      {{"'<f8'", "float64", 8}, {"'<f4'", "float32", 4}, {"'|u1'", "uint8", 1},
          {"'<u2'", "uint16", 2}, {"'<i4'", "int32", 4}}};
  const TypeTraits &traits() const { return types[static_cast<std::size_t>(type_)]; }

  // The begin of the numbers need not be aligned.
  template <typename Number>
  Number number(std::int64_t i) const
  {
    Number value;
    std::memcpy(&value, numbers_ + i * std::int64_t(sizeof(Number)), sizeof(Number));
    return value;
  }
  [[noreturn]] void fail(const std::string &reason) const;
  void map();
  std::string header(std::size_t &end) const;
  void read_header(const std::string &text);

  std::string path_;
  std::vector<std::int64_t> shape_;
  std::int64_t size_ = 1;
  Type type_ = Type::float64;
  const char *file_ = nullptr; ///< mapped
  std::size_t bytes_ = 0;
  const char *numbers_ = nullptr;
};
} // namespace tensormg
