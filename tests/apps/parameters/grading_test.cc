// The parameter problem.grading: what it makes of a problem, that it reads back, and what is refused.
#include <sstream>

#include <gtest/gtest.h>

#include "apps/parameters/grading.h"
#include "apps/parameters/parameters.h"
#include "tests/support/parameter_files.h"

namespace tensormg
{
namespace
{
  Parameters graded(const std::string &grading, const std::vector<std::string> &more = {})
  {
    std::vector<std::string> all{
        "problem.dimension=2", "problem.refinements=2", "problem.grading=" + grading};
    all.insert(all.end(), more.begin(), more.end());
    return default_parameters(all);
  }

  TEST(Grading, Laws)
  {
    using Numbers = std::vector<double>;
    const auto corners = [](const std::string &grading) { return graded(grading).problem.corners; };
    EXPECT_EQ(corners("")[0], Numbers());
    EXPECT_EQ(corners("equal")[1], Numbers());
    EXPECT_EQ(corners("geometric 8 lower")[0], geometric_corners(0., 1., 4, 8., FineEnd::lower));
    EXPECT_EQ(corners("geometric 8 lower")[1], geometric_corners(0., 1., 4, 8., FineEnd::lower));
    EXPECT_EQ(corners("tanh 1e3 both")[0], tanh_corners(0., 1., 4, 1e3, FineEnd::both));
    EXPECT_EQ(corners("equal; geometric 3.5 upper")[0], Numbers());
    EXPECT_EQ(corners("equal; geometric 3.5 upper")[1],
        geometric_corners(0., 1., 4, 3.5, FineEnd::upper));
    EXPECT_EQ(corners("corners 0 0.25 1; equal")[0], (Numbers{0., 0.25, 1.}));
    EXPECT_EQ(graded("corners 0 0.25 1; equal").problem.corner(0, 1), 0.125);
  }

  TEST(Grading, ReadsBack)
  {
    for (const std::string text : {"geometric 8 lower", "equal; tanh 100 both", "corners 0 0.25 1",
             "corners 0 0.1 1; corners 0 0.2 0.3 0.4 1"})
    {
      const Parameters p = graded(text);
      EXPECT_EQ(write_grading(p.grading, 2), text);
      std::ostringstream printed;
      print_parameters(p, printed);
      const TemporaryFile file("a.prm", printed.str());
      EXPECT_EQ(read_parameters(file.path()).problem.corners, p.problem.corners);
    }
  }

  TEST(Grading, Files)
  {
    const TemporaryFile file("corners.txt", "0\n0.1\t0.2\n\n 0.5 1\n");
    const Parameters p = graded("file " + file.path() + "; equal");
    EXPECT_EQ(p.problem.corners[0], (std::vector{0., 0.1, 0.2, 0.5, 1.}));
    EXPECT_EQ(write_grading(p.grading, 2), "file " + file.path() + "; equal");
    const TemporaryFile wrong("wrong.txt", "0 0.1 half 1"), empty("empty.txt", "");
    expect_message([&] { graded("file " + wrong.path()); },
        {"--set problem.grading = ", "wrong.txt has the corner 'half'; allowed: numbers"});
    expect_message([&] { graded("file " + empty.path()); }, {"there are no corners"});
    expect_message([&] { graded("file none.txt"); }, {"none.txt cannot be read; allowed: "});
    expect_message([&] { graded("file /dev/zero"); }, {"/dev/zero cannot be read; allowed: "});
  }

  TEST(Grading, WhatIsRefused)
  {
    for (const auto &[text, word] :
        {std::pair{"linear 2 both", "has the entry 'linear 2 both'"},
            {"geometric 0.5 both", "has the ratio '0.5'"},
            {"geometric both", "has the ratio 'both'"},
            {"geometric 2", "has '' where the smallest cells lie"},
            {"tanh 2 left", "has 'left' where the smallest cells lie"},
            {"tanh 2 both 3", "has 'both 3' where"}, {"equal 2", "has the entry 'equal 2'"},
            {"file", "names no file"}, {"corners 0 a 1", "has the corner 'a'"},
            {"equal; equal; equal", "has 3 entries, but problem.dimension is 2"},
            {"corners", "there are no corners"},
            {"corners 0 0.5 0.5 0.6 1", "corner 0.5 comes after 0.5"},
            {"corners 0 0.5 0.6 1", "there are 4 corners; allowed: coarse_cells * 2^k + 1 of them"},
            {"corners 0 0.5 2", "allowed: from lower, 0, to upper, 1"}})
      expect_message(
          [text = text] { graded(text); }, {"--set problem.grading = ", word, "; allowed: "});
    expect_message([] { graded("geometric 2 both", {"problem.refinements=0"}); },
        {"in x: graded cells: 1 cells cannot differ in size (allowed: at least 3)"});
    expect_message([] { graded("geometric 2 both", {"solver.solver=direct"}); },
        {"solver.solver", "problem.grading", "no grading"});
  }
} // namespace
} // namespace tensormg
