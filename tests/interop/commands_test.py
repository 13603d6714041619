#!/usr/bin/env python3
"""Our commands against what Kafka's tools said (command_lines.json), line by line. Needs neither a JVM nor a client."""

import json
import unittest

import command_lines
import commands
import harness


class Commands(unittest.TestCase):
    """One broker for all lines."""

    @classmethod
    def setUpClass(cls):
        cls.broker = harness.PartitaBroker(command_lines.BROKER_PROPERTIES).__enter__()
        cls.addClassCleanup(cls.broker.__exit__, None)
        cls.ours = commands.Commands(cls.broker.bootstrap)
        cls.addClassCleanup(cls.ours.close)
        cls.words = command_lines.build(cls.ours)
        cls.recorded = json.loads(command_lines.RECORDED.read_text())

    def test_every_line_was_recorded(self):
        lines = {" ".join(line) for line in command_lines.LOOKS}
        self.assertEqual(lines - command_lines.OF_THE_MOMENT, set(self.recorded))

    def test_lines_say_what_kafkas_tools_said(self):
        for line in command_lines.LOOKS:
            key = " ".join(line)
            if key in command_lines.OF_THE_MOMENT:
                continue
            with self.subTest(key):
                mine = commands.shown(command_lines.run(self.ours, line, self.words))
                said, _ = command_lines.DIFFERENCES.get(key, ({}, None))
                self.assertEqual(command_lines.Recording.normal(mine, self.words, self.ours.bootstrap),
                                 {**self.recorded[key], **said})


if __name__ == "__main__":
    unittest.main()
