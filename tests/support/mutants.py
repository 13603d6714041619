"""Bugs that are put into the broker on purpose, to see whether a test notices. Each is a patch, whose first lines say which."""

import contextlib
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(directory, *targets):
    subprocess.run(["cmake", "--build", directory, "--target", *targets], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def mutated(patch):
    """The source tree has the bug inside, and is as before when this is left, also when something fails."""
    subprocess.run(["git", "apply", patch], cwd=ROOT, check=True)
    try:
        yield
    finally:
        subprocess.run(["git", "apply", "-R", patch], cwd=ROOT, check=True)
