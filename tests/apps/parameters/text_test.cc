// Files from other editors and programs, and texts in messages.
#include <string>

#include <gtest/gtest.h>

#include "apps/parameters/parameters.h"
#include "apps/parameters/text.h"
#include "tests/support/parameter_files.h"

namespace tensormg
{
namespace
{
  TEST(ParameterFiles, MarksOfEncodings)
  {
    const std::string mark = "\xEF\xBB\xBF";
    const TemporaryFile prm("a.prm", mark + "subsection problem\r\n  set degree = 2\r\nend\r\n"),
        json("a.json", mark + R"({"problem": {"degree": 2}})");
    EXPECT_EQ(read_parameters(prm.path()).problem.degree, 2);
    EXPECT_EQ(read_parameters(json.path()).problem.degree, 2);
    const TemporaryFile wide("a.prm", std::string("\xFF\xFEs\0u\0", 6));
    expect_message([&] { read_parameters(wide.path()); },
        {wide.path() + ": is text in UTF-16; allowed: UTF-8"});
  }

  std::string nested(const std::string &open, const std::string &close, int times)
  {
    std::string begin, end;
    for (int i = 0; i < times; ++i)
    {
      begin += open;
      end += close;
    }
    return begin + "1" + end;
  }

  TEST(ParameterFiles, DeeplyNestedJson)
  {
    for (const int times : {11, 100, 20'000})
      for (const std::string &text : {nested("{\"a\":", "}", times), nested("[", "]", times)})
      {
        const TemporaryFile file("n.json", text);
        expect_message([&] { read_parameters(file.path()); },
            {file.path() + ":1: values lie in more than 10 others", "allowed: {\"section\":"});
      }
    const TemporaryFile unknown("n.json", nested("{\"a\":", "}", 5));
    expect_message([&] { read_parameters(unknown.path()); }, {"unknown section 'a.a.a.a'"});
  }

  TEST(ParameterFiles, LongTextsAreCut)
  {
    const std::string text(100'000, 'q');
    const TemporaryFile line("a.prm", text + "\n"), section("b.prm", "subsection " + text + "\n"),
        key("c.prm", "subsection problem\n set " + text + " = 1\nend\n"),
        value("d.prm", "subsection problem\n set degree = " + text + "\nend\n"),
        json("e.json", "{\"problem\": {\"degree\": null, \"" + text + "\": 1}}"),
        list("f.json", "{\"problem\": {\"degree\": [[\"" + text + "\"]]}}"),
        syntax("g.json", "{\"problem\": {\"degree\": " + text + "}}"),
        constants("h.prm", "subsection problem\n set constants = " + text + "=1+\nend\n");
    for (const TemporaryFile *file :
        {&line, &section, &key, &value, &json, &list, &syntax, &constants})
      try
      {
        read_parameters(file->path());
        ADD_FAILURE() << file->path();
      }
      catch (const ParameterError &error)
      {
        EXPECT_LT(std::string(error.what()).size(), 1000U);
      }
    for (const std::string &assignment : {text, "problem." + text + "=1", "problem.lower=" + text})
      try
      {
        default_parameters({assignment});
        ADD_FAILURE();
      }
      catch (const ParameterError &error)
      {
        EXPECT_LT(std::string(error.what()).size(), 1000U);
      }
  }

  TEST(ParameterText, Cut)
  {
    EXPECT_EQ(cut("short"), "short");
    EXPECT_EQ(cut("a\nb"), "a b");
    EXPECT_EQ(cut(std::string(101, 'x')), std::string(100, 'x') + "... (101 characters)");
    // Not inside of a character of UTF-8.
    EXPECT_EQ(cut(std::string(99, 'x') + "\xC3\xA4 and more"),
        std::string(99, 'x') + "... (110 characters)");
    EXPECT_EQ(cut_middle(std::string(150, 'x') + " at 7"), std::string(150, 'x') + " at 7");
    const std::string middle = cut_middle(std::string(1000, 'x') + " at 7");
    EXPECT_LT(middle.size(), 220U);
    EXPECT_TRUE(middle.ends_with(" at 7"));
  }

  TEST(ParameterText, Nearest)
  {
    const std::vector<std::string> words{
        "solver", "tolerance", "max_iterations", "restart", "rest", "full_multigrid_cycles"};
    EXPECT_EQ(nearest("tol", words), "tolerance");
    EXPECT_EQ(nearest("res", words), "rest");
    EXPECT_EQ(nearest("iterations", words), "max_iterations");
    EXPECT_EQ(nearest("multigrid", words), "");
    EXPECT_EQ(one_with("multigrid", words), "full_multigrid_cycles");
    EXPECT_EQ(one_with("ver", words), "");
    EXPECT_EQ(nearest("tolerence", words), "tolerance");
    EXPECT_EQ(nearest("t", words), "");
    EXPECT_EQ(nearest("", words), "");
    EXPECT_EQ(nearest("qqqqq", words), "");
  }
} // namespace
} // namespace tensormg
