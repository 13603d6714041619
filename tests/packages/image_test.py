"""The image that scripts/package made: what it is on disk, and what a container of it does."""

import hashlib
import json
import pathlib
import subprocess
import sys
import time
import unittest

import image

MOST_BYTES = 20_000_000
LIMIT_S = 20


def wait_until(condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {LIMIT_S} s: {what()}")
        time.sleep(0.02)


class Layout(unittest.TestCase):
    def test_every_blob_is_what_its_name_says(self):
        for blob in IMAGE.blobs():
            content = IMAGE.blob(blob["digest"]).read_bytes()
            self.assertEqual("sha256:" + hashlib.sha256(content).hexdigest(), blob["digest"])
            self.assertEqual(len(content), blob["size"])
        files = {path.name for path in (IMAGE.layout / "blobs/sha256").iterdir()}
        self.assertEqual(len(files), len(IMAGE.blobs()) + 1, "blobs that nothing names")
        self.assertEqual(json.loads((IMAGE.layout / "oci-layout").read_text()), {"imageLayoutVersion": "1.0.0"})

    def test_the_layer_is_the_one_that_the_config_names_when_unpacked(self):
        for layer, named in zip(IMAGE.manifest["layers"], IMAGE.config["rootfs"]["diff_ids"], strict=True):
            tar = subprocess.run(["gzip", "-dc", IMAGE.blob(layer["digest"])], capture_output=True, check=True).stdout
            self.assertEqual("sha256:" + hashlib.sha256(tar).hexdigest(), named)

    def test_it_is_small(self):
        self.assertLess(sum(blob["size"] for blob in IMAGE.blobs()), MOST_BYTES)


class Run(unittest.TestCase):
    def run_container(self, *environment, **options):
        container = image.Container(IMAGE, environment=environment, **options)
        self.addCleanup(container.remove)
        container.start()
        wait_until(lambda: "RECOVERY to RUNNING" in container.log() or container.exit_code() is not None, container.log)
        self.assertIsNone(container.exit_code(), container.log())
        return container

    @staticmethod
    def kcat(*arguments, **options):
        return subprocess.run(["kcat", *arguments], capture_output=True, text=True, check=True, timeout=30, **options).stdout

    def test_without_anything_it_serves_on_9092_as_its_user(self):
        container = self.run_container()
        self.kcat("-b", "127.0.0.1:9092", "-P", "-t", "orders", input="one\n")
        self.assertEqual(self.kcat("-b", "127.0.0.1:9092", "-C", "-t", "orders", "-e", "-q", "-o", "beginning"), "one\n")
        data = container.root / "var/lib/kafka/data/orders-0"
        self.assertEqual(data.stat().st_uid, 1000)
        self.assertEqual(container.stop(), 0, container.log())

    def test_as_a_user_that_nobody_knows_of_the_group_of_root_it_serves(self):
        container = self.run_container(user="123456:0")
        self.kcat("-b", "127.0.0.1:9092", "-L")
        self.assertEqual((container.root / "var/lib/kafka/data/.lock").stat().st_uid, 123456)

    def test_the_health_check_tells_whether_clients_are_served(self):
        check = IMAGE.config["config"]["Healthcheck"]["Test"]
        self.assertEqual(check[0], "CMD")
        container = self.run_container()
        self.assertEqual(container.run(*check[1:]).returncode, 0)
        container.stop()
        self.assertNotEqual(container.run(*check[1:]).returncode, 0)

    def test_variables_go_before_a_mounted_file_and_that_before_the_image(self):
        container = image.Container(IMAGE, environment=["KAFKA_NUM_PARTITIONS=7", "KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:19092"])
        self.addCleanup(container.remove)
        (container.root / "mnt/shared/config/server.properties").write_text("num.partitions=3\npartita.http.listener=0.0.0.0:18092\n")
        container.start()
        wait_until(lambda: "RECOVERY to RUNNING" in container.log() or container.exit_code() is not None, container.log)
        self.kcat("-b", "127.0.0.1:19092", "-P", "-t", "orders", input="one\n")
        self.assertIn("with 7 partitions", self.kcat("-b", "127.0.0.1:19092", "-L", "-t", "orders"))
        self.assertEqual(container.run("wget", "-q", "-O", "-", "http://127.0.0.1:18092/health/ready").stdout, "ready\n")

    def test_the_cluster_has_the_identity_that_is_given(self):
        self.run_container("CLUSTER_ID=4L6g3nShT-eMCtK--X86sw")
        told = json.loads(subprocess.run(["wget", "-q", "-O", "-", "http://127.0.0.1:8092/v1/topics"], capture_output=True, check=True).stdout)
        self.assertEqual(told["broker"]["cluster_id"], "4L6g3nShT-eMCtK--X86sw")

    def test_the_paths_of_confluents_image_start_it_too(self):
        container = self.run_container("KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:29092", command=["/etc/confluent/docker/run"])
        self.kcat("-b", "127.0.0.1:29092", "-L")
        self.assertEqual(container.stop(), 0)

    def test_kafka_storage_makes_ids_and_refuses_bad_ones(self):
        container = image.Container(IMAGE)
        self.addCleanup(container.remove)
        made = container.run("kafka-storage", "random-uuid").stdout.strip()
        self.assertRegex(made, "^[A-Za-z0-9_-]{22}$")
        self.assertEqual(container.run("kafka-storage", "format", "-t", made, "-c", "/etc/kafka/kafka.properties").returncode, 0)
        for arguments in (["format", "-t", "short"], ["format", "-t"], ["format", "-t", made, "--add-scram", "x"], ["dump"]):
            self.assertEqual(container.run("kafka-storage", *arguments).returncode, 2, arguments)

    def test_what_asks_for_what_is_not_here_is_refused_with_a_sentence(self):
        container = image.Container(IMAGE)
        self.addCleanup(container.remove)
        (container.root / "etc/redpanda/redpanda.yaml").write_text(
            "redpanda:\n  kafka_api:\n    - address: 0.0.0.0\n      name: external\n      port: 9092\n      authentication_method: sasl\n")
        refused = container.run("/entrypoint.sh", "redpanda", "start")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("asks for a listener with SASL", refused.stderr)
        self.assertIn("only 'redpanda start'", container.run("rpk", "topic", "list").stderr)


if __name__ == "__main__":
    image.in_own_network()
    IMAGE = image.Image()
    unittest.main(argv=sys.argv)
