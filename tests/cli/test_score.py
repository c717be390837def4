"""The score without a level and sizes: that of the diffusion, with its errors, where splitting steps have one."""

import unittest

from program import DATA, OU, ProgramTest, changed

KINETIC = changed(OU, ("x = 0.0", "x = 0.0\nv = 0.0"), ('x = "kappa*(mu - x) + pull"', 'x = "v"\nv = "kappa*(mu - x) - v + pull"'),
                  ('x = "s"', 'x = 0\nv = "s"'))


class Score(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("m.toml", OU)
        self.write("d.csv", DATA)

    def test_it_says_what_its_errors_are(self):
        particles = ("score", "m.toml", "d.csv", "--engine", "particles", "--tolerance", 0.5)
        made = self.json(*particles, "--threads", 1)
        self.assertEqual((made["engine"], made["scheme"], made["warnings"]), ("particles", "splitting", []))
        self.assertLessEqual(made["errors"]["draws"], 0.25)
        self.assertGreater(made["errors"]["draws"], 0)
        self.assertLessEqual(made["errors"]["steps"], 0.5)
        exact = self.json("score", "m.toml", "d.csv")["score"]
        for name, entry in made["score"].items():
            self.assertLess(abs(entry["value"] - exact[name]["value"]), 5 * entry["se"], name)
        again = self.json(*particles, "--threads", 2)
        self.assertEqual({**made, "seconds": 0}, {**again, "seconds": 0})
        self.assertRegex(self.succeed(*particles), r"splitting steps, level \d.*\nerrors, in square roots of the information: ")

    def test_components_without_noise_keep_eulers_steps(self):
        self.write("k.toml", KINETIC)
        done = self.run_program("score", "k.toml", "d.csv", "--engine", "particles", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: the score is that of Euler's steps of level 5", done.stderr)
        self.assertIn('"score_of_level"', done.stdout)
        level = self.run_program("score", "k.toml", "d.csv", "--level", 5, "--engine", "particles", "--json")
        self.assertEqual(level.stderr, "")
        self.assertEqual(level.stdout.split("},\"level\"")[0], done.stdout.split("},\"level\"")[0])

    def test_a_tolerance_needs_a_choice(self):
        for option in (("--level", 3), ("--particles", 50), ("--chains", 4), ("--gradient", "tangent")):
            self.refuse("score", "m.toml", "d.csv", "--engine", "particles", "--tolerance", 0.1, *option,
                        says=("--tolerance chooses", "leave it out"))
        self.refuse("score", "m.toml", "d.csv", "--tolerance", "0", says="--tolerance")


if __name__ == "__main__":
    unittest.main()
