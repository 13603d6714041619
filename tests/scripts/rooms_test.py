"""Tests of scripts/rooms.cmake: small projects, whose libraries link as their rooms may include each other, or otherwise."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = """# a comment
room low
    holds this
pure core
    <- low
pure broker/addons/x
    <- low
set some
    <- low @pure
room high
    <- @some
"""
PROJECT_FILE = """cmake_minimum_required(VERSION 3.25)
project(test CXX)
foreach(name low core x high)
    set(place ${name})
    if(name STREQUAL "x")
        set(place broker/addons/x)
    endif()
    add_library(${name} STATIC ${place}/a.cc)
endforeach()
add_library(made STATIC ${CMAKE_BINARY_DIR}/made.cc)
target_link_libraries(%s)
include(scripts/rooms.cmake)
partita_check_links(low core x high made)
"""


class Links(unittest.TestCase):
    def configure(self, link):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory, "tree")
            for place in ("low", "core", "broker/addons/x", "high", "scripts"):
                (root / place).mkdir(parents=True)
                (root / place / "a.cc").write_text("int a;\n")
            shutil.copy(PROJECT / "scripts/rooms.cmake", root / "scripts")
            (root / "scripts/rooms").write_text(ROOMS)
            (root / "CMakeLists.txt").write_text(PROJECT_FILE % link)
            build = pathlib.Path(directory, "build")
            build.mkdir()
            (build / "made.cc").write_text("int made;\n")
            done = subprocess.run(["cmake", "-S", root, "-B", build], capture_output=True, text=True)
            return done.returncode, " ".join(done.stderr.split())

    def test_links_to_rooms_that_may_be_included_are_good(self):
        for link in ("core PUBLIC low", "high PRIVATE core", "high PUBLIC low", "made PUBLIC high", "low PUBLIC made"):
            with self.subTest(link):
                self.assertEqual((0, ""), self.configure(link))

    def test_other_links_are_refused(self):
        for link, words in (("low PUBLIC core", "low links core, but no row"), ("high PRIVATE x", "lets high include broker/addons/x")):
            with self.subTest(link):
                code, text = self.configure(link)
                self.assertNotEqual(0, code)
                self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
