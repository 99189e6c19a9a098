// What the tests of parameters share: files that live as long as a test, and checks of messages.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "apps/parameters/parameters.h"

namespace tensormg
{
/// The root of the source tree; tests run there unless the environment says otherwise.
inline std::filesystem::path source_directory()
{
  const char *directory = std::getenv("TENSORMG_SOURCE_DIR");
  return directory != nullptr ? directory : ".";
}

/// A file in a directory of its own, removed at the end.
class TemporaryFile
{
public:
  TemporaryFile(const std::string &name, const std::string &content)
  {
    std::string pattern = (std::filesystem::temp_directory_path() / "parameters_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : ".";
    path_ = directory_ / name;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile()
  {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    std::filesystem::remove(directory_, ignored);
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  std::string path() const { return path_.string(); }
  std::string directory() const { return directory_.string(); }

private:
  std::filesystem::path directory_;
  std::filesystem::path path_;
};

/// Expects a ParameterError with all of `parts` in one line of text.
template <typename Action>
void expect_message(Action action, const std::vector<std::string> &parts)
{
  try
  {
    action();
    ADD_FAILURE() << "no error; expected one with: " << parts.front();
  }
  catch (const ParameterError &error)
  {
    const std::string message = error.what();
    for (const std::string &part : parts)
      EXPECT_NE(message.find(part), std::string::npos)
          << "the message:\n  " << message << "\nlacks:\n  " << part;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}
} // namespace tensormg
