// problem.fields: arrays of users and files of other runs as data, and what cannot be used.
#include "apps/parameters/fields.h"

#include <cstring>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/parameters/field_description.h"
#include "operators/data/functions.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  class Fields : public testing::Test
  {
  protected:
    /// The numbers 0, 1, ... in this shape.
    void put_array(const std::string &name, const std::vector<std::int64_t> &shape) const
    {
      std::int64_t size = 1;
      for (const std::int64_t n : shape)
        size *= n;
      std::vector<double> numbers(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<double>(i);
      std::string bytes(numbers.size() * sizeof(double), '\0');
      if (!bytes.empty())
        std::memcpy(bytes.data(), numbers.data(), bytes.size());
      test::write(directory_ / name, npy_head(shape) + bytes);
    }
    /// A description and its array, in 2D with 2 x 3 cells of degree 1.
    nlohmann::json put_field(const std::string &name) const
    {
      Problem problem;
      problem.dim = 2;
      problem.degree = 1;
      problem.coarse_cells = {2, 3, 1};
      problem.refinements = 0;
      const Grid grid = make_grid(problem, MPI_COMM_SELF);
      const std::string text = description_text(describe_field(grid, {"T", "K"}, true));
      test::write(directory_ / (name + ".json"), text);
      put_array(name + ".npy", {3, 2, 2, 2});
      return test::parse_json(text);
    }
    std::string set(const std::string &name) const
    {
      return "problem.fields=q = " + (directory_ / name).string();
    }
    void expect_refused(
        const std::vector<std::string> &overrides, const std::vector<std::string> &parts) const
    {
      SCOPED_TRACE(parts.front());
      std::vector<std::string> all{"problem.dimension=2"};
      all.insert(all.end(), overrides.begin(), overrides.end());
      expect_message([&] { default_parameters(all); }, parts);
    }
    /// With the description changed.
    void expect_bad_entry(const std::string &key, const nlohmann::json &value,
        const std::vector<std::string> &parts) const
    {
      nlohmann::json json = put_field("c");
      if (value.is_null())
        json.erase(key);
      else
        json[key] = value;
      test::write(directory_ / "c.json", json.dump());
      std::vector<std::string> all = parts;
      all.emplace_back("--set problem.fields = q = ");
      all.emplace_back("; allowed: ");
      expect_refused({set("c.json")}, all);
    }

    const test::TemporaryDirectory directory_;
  };

  TEST_F(Fields, ArraysAreConstantInCells)
  {
    put_array("a.npy", {3, 2});
    const Parameters p = default_parameters(
        {"problem.dimension=2", "problem.upper=2,3", set("a.npy"), "problem.right_hand_side=q"});
    const ScalarFunction q = scalar_function(p.problem, p.problem.right_hand_side);
    EXPECT_EQ(q.value(0.1, 0.1), 0.);
    EXPECT_EQ(q.value(1.9, 0.1), 1.);
    EXPECT_EQ(q.value(0.9, 1.1), 2.);
    EXPECT_EQ(q.value(2., 3.), 5.);
    put_array("b.npy", {4, 3, 2});
    const Parameters in_3d = default_parameters({set("b.npy"), "problem.right_hand_side=q"});
    EXPECT_EQ(scalar_function(in_3d.problem, "q").value(0.9, 0.1, 0.9), 19.);
  }

  TEST_F(Fields, DescriptionsReadBack)
  {
    put_field("f");
    const FieldDescription field = read_description((directory_ / "f.json").string());
    EXPECT_EQ(field.layout.shape(), (std::vector<std::int64_t>{3, 2, 2, 2}));
    EXPECT_EQ(field.layout.upper, (std::array<double, 3>{1., 1., 1.}));
    EXPECT_EQ(field.field.text(), "T [K]");
    EXPECT_TRUE(field.converged);
    const std::string fields =
        "q = " + (directory_ / "f.json").string() + ", a = " + (directory_ / "f.json").string();
    const Parameters p = default_parameters({"problem.dimension=2", "problem.fields=" + fields,
        "problem.initial_guess=q", "boundary.left_value=q", "problem.exact_solution=a"});
    EXPECT_EQ(p.problem.functions.size(), 2U);
    EXPECT_TRUE(warnings_of_fields(p).empty());
    std::ostringstream text;
    print_parameters(p, text);
    const TemporaryFile file("a.prm", text.str());
    EXPECT_EQ(read_parameters(file.path()).fields.at("a").path, p.fields.at("a").path);
  }

  TEST_F(Fields, DescriptionsOfGradedCells)
  {
    put_field("f");
    FieldDescription field = read_description((directory_ / "f.json").string());
    const auto read = [&] {
      test::write(directory_ / "g.json", description_text(field));
      return read_description((directory_ / "g.json").string());
    };
    field.layout.corners[1] = {0., 0.1, 0.4, 1.};
    EXPECT_EQ(read().layout.corners, field.layout.corners);
    for (const std::vector<double> &wrong :
        {std::vector{0., 1.}, {0., 0.4, 0.1, 1.}, {0., 0.1, 0.4, 2.}, {-1., 0.1, 0.4, 1.}})
    {
      field.layout.corners[1] = wrong;
      EXPECT_THROW(read(), DataFileError);
    }
  }

  TEST_F(Fields, PathsWithCommas)
  {
    put_array("a, b.npy", {1, 1});
    std::string path = (directory_ / "a, b.npy").string();
    path.insert(path.find(','), "\\");
    const Parameters p = default_parameters({"problem.dimension=2", "problem.fields=q=" + path});
    EXPECT_EQ(write_fields(p.fields), "q = " + path);
  }

  TEST_F(Fields, Names)
  {
    put_array("a.npy", {3, 2});
    const std::string path = (directory_ / "a.npy").string();
    expect_refused({"problem.fields=" + path}, {"where a name of letters", "a list name=path"});
    expect_refused(
        {"problem.fields=x=" + path}, {"gives the name 'x', which already has a meaning"});
    expect_refused({"problem.fields=sin=" + path}, {"'sin', which is a function"});
    expect_refused({"problem.fields=k=" + path, "problem.constants=k=2"},
        {"gives the name 'k', which is a constant"});
    expect_refused({"problem.fields=q=" + path + ",q=" + path}, {"gives 'q' twice"});
    expect_refused({"problem.fields=q="}, {"gives 'q' no file"});
    expect_refused({set("a.npy"), "problem.right_hand_side=1+q"},
        {"problem.right_hand_side = '1+q'", "the field q can only be the whole expression",
            "or one of the fields q"});
  }

  TEST_F(Fields, Arrays)
  {
    expect_refused({set("none.npy")}, {"none.npy: cannot be read (No such file or directory)"});
    expect_refused({set("none.json")}, {"none.json: cannot be read", "output.write_npy"});
    expect_refused(
        {"problem.fields=q=" + directory_.path().string() + "/"}, {"is no file of a field"});
    put_array("a.npy", {2, 3, 4});
    expect_refused({set("a.npy")}, {"a.npy: has the shape (2, 3, 4)", "(n_y, n_x)"});
    put_array("a.npy", {2, 0});
    expect_refused({set("a.npy")}, {"has the shape (2, 0)"});
    test::write(directory_ / "a.npy", "damage");
    expect_refused({set("a.npy")}, {"--set problem.fields = q = ", "a.npy: is not a .npy file"});
    test::write(directory_ / "a.npy", npy_head({1, 1}) + std::string("\0\0\0\0\0\0\xF8\x7F", 8));
    expect_refused({set("a.npy"), "problem.right_hand_side=q"},
        {"problem.right_hand_side = 'q' is not a number at ("});
  }

  TEST_F(Fields, Descriptions)
  {
    for (const std::string text : {"", "{", "[]", "{}", R"({"format": "another"})"})
    {
      test::write(directory_ / "c.json", text);
      expect_refused({set("c.json")}, {"c.json: is no description of a field"});
    }
    expect_bad_entry("format_version", 3, {"'format_version' is 3; allowed: 1 or 2"});
    expect_bad_entry("format_version", 2, {"has no entry 'corners'"});
    expect_bad_entry("dimension", 4, {"'dimension' is 4; allowed: 2 or 3"});
    expect_bad_entry("dimension", 3, {"'lower' is [0.0,0.0]; allowed: 3 numbers"});
    expect_bad_entry("cells", {0, 1}, {"'cells' is [0,1]"});
    expect_bad_entry("cells", {1.5, 1}, {"'cells' is [1.5,1]"});
    expect_bad_entry("cells", nullptr, {"has no entry 'cells'"});
    expect_bad_entry("lower", {"a", 0}, {R"('lower' is ["a",0])"});
    expect_bad_entry("upper", {1, -1}, {"the box has no extent in y"});
    expect_bad_entry("nodes", {0.5, 0.5}, {"'nodes' is [0.5,0.5]", "1 to 9 increasing numbers"});
    expect_bad_entry("nodes", nlohmann::json::array(), {"'nodes' is []"});
    expect_bad_entry("nodes", {0.5, 1.5}, {"'nodes' is"});
    expect_bad_entry("nodes", {0.1, 0.5, 0.9},
        {"c.npy: has the shape (3, 2, 2, 2); allowed: (3, 2, 3, 3), as its description says"});
    expect_bad_entry("converged", 1, {"'converged' is 1; allowed: true or false"});
    put_field("c");
    std::filesystem::remove(directory_ / "c.npy");
    expect_refused({set("c.json")}, {"c.npy: cannot be read"});
  }

  TEST_F(Fields, OtherBoxes)
  {
    put_field("c");
    expect_refused({set("c.json"), "problem.dimension=3"},
        {"c.json: is a field in 2 dimensions; allowed: problem.dimension = 3"});
    expect_refused({set("c.json"), "problem.right_hand_side=q", "problem.upper=1,2"},
        {"problem.right_hand_side = 'q' has no value where y = ",
            "c.npy has the box (0, 1) x (0, 1)"});
    // Nearer to the end of the box than any quadrature point.
    expect_refused({set("c.json"), "problem.right_hand_side=q", "problem.upper=1,1.0001"},
        {"has no value where y = 1.0001"});
    expect_refused({set("c.json"), "boundary.right_value=q", "problem.lower=0,-0.0001"},
        {"boundary.right_value = 'q' has no value where y = -0.0001"});
    EXPECT_NO_THROW(default_parameters(
        {"problem.dimension=2", set("c.json"), "boundary.right_value=q", "problem.lower=-1,0"}));
    EXPECT_NO_THROW(default_parameters({"problem.dimension=2", set("c.json"), "problem.lower=0.25",
        "problem.right_hand_side=q", "problem.upper=1"}));
  }
} // namespace
} // namespace tensormg
