"""Unpacks the image that scripts/package made, and runs containers of it without a container daemon: namespaces and chroot.

Whoever runs one is root (chroot, mounts). A container has its own files, processes and host name. It shares the network of this
process, which `in_own_network` separates from the machine's, so that its ports are free.
"""

import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = pathlib.Path(os.environ.get("PARTITA_PACKAGES") or ROOT / "build/packages")
SKIPPED = 77
MOUNT_AND_RUN = """
hostname "$1" && mount --bind "$2" "$2" && mount -t proc proc "$2/proc" && mount --rbind /dev "$2/dev" && cd "$2" && user=$3 where=$4 && shift 4 &&
exec chroot --userspec="$user" --groups=0 . /bin/sh -c 'cd "$1" && shift && exec "$@"' sh "$where" "$@"
"""


def skip(reason):
    """Ends this program as CTest's SKIP_RETURN_CODE says."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def in_own_network():
    """Runs this program again in a network of its own that has loopback only; returns there."""
    if os.environ.get("PARTITA_OWN_NETWORK"):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if os.geteuid() != 0:
        skip("namespaces and chroot need root")
    os.environ["PARTITA_OWN_NETWORK"] = "1"
    os.execvp("unshare", ["unshare", "--net", sys.executable, "-B", *sys.argv])


class Image:
    """The layout of an image, in a directory."""

    def __init__(self, layout=None):
        layouts = [path for path in PACKAGES.glob("partita-*-image-*") if path.is_dir()]
        if layout is None and not layouts:
            raise FileNotFoundError(f"no image in {PACKAGES}; scripts/package makes it")
        self.layout = layout or layouts[0]
        index = json.loads((self.layout / "index.json").read_text())
        self.manifest = json.loads(self.blob(index["manifests"][0]["digest"]).read_text())
        self.config = json.loads(self.blob(self.manifest["config"]["digest"]).read_text())

    def blob(self, digest):
        return self.layout / "blobs" / digest.replace(":", "/")

    def blobs(self):
        return [self.manifest["config"], *self.manifest["layers"]]

    def unpack(self, directory):
        for layer in self.manifest["layers"]:
            with tarfile.open(self.blob(layer["digest"])) as tar:
                tar.extractall(directory, numeric_owner=True)


class Container:
    """One container: made, started once, removed. `environment`, `entrypoint` and so on are as in Docker's API; None is the image's."""

    def __init__(self, image, command=None, entrypoint=None, environment=(), user=None, host_name="partita-box", volume=None):
        config = image.config["config"]
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="partita-container-"))
        self.root = self.directory / "root"
        self.root.mkdir()
        image.unpack(self.root)
        (self.root / "etc/hosts").write_text(f"127.0.0.1 localhost {host_name}\n")
        self.log_file = self.directory / "log"
        self.log_file.touch()
        self.host_name = host_name
        self.environment = [*config["Env"], *environment]
        # An entrypoint of one's own takes the image's command away.
        self.command = [*(entrypoint or []), *(command or ([] if entrypoint else config["Cmd"]))]
        self.user = (user or config["User"]).replace("root", "0")
        self.working_directory = config["WorkingDir"]
        self.process = None
        # A directory of the machine, and where the container has it.
        self.volume = volume

    def inside(self, *command):
        """What runs a command in the container's files, as its user. Mounts are of a namespace, and go with it."""
        script = MOUNT_AND_RUN
        if self.volume:
            there, here = map(shlex.quote, map(str, self.volume))
            script = script.replace('&& cd "$2" &&', f'&& mount --bind {there} "$2"{here} && cd "$2" &&')
        return ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh", self.host_name,
                str(self.root), self.user, self.working_directory, *command]

    def settings(self):
        return dict(variable.split("=", 1) for variable in self.environment)

    def start(self):
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(self.inside(*self.command), env=self.settings(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)

    def run(self, *command):
        """Runs a command beside, for what a health check does; the finished process."""
        return subprocess.run(self.inside(*command), capture_output=True, text=True, timeout=30, env=self.settings())

    def put(self, archive, where):
        """Unpacks a tar file, as root, which is what `docker cp` does."""
        for entry in archive:
            entry.name = entry.name.lstrip("/")
            if ".." in entry.name.split("/") or not (entry.isdir() or entry.isreg()):
                raise ValueError(f"nothing to be put into a container: {entry.name}")
            archive.extract(entry, self.root / where.lstrip("/"), numeric_owner=True)

    def log(self):
        return self.log_file.read_text(errors="replace")

    def exit_code(self):
        return self.process.poll() if self.process else None

    def stop(self, seconds=20):
        """Asks its first process to end, as the image says, then makes it."""
        if self.process and self.process.poll() is None:
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        return self.exit_code()

    def remove(self):
        self.stop(0)
        shutil.rmtree(self.directory)
