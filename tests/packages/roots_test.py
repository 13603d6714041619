"""The tarball and the Debian package in bare roots of distributions, and in one that has no C library.

Roots come from debootstrap and are kept in PARTITA_ROOTS_DIR (by default ~/.cache/partita-roots)."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import image

CACHE = pathlib.Path(os.environ.get("PARTITA_ROOTS_DIR") or os.path.expanduser("~/.cache/partita-roots"))
DEBIAN = "http://deb.debian.org/debian"
UBUNTU = "http://archive.ubuntu.com/ubuntu"
UBUNTU_KEYS = "/usr/share/keyrings/ubuntu-archive-keyring.gpg"
#: By name of the release: where it comes from.
ROOTS = {"bullseye": DEBIAN, "bookworm": DEBIAN, "trixie": DEBIAN, "focal": UBUNTU, "jammy": UBUNTU}
DEBIAN_PACKAGE_ROOTS = ("bookworm", "trixie")
PORT = 9092
LIMIT_S = 30


def fetch():
    """Makes the roots that are not there yet and can be had."""
    if not shutil.which("debootstrap"):
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    for name, mirror in ROOTS.items():
        if (CACHE / name).exists() or (mirror == UBUNTU and not os.path.exists(UBUNTU_KEYS)):
            continue
        keys = ["--keyring", UBUNTU_KEYS] if mirror == UBUNTU else []
        subprocess.run(["debootstrap", "--variant=minbase", "--include=adduser", *keys, name, CACHE / f"{name}.new", mirror], check=True, stdout=subprocess.DEVNULL)
        (CACHE / f"{name}.new").rename(CACHE / name)


def package(pattern):
    found = sorted(image.PACKAGES.glob(pattern))
    if not found:
        raise FileNotFoundError(f"no {pattern} in {image.PACKAGES}; scripts/package makes it")
    return found[0]


class InRoot(unittest.TestCase):
    def copy_of(self, name):
        """A root of its own, that goes with the test."""
        if not (CACHE / name).exists():
            self.skipTest(f"no root of {name} (it needs debootstrap, a mirror and its keys)")
        directory = pathlib.Path(tempfile.mkdtemp(prefix=f"partita-{name}-"))
        self.addCleanup(shutil.rmtree, directory)
        subprocess.run(["cp", "-a", "--reflink=auto", f"{CACHE / name}/.", directory], check=True)
        return directory

    @staticmethod
    def run_in(root, *command, check=True):
        done = subprocess.run(["chroot", root, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"})
        if check and done.returncode:
            raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}")
        return done

    @contextlib.contextmanager
    def broker(self, root, *command, user="0:0"):
        process = subprocess.Popen(["chroot", f"--userspec={user}", root, *command], env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            end = time.monotonic() + LIMIT_S
            while subprocess.run(["kcat", "-b", f"127.0.0.1:{PORT}", "-L", "-m", "1"], capture_output=True).returncode:
                self.assertIsNone(process.poll(), process.stdout.read() if process.poll() is not None else "")
                self.assertLess(time.monotonic(), end)
            yield process
        finally:
            process.terminate()
            output, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, output)

    def kcat(self, *arguments, **options):
        return subprocess.run(["kcat", "-b", f"127.0.0.1:{PORT}", *arguments], capture_output=True, text=True, check=True, timeout=30,
                              **options).stdout

    def write(self, text):
        self.kcat("-P", "-t", "orders", "-z", "zstd", input=text)

    def read(self):
        return self.kcat("-C", "-t", "orders", "-e", "-q", "-o", "beginning")


class Tarball(InRoot):
    def in_root(self, root):
        with tarfile.open(package("partita-*-linux-*.tar.gz")) as tar:
            tar.extractall(root / "opt", numeric_owner=True)
        program = next((root / "opt").glob("partita-*/bin/partita"))
        inside = "/" + str(program.relative_to(root))
        with self.broker(root, inside, "serve", "--data-dir", "/opt/data"):
            self.write("one\ntwo\n")
        with self.broker(root, inside, "serve", "--data-dir", "/opt/data"):
            self.assertEqual(self.read(), "one\ntwo\n")
            (root / "etc/hosts").write_text("127.0.0.1 localhost box.internal\n")
            listed = self.run_in(root, inside.replace("bin/partita", "bin/kafka-topics.sh"), "--bootstrap-server", f"localhost:{PORT}", "--list")
            self.assertEqual(listed.stdout, "orders\n")
            # What nsswitch.conf names besides files and DNS is not asked: those libraries are for another C library.
            (root / "etc/nsswitch.conf").write_text("hosts: mymachines mdns4_minimal [NOTFOUND=return] resolve files dns\n")
            plan = self.run_in(root, inside, "plan", "orders", "--to", "2", "--bootstrap", f"box.internal:{PORT}", check=False)
            self.assertIn("orders", plan.stdout)
            self.assertIn(plan.returncode, (0, 1, 3), plan.stdout)

    def test_it_needs_no_c_library(self):
        with tempfile.TemporaryDirectory(prefix="partita-nothing-") as directory:
            root = pathlib.Path(directory)
            for name in ("opt", "etc", "tmp"):
                (root / name).mkdir()
            self.in_root(root)


def add_roots():
    for name in ROOTS:
        def test(self, name=name):
            self.in_root(self.copy_of(name))
        setattr(Tarball, f"test_in_a_bare_{name}", test)


class DebianPackage(InRoot):
    def test_lintian_has_nothing_to_say(self):
        if not shutil.which("lintian"):
            self.skipTest("no lintian here")
        done = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", package("partita_*.deb")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_it_has_a_page_of_each_command_and_completions_for_three_shells(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run(["dpkg-deb", "--extract", package("partita_*.deb"), directory], check=True)
            share = pathlib.Path(directory) / "usr/share"
            pages = {page.name for page in (share / "man/man1").iterdir()}
            programs = {program.name for program in (pathlib.Path(directory) / "usr/bin").iterdir()}
            for name in {*programs, "partita-topics", "partita-plan", "partita-top", "partita-serve"}:
                self.assertIn(f"{name}.1.gz", pages)
            for file in ("bash-completion/completions", "fish/vendor_completions.d"):
                self.assertEqual({completion.name.removesuffix(".fish") for completion in (share / file).iterdir()}, programs)
            self.assertIn("#compdef partita ", (share / "zsh/vendor-completions/_partita").read_text())

    def newer(self, directory):
        """The same package with a version that is higher."""
        tree = pathlib.Path(directory) / "tree"
        subprocess.run(["dpkg-deb", "--raw-extract", package("partita_*.deb"), tree], check=True)
        control = tree / "DEBIAN/control"
        control.write_text(control.read_text().replace("\nSection", "+next\nSection", 1))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, pathlib.Path(directory) / "newer.deb"], check=True,
                       stdout=subprocess.DEVNULL)
        return pathlib.Path(directory) / "newer.deb"

    def life_of(self, name):
        root = self.copy_of(name)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        shutil.copy(package("partita_*.deb"), root / "tmp/first.deb")
        self.run_in(root, "dpkg", "-i", "/tmp/first.deb")
        user = self.run_in(root, "id", "-u", "partita").stdout.strip()
        self.assertNotEqual(user, "0")
        data = root / "var/lib/partita"
        self.assertEqual((str(data.stat().st_uid), oct(data.stat().st_mode & 0o777)), (user, "0o750"))
        self.assertTrue((root / "etc/systemd/system/multi-user.target.wants/partita.service").is_symlink())
        service = (root / "lib/systemd/system/partita.service").read_text()
        command = next(line for line in service.splitlines() if line.startswith("ExecStart=")).split("=", 1)[1].split()
        group = self.run_in(root, "id", "-g", "partita").stdout.strip()
        with self.broker(root, *command, user=f"{user}:{group}"):
            self.write("kept\n")
        settings = root / "etc/partita/server.properties"
        settings.write_text("num.partitions=3\n")

        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(self.newer(directory), root / "tmp/newer.deb")
        self.run_in(root, "dpkg", "-i", "/tmp/newer.deb")
        self.assertIn("+next", self.run_in(root, "dpkg-query", "-W", "partita").stdout)
        self.assertEqual(settings.read_text(), "num.partitions=3\n")
        with self.broker(root, *command, user=f"{user}:{group}"):
            self.assertEqual(self.read(), "kept\n")

        self.run_in(root, "dpkg", "-r", "partita")
        self.assertFalse((root / "usr/bin/partita").exists())
        self.assertTrue((data / "orders-0").exists())
        self.assertTrue(settings.exists())
        self.run_in(root, "dpkg", "-P", "partita")
        self.assertFalse(data.exists())
        self.assertFalse(settings.parent.exists())
        left = [path for path in (root / "etc/systemd/system").rglob("*partita*")]
        self.assertEqual(left, [])


def add_lives():
    for name in DEBIAN_PACKAGE_ROOTS:
        def test(self, name=name):
            self.life_of(name)
        setattr(DebianPackage, f"test_it_is_installed_upgraded_removed_and_purged_in_{name}", test)


if __name__ == "__main__":
    if not os.environ.get("PARTITA_OWN_NETWORK") and os.geteuid() == 0:
        fetch()
    image.in_own_network()
    add_roots()
    add_lives()
    unittest.main(argv=sys.argv)
