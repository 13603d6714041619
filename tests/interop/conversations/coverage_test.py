"""Every API is spoken at its oldest and newest version, with and without the errors that one broker answers."""

import pathlib
import re
import unittest

import coverage
import recording

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs/dynamic-configs.md"


class Coverage(unittest.TestCase):
    def test_of_every_api_that_both_serve_nothing_is_missing(self):
        self.assertEqual(list(coverage.gaps()), [])

    def test_a_gap_is_noticed(self):
        seen = coverage.Shown()
        seen.add(3, {"ErrorCode": "NONE", "Topics": [{"ErrorCode": "INVALID_CONFIG"}]})
        found = list(coverage.gaps_of("CreateTopics", seen, {"errors": ["INVALID_CONFIG", "INVALID_REQUEST"]}, {}))
        self.assertEqual(found, ["CreateTopics is not spoken at its oldest version 2",
                                 "CreateTopics is not spoken at its newest version 7",
                                 "CreateTopics: no conversation shows INVALID_REQUEST"])

    def test_an_answer_with_an_error_is_no_good_one(self):
        seen = coverage.Shown()
        for version in (0, 3):
            seen.add(version, {"Results": [{"ErrorCode": "NONE"}, {"ErrorCode": "INVALID_PARTITIONS"}]})
        found = list(coverage.gaps_of("CreatePartitions", seen, {}, {}))
        self.assertEqual(found, ["CreatePartitions has no answer without errors at its oldest version 0",
                                 "CreatePartitions has no answer without errors at its newest version 3",
                                 "CreatePartitions: errors.toml does not know INVALID_PARTITIONS, which a conversation "
                                 "shows"])


class Rights(unittest.TestCase):
    def test_every_api_is_asked_by_who_may_and_who_may_not_and_who_may_only_describe(self):
        self.assertEqual(list(coverage.rights_gaps()), [])

    def test_who_does_not_ask_is_noticed(self):
        transcripts = recording.load("rights")
        transcripts["rights/records are read"] = [step for step in transcripts["rights/records are read"]
                                                  if not step["ask"].startswith("Fetch v4 on maynot")]
        self.assertEqual(list(coverage.rights_gaps(None, transcripts)), ["Fetch is not asked at version 4 by `maynot`"])


class DynamicConfigs(unittest.TestCase):
    def test_the_docs_say_of_each_that_kafka_accepts_what_it_does(self):
        described = max((step["answer"]["Results"][0]["Configs"] for step in
                         recording.load("configs")["configs/broker configs"] if "answer" in step), key=len)
        accepted = {config["Name"] for config in described if not config["ReadOnly"]}
        self.assertGreater(len(accepted), 90)
        rows = [line for line in DOCS.read_text().splitlines() if line.startswith("| `")]
        said = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])}
        families = tuple(name[:-1] for name in said if name.endswith(".*"))
        self.assertEqual(sorted(name for name in accepted if name not in said and not name.startswith(families)), [])
        self.assertEqual(sorted(name for name in said - accepted if not name.endswith(".*")), [])


if __name__ == "__main__":
    unittest.main()
