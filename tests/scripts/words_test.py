#!/usr/bin/env python3
"""Tests of scripts/tidy --words: its complaints, the texts that it lets pass, and that this tree has none."""

import pathlib
import subprocess
import sys
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "scripts"))
import tidy_words  # noqa: E402


def of_page(text):
    return [problem for _, _, problem in tidy_words.check_markdown("docs/a.md", text)]


def of_source(text):
    return [problem for _, _, problem in tidy_words.check_source("broker/a.cc", text)]


class Words(unittest.TestCase):
    def assert_one(self, problems, *parts):
        self.assertEqual(1, len(problems), problems)
        for part in parts:
            self.assertIn(part, problems[0])

    def test_a_sentence_that_hides_its_actor_behind_a_pronoun_is_named(self):
        for opening in ("Of", "Who", "Whose", "What"):
            with self.subTest(opening=opening):
                self.assert_one(of_page(f"It is so. {opening} comes later waits.\n"), f'begins with "{opening}"')
                self.assert_one(of_source(f"// {opening} comes later waits.\n"), f'begins with "{opening}"')

    def test_a_question_may_begin_with_a_pronoun(self):
        self.assertEqual([], of_page("Who owns a partition?\n"))

    def test_the_line_of_the_paragraph_is_told(self):
        self.assertEqual([("docs/a.md", 3, 'a sentence begins with "What": name the actor first: What comes waits.')],
                         list(tidy_words.check_markdown("docs/a.md", "# A\n\nWhat comes waits.\n")))

    def test_phrases_without_an_actor_are_named(self):
        for text, phrase in [("It stops whoever comes.", "whoever"), ("It waits for somebody.", "somebody"), ("Its port is none.", "is none"),
                             ("It says that there is no such topic.", "there is no such")]:
            with self.subTest(text=text):
                self.assert_one(of_page(text + "\n"), f'"{phrase}"')
                self.assert_one(of_source(f"/// {text}\n"), f'"{phrase}"')

    def test_there_is_none_is_a_good_sentence(self):
        self.assertEqual([], of_page("It is null if there is none.\n"))

    def test_a_sentence_beyond_the_limit_is_named_and_one_at_the_limit_is_not(self):
        words = "word " * (tidy_words.WORDS_MAX - 1)
        self.assertEqual([], of_page(f"A {words.strip()}.\n"))
        self.assert_one(of_page(f"A long {words.strip()}.\n"), f"{tidy_words.WORDS_MAX + 1} words")

    def test_parts_between_colons_and_semicolons_count_by_themselves(self):
        part = ("word " * tidy_words.WORDS_MAX).strip()
        self.assertEqual([], of_page(f"{part}: {part}; {part}.\n"))

    def test_code_is_one_word_and_a_link_is_its_text(self):
        self.assertEqual(4, tidy_words.word_count("Run `a very long command line` [in here](docs/a-b-c.md)."))

    def test_cells_of_tables_are_read_by_themselves(self):
        part = ("word " * (tidy_words.WORDS_MAX - 5)).strip()
        self.assertEqual([], of_page(f"| {part} | {part} |\n"))
        self.assert_one(of_page("| a | What comes waits. |\n"), 'begins with "What"')

    def test_code_blocks_headings_and_comments_of_pages_are_no_prose(self):
        self.assertEqual([], of_page("# What is promised\n```\nWhat comes waits for somebody.\n```\n<!-- Who reads\nthis -->\n"))

    def test_descriptions_in_json_documents_are_prose(self):
        text = '{"paths": [{\n"summary": "Who reads it",\n"name": "What"}], "description": "Its readers"}'
        self.assertEqual([("docs/a.json", 2, 'a sentence begins with "Who": name the actor first: Who reads it')],
                         list(tidy_words.check_json("docs/a.json", text)))

    def test_consecutive_lines_of_a_comment_are_one_text(self):
        self.assertEqual([], of_source("// It says to clients\n// What happened.\n"))

    def test_a_comment_behind_code_is_read(self):
        self.assert_one(of_source("int a;  // Whoever asks gets it.\n") [:1], "Whoever")

    def test_strings_are_no_comments(self):
        self.assertEqual([], of_source('const char* url = "http://What comes";\n'))

    def test_a_log_message_begins_with_its_subject(self):
        self.assert_one(of_source('log::warning("net", "its port was closed", {});\n'), 'begins with "its"')
        self.assertEqual([], of_source('log::warning("net", "could not close the port", {});\n'))

    def test_footnotes_are_read_by_themselves(self):
        part = ("word " * (tidy_words.WORDS_MAX - 5)).strip()
        self.assertEqual([], of_page(f"[^1]: A {part}.\n[^2]: A {part}.\n"))
        self.assert_one(of_page(f"[^1]: A {part}.\n[^2]: What {part}.\n"), 'begins with "What"')

    def test_generated_pages_are_no_exception(self):
        self.assertEqual(1, len(list(tidy_words.check_markdown("docs/configs.md", "What comes waits.\n"))))

    def test_subjects_of_commits_have_an_area_an_imperative_and_72_columns(self):
        self.assertIsNone(tidy_words.problem_of_subject("storage: stop trusting a window after its zero-fill failed"))
        self.assertIsNone(tidy_words.problem_of_subject("handlers, protocol: let the file of an API declare all that it is"))
        self.assertIn("73 columns", tidy_words.problem_of_subject("storage: " + "a" * 64))
        self.assertIn("imperative", tidy_words.problem_of_subject("Update things"))
        self.assertIn('"the"', tidy_words.problem_of_subject("storage: the window is closed"))

    def test_this_tree_has_no_complaint(self):
        done = subprocess.run([sys.executable, "-B", str(PROJECT / "scripts" / "tidy"), "--words"], capture_output=True, text=True)
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))


if __name__ == "__main__":
    unittest.main()
