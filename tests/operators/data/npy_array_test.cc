// Files of NumPy: what is written is read back, and every kind of damage is told.
#include "operators/data/npy_array.h"

#include <cstring>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  std::string bytes(const std::vector<Number> &numbers)
  {
    std::string text(numbers.size() * sizeof(Number), '\0');
    if (!numbers.empty())
      std::memcpy(text.data(), numbers.data(), text.size());
    return text;
  }

  /// As numpy.save() writes it, with this dictionary.
  std::string file(const std::string &dictionary, const std::string &numbers, char version = 1)
  {
    std::string text = "\x93NUMPY" + std::string{version, '\0'};
    text += static_cast<char>(dictionary.size());
    text += std::string(version == 1 ? 1 : 3, '\0');
    return text + dictionary + numbers;
  }

  class NpyArrays : public testing::Test
  {
  protected:
    std::string put(const std::string &text) const
    {
      test::write(directory_ / "a.npy", text);
      return (directory_ / "a.npy").string();
    }
    void expect_refused(const std::string &text, const std::string &reason) const
    {
      const std::string path = put(text);
      expect_refused_file(path, reason);
    }
    void expect_refused_file(const std::string &path, const std::string &reason) const
    {
      try
      {
        const NpyArray array(path);
        ADD_FAILURE() << "no error; expected: " << reason;
      }
      catch (const DataFileError &error)
      {
        const std::string message = error.what();
        EXPECT_EQ(message.find(path + ": "), 0U) << message;
        EXPECT_NE(message.find(reason), std::string::npos) << message;
        EXPECT_NE(message.find("allowed: a .npy file of float32 or float64"), std::string::npos)
            << message;
      }
    }

    const test::TemporaryDirectory directory_;
  };

  TEST_F(NpyArrays, HeadIsAligned)
  {
    for (const std::vector<std::int64_t> &shape :
        {std::vector<std::int64_t>{3}, {2, 3, 4}, {1 << 30, 1 << 30, 1000000, 9, 9, 9}})
    {
      const std::string head = npy_head(shape);
      EXPECT_EQ(head.size() % 64, 0U);
      EXPECT_EQ(head.back(), '\n');
    }
    EXPECT_NE(npy_head({3}).find("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"),
        std::string::npos);
  }

  TEST_F(NpyArrays, WhatIsWrittenIsRead)
  {
    const NpyArray array(put(npy_head({2, 3}) + bytes<double>({0., 1., -2., 3.5, 1e300, 5.})));
    EXPECT_EQ(array.shape(), (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(array.shape_text(), "(2, 3)");
    EXPECT_EQ(array.size(), 6);
    EXPECT_EQ(array[2], -2.);
    EXPECT_EQ(array[4], 1e300);
  }

  TEST_F(NpyArrays, OtherWritersHeaders)
  {
    for (const char version : {1, 2, 3})
    {
      const NpyArray single(put(file("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
          bytes<float>({1.F, 2.F, 0.5F}), version)));
      EXPECT_EQ(single.shape(), std::vector<std::int64_t>{3});
      EXPECT_EQ(single[2], 0.5);
    }
    const NpyArray scalar(put(
        file("{ 'shape':(), 'fortran_order' : False,'descr' :'<f8' }  \n", bytes<double>({7.}))));
    EXPECT_TRUE(scalar.shape().empty());
    EXPECT_EQ(scalar[0], 7.);
  }

  template <typename Integer>
  void expect_labels(const std::string &path, const std::string &name)
  {
    const NpyArray array(path);
    EXPECT_TRUE(array.has_integers());
    EXPECT_EQ(array.type_text(), name);
    EXPECT_EQ(array[0], 0.);
    EXPECT_EQ(array[1], 7.);
    EXPECT_EQ(array[2], static_cast<double>(std::numeric_limits<Integer>::max()));
  }

  TEST_F(NpyArrays, Labels)
  {
    const auto put_labels = [&](const std::string &type, const auto &numbers) {
      return put(
          file("{'descr': " + type + ", 'fortran_order': False, 'shape': (3,)}", bytes(numbers)));
    };
    expect_labels<std::uint8_t>(put_labels("'|u1'", std::vector<std::uint8_t>{0, 7, 255}), "uint8");
    expect_labels<std::uint16_t>(
        put_labels("'<u2'", std::vector<std::uint16_t>{0, 7, 65535}), "uint16");
    expect_labels<std::int32_t>(
        put_labels("'<i4'", std::vector<std::int32_t>{0, 7, 2147483647}), "int32");
    EXPECT_FALSE(NpyArray(put(npy_head({1}) + bytes<double>({1.}))).has_integers());
  }

  TEST_F(NpyArrays, ANewFileOfTheNameDoesNotMatter)
  {
    const std::string path = put(npy_head({1}) + bytes<double>({1.}));
    const NpyArray array(path);
    test::write(directory_ / "b.npy", npy_head({1}) + bytes<double>({2.}));
    std::filesystem::rename(directory_ / "b.npy", path);
    EXPECT_EQ(array[0], 1.);
  }

  TEST_F(NpyArrays, DamagedFiles)
  {
    const std::string good = npy_head({2, 3}) + bytes(std::vector<double>(6, 1.));
    EXPECT_NO_THROW(NpyArray{put(good)});
    expect_refused_file((directory_ / "none.npy").string(), "No such file or directory");
    expect_refused_file(directory_.path().string(), "is a directory");
    expect_refused_file("/dev/null", "is not a file");
    expect_refused("", "is empty");
    expect_refused("hello, this is text", "is not a .npy file");
    expect_refused(good.substr(0, 8), "is not a .npy file");
    expect_refused(good.substr(0, 9), "has no complete header");
    expect_refused(good.substr(0, 60), "has no complete header");
    expect_refused(
        good.substr(0, good.size() - 1), "has 175 bytes, but one of shape (2, 3) has 176");
    expect_refused(good.substr(0, 128), "is not complete");
    expect_refused(good + "x", "damaged");
    expect_refused(good.substr(0, 6) + '\x09' + good.substr(7), "is of version 9");
  }

  TEST_F(NpyArrays, OtherContents)
  {
    const std::string numbers = bytes<double>({1.});
    const auto with = [&](const std::string &type, const std::string &order,
                          const std::string &shape) {
      return file(
          "{'descr': " + type + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }",
          numbers);
    };
    EXPECT_NO_THROW(NpyArray{put(with("'<f8'", "False", "(1,)"))});
    for (const std::string type :
        {"'>f8'", "'<i8'", "'>u2'", "'|i1'", "'|b1'", "'<c16'", "[('a', '<f8'), ('b', '<f4')]"})
      expect_refused(with(type, "False", "(1,)"), "has numbers of type " + type);
    expect_refused(with("'<f8'", "True", "(1,)"), "is in Fortran order");
    for (const std::string shape : {"(1", "1", "(a,)", "(-1,)", "(1;2)", "None"})
      expect_refused(with("'<f8'", "False", shape), "has a header that cannot be read");
    expect_refused(
        with("'<f8'", "False", "(4294967296, 4294967296, 4294967296)"), "is not complete: it has");
    expect_refused(file("{'descr': '<f8', 'shape': (1,)}", numbers), "cannot be read");
    expect_refused(file("no dictionary", numbers), "cannot be read: no dictionary");
  }
} // namespace
} // namespace tensormg
