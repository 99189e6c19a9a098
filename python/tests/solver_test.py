"""The Python module, against exact solutions, scipy's solvers and what it must refuse."""
import unittest

import numpy as np

import tensormg

pi = np.pi


def wave(x, y, z):
    return np.cos(pi * x) * np.sin(pi * y) * np.cos(pi * z)


class OnDevice:
    """Looks like an array in the memory of a GPU, of `size` doubles; the memory is the host's."""

    def __init__(self, size, **changes):
        self.memory = np.zeros(size)
        self.interface = dict(shape=(size,), typestr="<f8", data=(self.memory.ctypes.data, False), version=3, strides=None,
                              stream=None) | changes

    @property
    def __cuda_array_interface__(self):
        return {key: value for key, value in self.interface.items() if value != "left out"}


class Solve(unittest.TestCase):
    def solver(self, cells=(8, 8, 8), degree=3, **others):
        sides = {side: ("dirichlet", wave) for side in ("left", "right", "front", "back", "bottom", "top")}
        arguments = dict(right_hand_side=lambda x, y, z: 3 * pi**2 * wave(x, y, z), boundary=sides, backend="cpu") | others
        return tensormg.Solver(cells, degree, **arguments)

    def test_exact_solution(self):
        solver = self.solver()
        u, report = solver.solve()
        self.assertEqual(u.shape, (8, 8, 8, 4, 4, 4))
        self.assertTrue(report["converged"])
        self.assertLess(abs(u - wave(*solver.points)).max(), 1e-3)

    def test_expressions_are_functions(self):
        text = "cos(pi*x)*sin(pi*y)*cos(pi*z)"
        sides = {side: ("dirichlet", text) for side in ("left", "right", "front", "back", "bottom", "top")}
        u, _ = self.solver().solve()
        v, _ = self.solver(right_hand_side=f"3*pi^2*{text}", boundary=sides).solve()
        self.assertLess(abs(u - v).max(), 1e-7)

    def test_values_at_nodes_and_a_start(self):
        solver = self.solver(cells=(6, 4), degree=2, boundary={"left": "periodic", "right": "periodic"})
        x, y, _ = solver.points
        f = np.sin(2 * pi * x) * y
        u, report = solver.solve(f)
        _, again = solver.solve(f.ravel(), start=u)
        self.assertEqual(again["iterations"], 0)
        self.assertGreater(report["iterations"], 0)

    def test_graded_cells(self):
        # u = x^2 with K = 1, then the wall again, with cells that end where its layers do.
        corners = np.cumsum([0, 0.5, 0.25, 0.125, 0.125])
        square = lambda x, y, z: x**2
        solver = tensormg.Solver((corners, 4), 2, right_hand_side=-2, tolerance=1e-12, backend="cpu",
                                 boundary={side: ("dirichlet", square) for side in ("left", "right", "front", "back")})
        u, _ = solver.solve()
        self.assertLess(abs(u - square(*solver.points)).max(), 1e-10)
        layers = (np.array([0, 1, 1.5, 2, 2.25, 3]), 4)
        k = np.broadcast_to([2, 0.05, 0.05, 10, 10], (4, 5))
        u, solver = self.wall(np.array(k), cells=layers)
        x = solver.points[0]
        self.assertLess(abs(u - (1 - np.where(x < 1, x / 2, np.where(x < 2, 0.5 + 20 * (x - 1), 20.5 + (x - 2) / 10)) / 20.6)).max(), 1e-9)
        for cells in ((np.array([0, 0.5, 0.4, 1]), 4), (np.array([[0, 1], [1, 2]]), 4), (np.array([0.0]), 4), (["a", "b"], 4)):
            with self.assertRaises(tensormg.ArgumentError):
                tensormg.Solver(cells, 2, backend="cpu")

    def wall(self, coefficient, cells=(6, 2), **others):
        """u and the points of three layers of K = 2, 0.05 and 10 between u = 1 and u = 0."""
        sides = {"left": ("dirichlet", 1), "front": ("neumann", 0), "back": ("neumann", 0)}
        solver = tensormg.Solver(cells, 2, upper=(3, 1), coefficient=coefficient, right_hand_side=0, boundary=sides,
                                 tolerance=1e-13, backend="cpu", max_iterations=300, **others)
        return solver.solve()[0], solver

    def test_coefficients_of_cells(self):
        layers = np.repeat([[2, 0.05, 10.0]], 2, axis=1)
        array = np.broadcast_to(layers, (2, 6))
        text = "if(x<1, 2, if(x<2, 0.05, 10))"
        for coefficient in (text, lambda x, y, z: np.where(x < 1, 2, np.where(x < 2, 0.05, 10)), array, array.astype("f4"),
                            (array, 7), (text, lambda x, y, z: 3.0), (np.asfortranarray(array), np.float32(2))):
            u, solver = self.wall(coefficient)
            x, y, _ = solver.points
            exact = 1 - np.where(x < 1, x / 2, np.where(x < 2, 0.5 + 20 * (x - 1), 20.5 + (x - 2) / 10)) / 20.6
            self.assertLess(abs(u - exact).max(), 2e-7 if coefficient is not array else 1e-9)

    def test_means_of_cells(self):
        u, solver = self.wall("if(x<1.25, 1, 3)", coefficient_in_cell="mean")
        v, _ = self.wall(np.broadcast_to([1, 1, 2.0, 3, 3, 3], (2, 6)))
        self.assertGreater(abs(u - v).max(), 0)
        self.assertLess(abs(u - v).max(), 0.05)

    def test_reaction(self):
        sides = {side: ("neumann", 0) for side in ("left", "right", "front", "back", "bottom", "top")}
        c = 1.0 + np.arange(4 * 2 * 6).reshape(4, 2, 6)
        solver = tensormg.Solver((6, 2, 4), 1, coefficient=np.full((4, 2, 6), 2), reaction=c, boundary=sides, tolerance=1e-12,
                                 backend="cpu")
        self.assertLess(abs(solver.solve(3 * c[..., None, None, None] * np.ones(solver.shape))[0] - 3).max(), 1e-9)
        for none in (None, 0, 0.0):
            self.plate(reaction=none)

    def test_a_direct_solver(self):
        u, report = self.solver(method="direct").solve()
        self.assertTrue(report["converged"])
        self.assertLess(abs(u - self.solver().solve()[0]).max(), 1e-7)
        self.refuse(lambda: self.plate(method="direct", reaction=1), "options.solver = direct")

    def test_coefficients_that_cannot_be_used(self):
        good = np.ones((4, 4))
        for arguments, text in (
                (dict(coefficient=np.ones((4, 5))), "coefficient has the shape (4, 5)"),
                (dict(coefficient=np.ones(4)), "allowed: numbers of the shape (4, 4), one for each cell"),
                (dict(coefficient=np.full((4, 4), "a")), "numbers of type <U1"),
                (dict(coefficient=good + 1j), "numbers of type complex128"),
                (dict(coefficient=-good), "problem.coefficient = 'coefficient' is -1, allowed: > 0"),
                (dict(coefficient=good * np.nan), "not a number at (0.125, 0.125)"),
                (dict(coefficient=(good, good, good)), "the coefficient has 3 entries; allowed: 2"),
                (dict(coefficient=[1, 2]), "coefficient is of type list; allowed: a number, an expression"),
                (dict(coefficient=None), "coefficient is of type NoneType"),
                (dict(coefficient="1+x"), "problem.coefficient_in_cell = mean"),
                (dict(coefficient="w"), "problem.coefficient = 'w' cannot be parsed"),
                (dict(coefficient=0), "problem.coefficient = 0"), (dict(reaction=-1), "problem.reaction = '-1.0' is -1"),
                (dict(reaction=good[:3]), "the array of the reaction has the shape (3, 4)"),
                (dict(coefficient_in_cell="median"), "'median'; allowed: constant, mean")):
            self.refuse(lambda arguments=arguments: self.plate(**arguments), text)

    def test_values_on_sides(self):
        sides = {side: ("dirichlet", 0) for side in ("left", "right")} | {side: ("neumann", 0) for side in ("front", "back")}
        solver = tensormg.Solver((4, 4), 2, right_hand_side=0, boundary=sides, backend="cpu")
        x, y, _ = solver.side_points("right")
        self.assertTrue(np.all(x == 1))
        solver.set_side_values("right", 2 + 0 * y)
        u, _ = solver.solve(np.zeros(solver.size))
        self.assertLess(abs(u - 2 * solver.points[0]).max(), 1e-7)
        for side, values, word in (("top", [], "0 to 3"), ("above", [], "the side"), ("left", [1.0], "values has 1 numbers")):
            with self.assertRaisesRegex(tensormg.ArgumentError, word):
                solver.set_side_values(side, np.array(values))

    def test_robin_sides(self):
        # u = 1 + x with K = 2: on the right K du/dn + r u = 2 + 3 * 2.
        sides = {"left": ("dirichlet", 1), "right": ("robin", 8, lambda x, y, z: 3 + 0 * x), "front": ("neumann", 0),
                 "back": ("neumann", 0)}
        solver = tensormg.Solver((4, 4), 2, coefficient=2, right_hand_side=0, boundary=sides, backend="cpu")
        u, _ = solver.solve(np.zeros(solver.size))
        self.assertLess(abs(u - 1 - solver.points[0]).max(), 1e-6)

    def test_sides_that_depend_on_time(self):
        time = [1.0]
        sides = {"left": ("dirichlet", lambda x, y, z: time[0] + 0 * x), "right": ("neumann", 0), "front": ("neumann", 0),
                 "back": ("neumann", 0)}
        solver = tensormg.Solver((4, 4), 2, right_hand_side=0, boundary=sides, backend="cpu")
        for time[0] in (1.0, 3.0):
            solver.update_sides()
            u, _ = solver.solve(np.zeros(solver.size))
            self.assertLess(abs(u - time[0]).max(), 1e-6)

    def test_scipy(self):
        from scipy.sparse.linalg import cg
        solver = self.solver(cells=(8, 6, 4), degree=2)
        expected = np.random.default_rng(1).standard_normal(solver.size)
        b = solver.matrix @ expected
        count = [0]
        u, info = cg(solver.matrix, b, M=solver.preconditioner, atol=1e-10 * np.linalg.norm(b),
                     callback=lambda _: count.__setitem__(0, count[0] + 1))
        self.assertEqual(info, 0)
        self.assertLess(count[0], 20)
        self.assertLess(abs(u - expected).max(), 1e-3)
        direct, _ = solver.solve_system(b)
        self.assertLess(abs(direct.ravel() - expected).max(), 1e-5)

    def test_not_converged(self):
        with self.assertRaises(tensormg.NotConverged) as caught:
            self.solver(max_iterations=1, tolerance=1e-12).solve()
        self.assertEqual(caught.exception.report["reason"], "iteration_limit")
        self.assertEqual(caught.exception.solution.shape, (8, 8, 8, 4, 4, 4))

    def test_wrong_arguments(self):
        for arguments in (dict(degree=9), dict(cells=(8,)), dict(cells=(0, 8)), dict(coefficient=0), dict(backend="gpu"),
                          dict(precision="quad"), dict(method="gmres"), dict(nodes="equidistant"),
                          dict(boundary={"west": ("dirichlet", 0)}), dict(boundary={"left": ("open", 0)}),
                          dict(boundary={"left": ("robin", 0)}), dict(boundary={"left": ("dirichlet", 0, 1)}),
                          dict(boundary={"left": ("robin", 0, -1)}),
                          dict(right_hand_side="xx"), dict(right_hand_side=lambda x, y, z: np.zeros(2))):
            with self.assertRaises(tensormg.ArgumentError, msg=str(arguments)):
                self.solver(**arguments).solve()
        solver = self.solver()
        for call in (lambda: solver.solve(np.zeros(3)), lambda: solver.multiply(np.zeros(3)),
                     lambda: solver.solve(np.full(solver.size, np.nan)), lambda: solver.solve(start=np.zeros(solver.size))):
            with self.assertRaises(tensormg.ArgumentError):
                call()
        self.assertTrue(solver.solve()[1]["converged"])

    def plate(self, **others):
        return self.solver(cells=(4, 4), degree=2, boundary={}, **others)

    def test_types(self):
        for arguments in (dict(cells=4), dict(cells="44"), dict(cells=(4.5, 4)), dict(degree=2.5), dict(lower=1), dict(upper="x"),
                          dict(coefficient=None), dict(tolerance="small"), dict(max_iterations=1.5), dict(comm=3), dict(nodes=1),
                          dict(right_hand_side=None), dict(right_hand_side=[1, 2]), dict(boundary=["left"]),
                          dict(boundary={"left": ("periodic",)}), dict(boundary={"left": (1, 2)})):
            with self.assertRaisesRegex(tensormg.ArgumentError, f"^{next(iter(arguments))}.*; allowed: ", msg=str(arguments)):
                self.solver(**dict(dict(cells=(4, 4), boundary={}), **arguments))
        solver = self.solver(cells=np.array([4, 4]), lower=np.zeros(2), upper=np.ones(2), boundary={"left": ["neumann", np.float32(1)]},
                             right_hand_side=np.int64(1))
        with self.assertRaisesRegex(tensormg.ArgumentError, "f is complex"):
            solver.solve(1j * np.ones(solver.shape))
        with self.assertRaisesRegex(tensormg.ArgumentError, "returns is complex"):
            self.solver(cells=(4, 4), boundary={}, right_hand_side=lambda x, y, z: 1j * x).solve()
        with self.assertRaises(MemoryError):
            tensormg.Solver((2**13,) * 3, 8)

    def test_one_call_at_a_time(self):
        solver = None
        refused = []

        def calls_again(x, y, z):
            try:
                solver.solve()
            except RuntimeError as error:
                refused.append(str(error))
            return x

        solver = self.solver(cells=(4, 4), boundary={}, right_hand_side=calls_again)
        u, _ = solver.solve()
        self.assertIn("one call at a time", refused[0])
        self.assertTrue((u == self.solver(cells=(4, 4), boundary={}, right_hand_side=lambda x, y, z: x).solve()[0]).all())

    def test_direct(self):
        u, report = self.solver(method="direct", tolerance=1e-12).solve()
        self.assertEqual(report["iterations"], 1)
        self.assertLess(abs(u - self.solver(tolerance=1e-12).solve()[0]).max(), 1e-10)

    def test_results_in_arrays_of_the_caller(self):
        solver = self.plate()
        f = np.random.default_rng(1).standard_normal(solver.shape)
        out = np.full(solver.shape, np.nan)
        u, report = solver.solve(f, out=out)
        self.assertIs(u, out)
        np.testing.assert_array_equal(u, solver.solve(f)[0])
        self.assertGreater(report["iterations"], 0)
        self.assertEqual(solver.solve(f, start=out, out=out)[1]["iterations"], 0)
        flat = np.full(solver.size, np.nan)
        self.assertEqual(solver.solve(f, start=u, out=flat)[1]["iterations"], 0)
        np.testing.assert_array_equal(solver.solve_system(f, out=flat)[0], solver.solve_system(f)[0].ravel())
        for product in (solver.multiply, solver.precondition):
            expected = product(f)
            self.assertIs(product(f, out), out)
            np.testing.assert_array_equal(out, expected)
            same = f.copy()
            np.testing.assert_array_equal(product(same, out=same), expected)
        with self.assertRaises(tensormg.NotConverged) as caught:
            self.plate(max_iterations=1, tolerance=1e-12).solve(f, out=out)
        self.assertIs(caught.exception.solution, out)

    def refuse(self, call, text):
        with self.assertRaises(tensormg.ArgumentError) as caught:
            call()
        self.assertIn(text, str(caught.exception))

    def test_arrays_that_cannot_take_a_result(self):
        solver = self.plate()
        size = solver.size
        closed = np.zeros(size)
        closed.flags.writeable = False
        for out in (np.zeros(size, np.float32), np.zeros((2, size)).T, [0.0] * size, "out", np.zeros(size, ">f8")):
            self.refuse(lambda out=out: solver.solve(out=out), "out must be a numpy array of float64 in C order")
        self.refuse(lambda: solver.solve(out=closed), "out is read-only")
        self.refuse(lambda: solver.multiply(np.zeros(size), np.zeros(3)), "out has 3 numbers; allowed: 144")
        self.refuse(lambda: solver.multiply(object()), "x is of type object; allowed: an array of numbers")

    def test_arrays_on_a_gpu_for_a_solver_on_the_cpu(self):
        solver = self.plate()
        good, f = OnDevice(solver.size), np.zeros(solver.size)
        calls = {"f": solver.solve, "start": lambda a: solver.solve(f, start=a), "b": solver.solve_system, "x": solver.multiply,
                 "r": solver.precondition, "out": lambda a: solver.solve(f, out=a)}
        for name, call in calls.items():
            self.refuse(lambda call=call: call(good), f"{name} lies in the memory of a GPU, but the backend is cpu; allowed: numpy")

    def test_arrays_on_a_gpu_that_cannot_be_used(self):
        solver = self.plate()
        size = solver.size
        for changes, text in (
                (dict(version=1), "of version 1; allowed: 2 or newer"), (dict(typestr="<f4"), "type <f4; allowed: float64"),
                (dict(typestr=">f8"), "type >f8"), (dict(shape=(3,)), "x has 3 numbers; allowed: 144"),
                (dict(strides=(16,)), "is not contiguous; allowed"), (dict(shape=(12, 12), strides=(8, 96)), "is not contiguous"),
                (dict(mask=OnDevice(1)), "has a mask"), (dict(data=(0, False)), "has no memory"), (dict(data=5), "cannot be read"),
                (dict(shape="left out"), "cannot be read"), (dict(version="left out"), "cannot be read")):
            self.refuse(lambda changes=changes: solver.multiply(OnDevice(size, **changes)), text)
        for fine in (dict(strides=(8,)), dict(shape=(12, 12), strides=(96, 8)), dict(shape=(size, 1), strides=(8, 80)),
                     dict(version=2, stream="left out"), dict(stream=1)):
            self.refuse(lambda fine=fine: solver.multiply(OnDevice(size, **fine)), "the backend is cpu")

    def test_an_interface_that_fails_says_why(self):
        class Broken:
            @property
            def __cuda_array_interface__(self):
                raise RuntimeError("requires grad")
        with self.assertRaisesRegex(RuntimeError, "requires grad"):
            self.plate().multiply(Broken())

    def test_an_error_in_a_function_comes_back(self):
        def broken(x, y, z):
            raise KeyError("lost")
        with self.assertRaises(KeyError):
            self.solver(right_hand_side=broken).solve()


class MeshSolve(unittest.TestCase):
    """Curved cells, as tests/operators/library does it in C++."""

    shell = tensormg.Mesh.generated("hyper_shell", "0,0 : 0.5 : 1 : 5 : true", dim=2)

    def test_a_shell(self):
        log = lambda x, y, z: np.log(np.hypot(x, y))
        solver = tensormg.MeshSolver(self.shell, 3, 2, right_hand_side=0, boundary={"0": ("dirichlet", log), "*": ("robin", "1", 2)},
                                     tolerance=1e-12)
        u, report = solver.solve()
        self.assertTrue(report["converged"])
        self.assertEqual(u.shape, (5 * 16, 4, 4))
        self.assertIn(solver.backend, ("cpu", "cuda"))
        self.assertLess(abs(u - log(*solver.points)).max(), 1e-3)
        solver.set_boundary_values("1", 1 + 0 * solver.boundary_points("1")[0])
        np.testing.assert_allclose(solver.solve()[0], u, atol=1e-10)
        self.assertEqual(solver.boundaries, ["0", "1"])
        coarse, part, material = solver.cells
        self.assertEqual((coarse.max(), part.max(), material.max(), len(part)), (4, 3, 0, 80))

    def test_coefficients_by_values(self):
        text = ("2+x", "3", "0.5*y")
        expected = tensormg.MeshSolver(self.shell, 2, 1, coefficient=text, tolerance=1e-12).solve()[0]
        solver = tensormg.MeshSolver(self.shell, 2, 1, tolerance=1e-12)
        x, y, _ = solver.coefficient_points
        solver.set_coefficient_values((2 + x, 3, 0.5 * y))
        np.testing.assert_allclose(solver.solve()[0], expected, atol=1e-9)
        self.assertLess(abs(solver.values_at_points(solver.points[0]) - x).max(), 1e-8)
        r = np.sin(np.arange(solver.size))
        np.testing.assert_allclose(solver.solve_system(solver.multiply(r))[0].ravel(), r, atol=1e-9)

    def test_options_of_curved_cells(self):
        # K jumps between the cells of the mesh; only averages change the system.
        jump = lambda x, y, z: np.where(np.arctan2(y, x) > 0, 1e3, 1.0)
        make = lambda **options: tensormg.MeshSolver(self.shell, 2, 2, coefficient=jump, tolerance=1e-11, **options)
        plain = make(coarsening="cells", cycle_operator="true_metric")
        u, r = plain.solve()[0], np.sin(np.arange(plain.size))
        for options in ({"coarsening": "vertices"}, {"coarsening": "cells", "cycle_operator": "cell_mean"}):
            solver = make(**options)
            np.testing.assert_array_equal(solver.multiply(r), plain.multiply(r))
            self.assertGreater(abs(solver.precondition(r) - plain.precondition(r)).max(), 1e-8, options)
            np.testing.assert_allclose(solver.solve()[0], u, atol=1e-8)
        self.assertGreater(abs(make(averages="harmonic").multiply(r) - plain.multiply(r)).max(), 1)

    def test_other_meshes(self):
        # u = x on two quadrilaterals with a curved side, and on a moved box.
        points = [(0, 0), (0.5, 0.1), (1, 0), (0, 1), (0.5, 1), (1, 1), (0, 0.5), (0.5, 0.5), (1, 0.5)]
        arrays = tensormg.Mesh.arrays(points, [[0, 1, 2, 6, 7, 8, 3, 4, 5]], faces=[(0, 2)], boundary=[1], names={1: "floor"})
        mapped = tensormg.Mesh.mapped((2, 2), ("x + 0.1*sin(3*y)", lambda x, y, z: y + 0.1 * x**2))
        for mesh, boundary in ((arrays, {"floor": ("dirichlet", "x"), "*": ("dirichlet", "x")}),
                               (mapped, {side: ("dirichlet", "x") for side in ("left", "right", "front", "back")})):
            solver = tensormg.MeshSolver(mesh, 2, 1, right_hand_side=0, boundary=boundary, tolerance=1e-12)
            self.assertLess(abs(solver.solve()[0] - solver.points[0]).max(), 1e-10)

    def test_what_is_refused(self):
        make = lambda mesh=self.shell, **others: tensormg.MeshSolver(mesh, 2, 1, **others)
        for call, text in ((lambda: make("shell"), "mesh is of type str"), (lambda: make(coefficient=(1, 2, 3, 4)), "4 entries"),
                           (lambda: make(boundary={"inlet": "dirichlet"}), "mesh.conditions: the mesh has no boundary 'inlet'"),
                           (lambda: make(method="direct"), "options.solver = direct"),
                           (lambda: make(averages="mean"), "averages = 'mean'; allowed: arithmetic, harmonic"),
                           (lambda: make(coarsening="lines"), "coarsening = 'lines'; allowed: auto, cells, vertices"),
                           (lambda: make(cycle_operator=1), "cycle_operator = 1; allowed: a word"),
                           (lambda: make(tensormg.Mesh.file("none.msh")), "mesh.file: none.msh"),
                           (lambda: tensormg.Mesh.arrays([(0, 0)], [[0, 0, 0]]), "cells have 3 nodes"),
                           (lambda: make().set_coefficient_values(np.zeros(3)), "k has 3 numbers"),
                           (lambda: make().solve(np.zeros(3)), "f has 3 numbers; allowed: 180")):
            with self.assertRaises(tensormg.ArgumentError) as caught:
                call()
            self.assertIn(text, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
