"""Tests of tests/guides/run: what it takes for a command, a file and an output, and that it notices what does not hold."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("guides_run", str(pathlib.Path(__file__).with_name("run")))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("guides_run", LOADER))
sys.modules["guides_run"] = run
LOADER.exec_module(run)


class Guides(unittest.TestCase):
    def try_guide(self, text, place="guides"):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, place, "a.md")
            path.parent.mkdir()
            path.write_text(text, encoding="utf-8")
            return run.try_page(path)

    def assert_bad(self, text, *words):
        with self.assertRaises(run.Bad) as bad:
            self.try_guide(text)
        for word in words:
            self.assertIn(word, str(bad.exception))

    def test_page_that_holds_is_counted(self):
        self.assertEqual(3, self.try_guide("# A\n```console\n$ echo a; echo b >&2\na\nb\n$ true\n```\nmore\n```console\n$ test \"$PWD\" != /\n```\n"))

    def test_wrong_output_is_told_with_its_line(self):
        self.assert_bad("```console\n$ echo a\nb\n```\n", "line 2", "`echo a`", "a\ninstead of:\nb")

    def test_output_that_nobody_expects_is_told(self):
        self.assert_bad("```console\n$ echo a\n```\n", "printed:\na")

    def test_output_that_does_not_come_is_told(self):
        self.assert_bad("```console\n$ true\na\n```\n", "instead of:\na")

    def test_dots_stand_for_text_and_for_lines(self):
        self.try_guide("```console\n$ seq 1 9\n1\n...\n9\n$ echo took 31 ms\ntook ... ms\n$ true\n...\n```\n")

    def test_dots_do_not_stand_for_the_rest(self):
        self.assert_bad("```console\n$ echo took 31 s\ntook ... ms\n```\n", "took 31 s")

    def test_command_that_fails_is_told(self):
        self.assert_bad("```console\n$ echo why; exit_code() { return 3; }; exit_code\nwhy\n```\n", "ended with 3", "why")

    def test_command_that_ends_the_shell_is_told(self):
        self.assert_bad("```console\n$ exit 0\n```\n", "ended the shell")

    def test_command_that_takes_too_long_is_told(self):
        self.assert_bad("<!-- seconds: 1 -->\n```console\n$ sleep 30\n```\n", "longer than 1 s")

    def test_shell_is_one_for_the_page(self):
        self.try_guide("```console\n$ a=1; cd /\n```\n```console\n$ echo $a $PWD\n1 /\n```\n")

    def test_command_has_further_lines(self):
        self.try_guide("```console\n$ cat <<END\n> a\n> END\na\n```\n")

    def test_background_command_is_waited_for_by_its_output(self):
        self.try_guide("```console\n$ (sleep 0.3; echo ready; sleep 30) &\nready\n```\n")

    def test_background_command_without_its_output_is_told(self):
        self.assert_bad("<!-- seconds: 1 -->\n```console\n$ sleep 30 &\nready\n```\n", "instead of:\nready")

    def test_file_is_written_as_it_stands_there(self):
        self.try_guide("`a/b.txt`:\n\n```properties\nx=1\n\ny=2\n```\n```console\n$ cat a/b.txt\nx=1\n\ny=2\n```\n")

    def test_block_that_nobody_runs_says_why(self):
        self.assert_bad("```console\n$ true\n```\n\n```\nmake it\n```\n", "line 5", "say why")
        self.try_guide("```console\n$ true\n```\n<!-- not run: it is an example -->\n\n```\nmake it\n```\n")

    def test_reason_counts_for_one_block(self):
        self.assert_bad("```console\n$ true\n```\n<!-- not run: an example -->\n```\na\n```\n\n```\nb\n```\n", "line 9")

    def test_other_pages_may_have_other_blocks(self):
        self.assertEqual(1, self.try_guide("```\nmake it\n```\n```console\n$ true\n```\n", place="docs"))

    def test_guide_without_a_command_is_no_guide(self):
        self.assert_bad("# A\n", "no command")

    def test_ports_are_others_everywhere(self):
        self.try_guide("`a`:\n```\nb:9092\n```\n```console\n$ grep -v 909[2] a\nb:9092\n$ echo 9092 19092\n9092 19092\n```\n")

    def test_block_without_an_end_is_told(self):
        self.assert_bad("```console\n$ true\n", "no end")


if __name__ == "__main__":
    unittest.main()
