"""Data by `simulate`: the same as ever with a level, those of the diffusion without one, and what is said of their errors."""

import hashlib
import unittest

from program import MODELS, OU, ProgramTest

# What versions before wrote with these options, which meant the same then.
FORMER = {
    ("kuramoto", 2000): ("431b3f72d43ab63c", "84e7004866c10818"),
    ("fitzhugh-nagumo", 2000): ("85bb021f943874b4", "3ebe864e90fcf884"),
    ("neural", 2000): ("6a2dc75e4cec0296", "ce25f974d99546d9"),
    ("cucker-smale", 300): ("e85a12fd6ed0a404", "f433426b5d1ab4c6"),
}


class Simulate(ProgramTest):
    def test_a_level_keeps_its_data(self):
        if self.json("check", MODELS / "ou.toml")["cost"]["vector_instructions"] == "plain":
            self.skipTest("products and sums are rounded apart here")
        for (name, particles), digests in FORMER.items():
            with self.subTest(name):
                self.succeed("simulate", MODELS / f"{name}.toml", "--times", 3, "--level", 6, "--law-particles", particles,
                             "--series", 2, "--out", "d.csv", "--paths", "p.csv", "--count", 3)
                found = [hashlib.sha256(self.read(f).encode()).hexdigest()[:16] for f in ("d.csv", "p.csv")]
                self.assertEqual(tuple(found), digests)

    def test_what_was_chosen_gives_the_same_data_again(self):
        fitzhugh = ("simulate", MODELS / "fitzhugh-nagumo.toml", "--times", 5, "--series", 2, "--tolerance", 0.05)
        made = self.json(*fitzhugh, "--paths", "p1.csv", "--count", 2, "--threads", 1, "--out", "d1.csv")
        self.assertEqual(made["scheme"], "splitting")
        self.assertEqual(made["warnings"], [])
        self.assertLess(made["errors"]["steps"], 0.05)
        self.assertLess(made["errors"]["law"], 0.1)
        self.assertGreater(min(made["errors"].values()), 0)
        again = self.json(*fitzhugh, "--paths", "p2.csv", "--count", 2, "--threads", 2, "--out", "d2.csv")
        for key in ("seconds", "out", "paths"):
            del made[key], again[key]
        self.assertEqual(made, again)
        self.succeed(*fitzhugh[:-2], "--level", made["level"], "--scheme", "splitting", "--law-particles",
                     made["law_particles"], "--paths", "p3.csv", "--count", 2, "--out", "d3.csv")
        self.assertEqual(len({self.read(f"d{k}.csv") for k in (1, 2, 3)}), 1)
        self.assertEqual(len({self.read(f"p{k}.csv") for k in (1, 2, 3)}), 1)
        self.assertEqual(len(self.read("p1.csv").splitlines()), 1 + 2 * (1 + 5 * 2 ** made["level"]))

    def test_a_tolerance_is_met_or_warned_about(self):
        self.write("m.toml", OU)
        loose = self.json("simulate", "m.toml", "--times", 3, "--tolerance", 0.1)
        tight = self.json("simulate", "m.toml", "--times", 3, "--tolerance", 0.005)
        self.assertGreater(tight["law_particles"], 10 * loose["law_particles"])
        self.assertLessEqual(tight["errors"]["steps"], 0.005)
        self.assertLessEqual(tight["errors"]["law"], 0.01)
        done = self.run_program("simulate", "m.toml", "--times", 3, "--tolerance", 1e-5, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mckean: warning: the tolerance was not met", done.stderr)
        self.assertIn("simulation_tolerance_not_met", done.stdout)

    def test_given_particles_are_not_judged(self):
        self.write("m.toml", OU)
        made = self.json("simulate", "m.toml", "--times", 3, "--law-particles", 64)
        self.assertEqual((made["law_particles"], made["warnings"]), (64, []))
        self.assertGreater(made["errors"]["law"], 0.05)

    def test_schemes(self):
        self.write("m.toml", OU)
        euler = self.json("simulate", "m.toml", "--times", 3, "--scheme", "euler", "--tolerance", 0.03)
        splitting = self.json("simulate", "m.toml", "--times", 3, "--tolerance", 0.03)
        self.assertEqual((euler["scheme"], splitting["scheme"]), ("euler", "splitting"))
        self.assertGreater(euler["level"], splitting["level"])
        self.assertEqual(self.json("simulate", "m.toml", "--times", 3, "--unit", 1)["scheme"], "euler")

    def test_what_is_refused(self):
        self.write("m.toml", OU)
        simulate = ("simulate", "m.toml", "--times", 3)
        for option in ("--level", "--unit"):
            self.refuse(*simulate, option, 2, "--tolerance", 0.1, says=("--tolerance", "--level", "leave one"))
        self.refuse(*simulate, "--tolerance", 0, says="--tolerance")
        self.refuse(*simulate, "--scheme", "milstein", says="--scheme")
        self.refuse(*simulate, "--law-particles", 64, "--series", 65, says=("65 series", "--law-particles 64"))


if __name__ == "__main__":
    unittest.main()
