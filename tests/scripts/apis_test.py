"""An API's versions stand in the table of its messages. The comments that repeat them for readers say the same."""

import pathlib
import re
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
MESSAGES = PROJECT / "protocol" / "messages"
HANDLERS = PROJECT / "broker" / "handlers"
REQUEST = re.compile(r"PARTITA_(?:EMPTY_)?MESSAGE\(\w+Request, versions\((\d+), (\d+)\)")
API = re.compile(r"PARTITA_API\(\w+, (\w+)")


def numbered(directory, ending):
    return [path for path in sorted(directory.glob(f"*{ending}")) if re.match(r"\d+_", path.name)]


class Comments(unittest.TestCase):
    def api_of(self, name):
        """Kafka's name and the versions of the API whose files are called so."""
        text = (MESSAGES / f"{name}.cc").read_text()
        return API.search(text).group(1), tuple(map(int, REQUEST.search(text).groups()))

    def test_the_headers_of_messages_state_the_versions_of_the_tables(self):
        paths = numbered(MESSAGES, ".h")
        self.assertGreater(len(paths), 70)
        for path in paths:
            name, (first, last) = self.api_of(path.stem)
            versions = f"version {first}" if first == last else f"versions {first} to {last}"
            self.assertRegex(path.read_text(), rf"/// {name} \(key {int(path.stem.split('_')[0])}\): {versions}\b", path.name)

    def test_the_handlers_state_the_versions_of_the_tables(self):
        paths = numbered(HANDLERS, ".cc")
        self.assertGreater(len(paths), 60)
        for path in paths:
            name, (first, last) = self.api_of(path.stem)
            versions = f"v{first}" if first == last else f"v{first}-{last}"
            self.assertRegex(path.read_text(), rf"\A// {name}: {versions}\b(?!-)", path.name)


if __name__ == "__main__":
    unittest.main()
