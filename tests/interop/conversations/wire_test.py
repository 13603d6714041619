"""The codec against bytes that Kafka's own classes wrote: an error of our tables would show here, not on both sides."""

import unittest

import wire


class AgainstKafkasClasses(unittest.TestCase):
    def test_every_vector_of_a_client_api_decodes_and_encodes_to_the_same_bytes(self):
        seen = set()
        for line in (wire.ROOT / "tests/golden/kafka_generated.txt").read_text().splitlines():
            if line.startswith("#"):
                continue
            message, version, hexadecimal = (line + " ").split(" ")[:3]
            if message not in wire.MESSAGES:
                continue
            data = bytes.fromhex(hexadecimal)
            values = wire.decode(message, int(version), data)
            self.assertEqual(wire.encode(message, int(version), values).hex(), hexadecimal, f"{message} v{version}")
            seen.add((message, int(version)))
        wanted = {(api[side], version) for api in wire.APIS.values() for side in ("request", "response")
                  for version in range(api["first"], api["last"] + 1)}
        self.assertEqual(wanted - seen, set())


if __name__ == "__main__":
    unittest.main()
