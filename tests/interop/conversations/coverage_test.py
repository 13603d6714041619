"""Every API has a conversation at its oldest and at its newest version."""

import re
import unittest

import recording
import wire

# A stock Kafka 4.3.1 does not advertise these (no reporter takes client metrics).
NOT_ADVERTISED = {"GetTelemetrySubscriptions", "PushTelemetry"}
# What we do not serve yet, see differences.toml.
NOT_SERVED = {"AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "WriteTxnMarkers", "TxnOffsetCommit",
              "ShareGroupHeartbeat", "ShareGroupDescribe", "ShareFetch", "ShareAcknowledge", "DescribeShareGroupOffsets",
              "AlterShareGroupOffsets", "DeleteShareGroupOffsets", "StreamsGroupHeartbeat", "StreamsGroupDescribe"}


class Coverage(unittest.TestCase):
    def test_every_api_that_both_serve_is_spoken_at_its_oldest_and_newest_version(self):
        spoken = set()
        for path in recording.DIRECTORY.glob("*.txt"):
            for steps in recording.load(path.stem).values():
                for step in steps:
                    found = re.match(r"(\w+) v(-?\d+)", step.get("ask", ""))
                    if found and isinstance(step["answer"], dict):
                        spoken.add((found[1], int(found[2])))
        wanted = {(api, version) for api in wire.APIS if api not in NOT_ADVERTISED | NOT_SERVED
                  for version in (wire.oldest(api), wire.newest(api))}
        self.assertEqual(sorted(wanted - spoken), [])


if __name__ == "__main__":
    unittest.main()
