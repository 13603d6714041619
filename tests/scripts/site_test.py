"""Tests of scripts/site: that the project's own links lead somewhere, and that each kind of link that leads nowhere is told of."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("site_script", str(PROJECT / "scripts" / "site"))
site = importlib.util.module_from_spec(importlib.util.spec_from_loader("site_script", LOADER))
LOADER.exec_module(site)


class WithFiles(unittest.TestCase):
    def tree(self, files):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        root = pathlib.Path(directory.name).resolve()
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return root


class MarkdownLinks(WithFiles):
    def problems(self, files):
        return site.markdown_problems(self.tree(files))[0]

    def test_every_link_of_the_project_leads_somewhere(self):
        problems, count = site.markdown_problems(PROJECT)
        self.assertEqual([], problems)
        self.assertGreater(count, 50)

    def test_links_to_files_directories_and_headings_are_fine(self):
        self.assertEqual([], self.problems({
            "README.md": "[a](docs/a.md) [b](docs/a.md#what-it-costs-a-b) [c](docs) ![d](docs/d.png) [e](#top) [f](https://example.org/#x)\n# Top\n",
            "docs/a.md": "# What it costs: `a` & b?\n".replace(" & ", " "), "docs/d.png": ""}))

    def test_missing_file_is_told_with_its_place(self):
        self.assertEqual(["README.md:2: docs/b.md: there is no such file"], self.problems({"README.md": "# A\n[b](docs/b.md)\n"}))

    def test_missing_heading_is_told_also_in_the_same_file(self):
        self.assertEqual(["README.md:1: #b: there is no such heading", "README.md:1: a.md#c: there is no such heading"],
                         self.problems({"README.md": "[b](#b) [c](a.md#c)\n", "a.md": "# A\n"}))

    def test_link_out_of_the_project_leads_nowhere(self):
        self.assertEqual(["README.md:1: ../../etc: there is no such file"], self.problems({"README.md": "[a](../../etc)\n"}))

    def test_link_whose_words_are_on_two_lines_is_one(self):
        self.assertEqual(["README.md:2: b.md: there is no such file"], self.problems({"README.md": "\n[two\nlines](b.md)\n"}))

    def test_code_has_neither_links_nor_headings(self):
        self.assertEqual(["README.md:5: #a: there is no such heading"],
                         self.problems({"README.md": "```\n# A\n[x](nowhere.md)\n```\n[a](#a) `[y](nowhere.md)`\n"}))

    def test_second_heading_of_a_name_has_a_number(self):
        self.assertEqual([], self.problems({"README.md": "# A\n## A\n[second](#a-1)\n"}))


class SiteLinks(WithFiles):
    def problems(self, files):
        return site.site_problems(self.tree(files))[0]

    def test_whole_site_is_fine(self):
        self.assertEqual([], self.problems({
            "index.html": "<link rel=icon href=i.svg><a href='a.html#x'>x</a><a href='a.html?q=1'>q</a><a href=https://example.org>e</a><img src=i.svg>",
            "a.html": "<p id=x><a href='#'>top</a><a href='#x'>x</a>", "i.svg": "", "s.css": "a { background: url(i.svg) }"}))

    def test_missing_page_and_anchor_are_told(self):
        self.assertEqual(["index.html:1: b.html: there is no such file", "index.html:2: #y: there is no such anchor"],
                         self.problems({"index.html": "<a href=b.html>\n<a href='#y'>"}))

    def test_what_a_browser_would_load_from_elsewhere_is_told(self):
        self.assertEqual(["index.html:1: https://example.org/a.js: is loaded from elsewhere", "index.html:2: //example.org/a.css: is loaded from elsewhere",
                          "s.css: loads something from elsewhere"],
                         self.problems({"index.html": "<script src=https://example.org/a.js></script>\n<link rel=stylesheet href=//example.org/a.css>",
                                        "s.css": "@import 'https://example.org/b.css';"}))


class Command(WithFiles):
    def test_broken_link_ends_with_1_and_its_line(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = site.main(["--links", "--root", str(self.tree({"README.md": "[b](b.md)\n"}))])
        self.assertEqual((1, "README.md:1: b.md: there is no such file\n"), (code, out.getvalue()))


if __name__ == "__main__":
    unittest.main()
