"""The image that scripts/package made: what it is on disk, and what a container of it does."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
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


TOKEN = "0123456789abcdef0123456789abcdef"


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

    def test_another_tool_can_read_it(self):
        if not shutil.which("skopeo"):
            self.skipTest("no skopeo here")
        told = json.loads(subprocess.run(["skopeo", "inspect", f"oci:{IMAGE.layout}"], capture_output=True, check=True).stdout)
        self.assertEqual(told["Layers"], [layer["digest"] for layer in IMAGE.manifest["layers"]])

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

    def test_kafkas_tools_have_their_names_where_both_images_have_them(self):
        container = self.run_container()
        self.kcat("-b", "127.0.0.1:9092", "-P", "-t", "orders", input="one\n")
        for name in ("kafka-topics", "kafka-topics.sh", "/opt/kafka/bin/kafka-topics.sh", "/usr/bin/kafka-topics"):
            listed = container.run(name, "--bootstrap-server", "localhost:9092", "--list")
            self.assertEqual((listed.returncode, listed.stdout), (0, "orders\n"), listed.stderr)
        names = [line for line in (image.ROOT / "scripts/packages/links").read_text().splitlines() if not line.startswith("#")]
        there = [name for name in names if (container.root / "usr/bin" / name).is_symlink()]
        scripts = ["kafka-run-class", "kafka-server-start", "kafka-storage"]
        self.assertEqual(sorted(f"{name}.sh" for name in there + scripts),
                         sorted(path.name for path in (container.root / "opt/kafka/bin").iterdir()))
        listed = container.run("kafka-run-class.sh", "kafka.admin.TopicCommand", "--bootstrap-server", "localhost:9092", "--list")
        self.assertEqual((listed.returncode, listed.stdout), (0, "orders\n"), listed.stderr)

    def test_scripts_that_wait_for_kafka_find_their_helpers(self):
        container = self.run_container()
        for name in ("cub", "ub"):
            ready = container.run(name, "kafka-ready", "-b", "localhost:9092", "1", "10")
            self.assertEqual(ready.returncode, 0, ready.stderr)
        self.assertIn("one node", container.run("cub", "kafka-ready", "-b", "localhost:9092", "3", "10").stderr)
        self.assertIn("answered within 1 s", container.run("cub", "kafka-ready", "-b", "localhost:9999", "1", "1").stderr)
        self.assertEqual(container.run("cub", "zk-ready", "zookeeper:2181", "40").returncode, 0)

    def test_listeners_follow_from_what_is_advertised(self):
        container = self.run_container("KAFKA_ADVERTISED_LISTENERS=IN://kafka:29092,OUT://localhost:19092", "KAFKA_ZOOKEEPER_CONNECT=z:2181",
                                       "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=IN:PLAINTEXT,OUT:PLAINTEXT", "KAFKA_LOG_DIR=/tmp/data",
                                       "KAFKA_INTER_BROKER_LISTENER_NAME=IN", command=["/etc/confluent/docker/run"])
        self.assertIn("at localhost:19092", self.kcat("-b", "127.0.0.1:19092", "-L"))
        self.assertTrue((container.root / "tmp/data/.lock").exists(), container.log())

    def test_a_volume_of_bitnamis_holds_the_data(self):
        volume = pathlib.Path(tempfile.mkdtemp(prefix="partita-volume-"))
        self.addCleanup(shutil.rmtree, volume)
        os.chown(volume, 1000, 0)
        container = self.run_container("KAFKA_CFG_LISTENERS=PLAINTEXT://:9092", "ALLOW_PLAINTEXT_LISTENER=yes", volume=(volume, "/bitnami/kafka"))
        self.kcat("-b", "127.0.0.1:9092", "-P", "-t", "orders", input="one\n")
        self.assertTrue((volume / "data/orders-0").is_dir(), container.log())

    def test_variables_may_come_as_arguments_and_a_file_by_kafkas_script(self):
        container = self.run_container(command=["/etc/kafka/docker/run", "KAFKA_LISTENERS=PLAINTEXT://:19092"])
        self.kcat("-b", "127.0.0.1:19092", "-L")
        container.stop()
        container = image.Container(IMAGE, command=["kafka-server-start.sh", "/tmp/my.properties", "--override", "num.partitions=4"])
        self.addCleanup(container.remove)
        (container.root / "tmp/my.properties").write_text("listeners=PLAINTEXT://:19093\nlog.dir=/tmp/mine\n")
        container.start()
        wait_until(lambda: "RECOVERY to RUNNING" in container.log() or container.exit_code() is not None, container.log)
        self.kcat("-b", "127.0.0.1:19093", "-P", "-t", "orders", input="one\n")
        self.assertIn("with 4 partitions", self.kcat("-b", "127.0.0.1:19093", "-L", "-t", "orders"))

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
        self.run_container("CLUSTER_ID=4L6g3nShT-eMCtK--X86sw", f"KAFKA_PARTITA_HTTP_TOKEN={TOKEN}")
        told = json.loads(self.wget("v1/topics", f"--header=Authorization: Bearer {TOKEN}").stdout)
        self.assertEqual(told["broker"]["cluster_id"], "4L6g3nShT-eMCtK--X86sw")
        # How wget ends when it is asked who it is.
        self.assertEqual(self.wget("v1/topics").returncode, 6)

    def test_without_a_token_it_serves_health_and_metrics_alone(self):
        self.run_container()
        self.assertEqual(self.wget("health/ready").stdout, "ready\n")
        self.assertIn("# TYPE", self.wget("metrics").stdout)
        self.assertIn("403", self.wget("v1/topics").stderr)

    def wget(self, path, *options):
        return subprocess.run(["wget", "-nv", "-O", "-", *options, f"http://127.0.0.1:8092/{path}"], capture_output=True, text=True)

    def test_the_paths_of_confluents_image_start_it_too(self):
        container = self.run_container("KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:29092", command=["/etc/confluent/docker/run"])
        self.kcat("-b", "127.0.0.1:29092", "-L")
        self.assertEqual(container.stop(), 0)

    def test_what_quarkus_dev_services_say_to_redpandas_image_starts_it(self):
        # As RedpandaKafkaContainer of quarkus-kafka-client-deployment 3.38.1 writes it.
        line = ("/usr/bin/rpk redpanda start --check=false --node-id 0 --smp 1 --memory 1G --overprovisioned --reserve-memory 0M "
                "--kafka-addr PLAINTEXT://0.0.0.0:29092,OUTSIDE://0.0.0.0:9092 "
                "--advertise-kafka-addr PLAINTEXT://localhost:29092,OUTSIDE://localhost:9092 "
                "--set redpanda.auto_create_topics_enabled=true --set redpanda.enable_idempotence=true --set redpanda.enable_transactions=true ")
        container = image.Container(IMAGE, entrypoint=["sh"], command=["-c", line])
        self.addCleanup(container.remove)
        container.start()
        wait_until(lambda: "Started Kafka API server" in container.log() or container.exit_code() is not None, container.log)
        for port in (29092, 9092):
            self.assertIn(f"at localhost:{port}", self.kcat("-b", f"127.0.0.1:{port}", "-L"))

    def test_redpandas_settings_may_come_after_its_start(self):
        container = image.Container(IMAGE, entrypoint=["sh"], command=["-c", "echo began; exec rpk redpanda start --mode dev-container"],
                                    user="root:root")
        self.addCleanup(container.remove)
        (container.root / "etc/redpanda/.bootstrap.yaml").write_text("auto_create_topics_enabled: true\n")
        container.start()
        wait_until(lambda: "began" in container.log(), container.log)
        (container.root / "etc/redpanda/redpanda.yaml").write_text(
            "redpanda:\n  kafka_api:\n    - address: 0.0.0.0\n      name: external\n      port: 19092\n"
            "  advertised_kafka_api:\n    - address: 127.0.0.1\n      name: external\n      port: 39092\n")
        wait_until(lambda: "Started Kafka API server" in container.log() or container.exit_code() is not None, container.log)
        self.assertIn("at 127.0.0.1:39092", self.kcat("-b", "127.0.0.1:19092", "-L"))

    def test_kafka_storage_makes_ids_and_refuses_bad_ones(self):
        container = image.Container(IMAGE)
        self.addCleanup(container.remove)
        made = container.run("kafka-storage", "random-uuid").stdout.strip()
        self.assertRegex(made, "^[A-Za-z0-9_-]{22}$")
        self.assertEqual(container.run("kafka-storage", "format", "-t", made, "-c", "/etc/kafka/kafka.properties").returncode, 0)
        user = ["--add-scram", "SCRAM-SHA-512=[name=alice,password=alice-secret]"]
        self.assertEqual(container.run("kafka-storage.sh", "format", "-t", made, "-c", "/etc/kafka/kafka.properties", *user).returncode, 0)
        self.assertIn("partita.scram.users=SCRAM-SHA-512=[name=alice,password=alice-secret]\\n",
                      (container.root / "etc/kafka/kafka.properties").read_text())
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
