"""The Python module, against exact solutions, scipy's solvers and what it must refuse."""
import unittest

import numpy as np

import tensormg

pi = np.pi


def wave(x, y, z):
    return np.cos(pi * x) * np.sin(pi * y) * np.cos(pi * z)


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
                          dict(boundary={"west": ("dirichlet", 0)}), dict(boundary={"left": ("robin", 0)}),
                          dict(right_hand_side="xx"), dict(right_hand_side=lambda x, y, z: np.zeros(2))):
            with self.assertRaises(tensormg.ArgumentError, msg=str(arguments)):
                self.solver(**arguments).solve()
        solver = self.solver()
        for call in (lambda: solver.solve(np.zeros(3)), lambda: solver.multiply(np.zeros(3)),
                     lambda: solver.solve(np.full(solver.size, np.nan)), lambda: solver.solve(start=np.zeros(solver.size))):
            with self.assertRaises(tensormg.ArgumentError):
                call()
        self.assertTrue(solver.solve()[1]["converged"])

    def test_an_error_in_a_function_comes_back(self):
        def broken(x, y, z):
            raise KeyError("lost")
        with self.assertRaises(KeyError):
            self.solver(right_hand_side=broken).solve()


if __name__ == "__main__":
    unittest.main()
