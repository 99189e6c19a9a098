// What a library prints on the standard error stream.
#pragma once

#include <iostream>
#include <sstream>
#include <string>

namespace tensormg
{
/// Takes what is written to std::cerr as long as it lives.
class CapturedErrors
{
public:
  CapturedErrors()
    : before_(std::cerr.rdbuf(text_.rdbuf()))
  {}
  ~CapturedErrors() { std::cerr.rdbuf(before_); }
  CapturedErrors(const CapturedErrors &) = delete;
  CapturedErrors &operator=(const CapturedErrors &) = delete;

  std::string text() const { return text_.str(); }

private:
  std::ostringstream text_;
  std::streambuf *before_;
};
} // namespace tensormg
