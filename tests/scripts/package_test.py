"""Tests of scripts/package and of scripts/packages/oci-layout, without a build: what is refused, and what an image is made like."""

import gzip
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPOCH = 1_700_000_000


class Package(unittest.TestCase):
    def test_what_it_does_not_know_is_refused(self):
        for arguments in (["rpm"], ["--version"], ["--version", "-x"]):
            done = subprocess.run([ROOT / "scripts/package", *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage: scripts/package", done.stderr)

    def test_every_script_that_is_packed_can_be_read_by_its_shell(self):
        scripts = [path for path in (ROOT / "scripts/packages").rglob("*") if path.is_file() and path.read_bytes().startswith(b"#!/bin/")]
        self.assertGreater(len(scripts), 8)
        for script in scripts:
            shell = "bash" if script.read_text().startswith("#!/bin/bash") else "sh"
            done = subprocess.run([shell, "-n", script], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), script)
            self.assertTrue(os.access(script, os.X_OK) or script.name in ("postinst", "postrm", "prerm"), script)


class OciLayout(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        tree = self.directory / "tree"
        for name in ("usr/bin", "var/lib/kafka/data", "tmp"):
            (tree / name).mkdir(parents=True)
        (tree / "usr/bin/partita").write_bytes(b"program")
        (tree / "usr/bin/partita").chmod(0o755)
        (tree / "usr/bin/kafka-topics").symlink_to("partita")

    def layout(self, name):
        output = self.directory / name
        subprocess.run([sys.executable, "-B", ROOT / "scripts/packages/oci-layout", "--root", self.directory / "tree", "--output", output,
                        "--architecture", "amd64", "--version", "1"], check=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})
        return output

    @staticmethod
    def blob(layout, descriptor):
        content = (layout / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes()
        assert "sha256:" + hashlib.sha256(content).hexdigest() == descriptor["digest"] and len(content) == descriptor["size"]
        return content

    def test_a_tree_gives_the_same_bytes_whenever_its_files_were_written(self):
        first = self.layout("first")
        for path in (self.directory / "tree").rglob("*"):
            os.utime(path, (1, 1), follow_symlinks=False)
        second = self.layout("second")
        files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
        self.assertEqual(files, sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file()))
        for file in files:
            self.assertEqual((first / file).read_bytes(), (second / file).read_bytes(), file)

    def test_its_files_are_roots_but_for_what_the_user_writes(self):
        layout = self.layout("layout")
        manifest = json.loads(self.blob(layout, json.loads((layout / "index.json").read_text())["manifests"][0]))
        config = json.loads(self.blob(layout, manifest["config"]))
        tar = gzip.decompress(self.blob(layout, manifest["layers"][0]))
        self.assertEqual(config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(tar).hexdigest()])
        (self.directory / "layer.tar").write_bytes(tar)
        with tarfile.open(self.directory / "layer.tar") as layer:
            entries = {entry.name: entry for entry in layer}
        self.assertEqual({entry.mtime for entry in entries.values()}, {EPOCH})
        self.assertEqual((entries["usr/bin/partita"].uid, entries["usr/bin/partita"].mode), (0, 0o755))
        self.assertEqual(entries["usr/bin/kafka-topics"].linkname, "partita")
        data = entries["var/lib/kafka/data"]
        self.assertEqual((data.uid, data.gid, data.mode & 0o070), (1000, 0, 0o070))
        self.assertEqual(entries["tmp"].mode, 0o1777)


if __name__ == "__main__":
    unittest.main()
