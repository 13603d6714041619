"""The Kafka Streams applications of clients/streams as processes: started, killed, and what they say of themselves."""

import collections
import pathlib
import shutil
import subprocess
import tempfile
import threading

import harness

#: The release whose jars the newest Kafka comes with; others lie in old-streams.
NEWEST = "4.3.1"


def class_path(release):
    if release == NEWEST:
        return f"{harness.TOOLS / 'streams' / 'classes'}:{harness.TOOLS / 'streams' / 'libs'}/*"
    directory = harness.TOOLS / "old-streams" / release
    return f"{directory / 'classes'}:{directory}/*"


class Application:
    """One instance of an application of clients/streams. It has a state directory of its own, which outlives its process."""

    def __init__(self, broker, program, application_id, topics, settings=None, release=NEWEST):
        self.id = application_id
        self.state = pathlib.Path(tempfile.mkdtemp(prefix="partita-streams-"))
        settings = {"state.dir": self.state, **(settings or {})}
        self.command = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m",
                        f"-Dlog4j2.configurationFile={harness.HERE / 'clients' / 'log4j2.properties'}",
                        "-cp", class_path(release), program, broker.bootstrap, application_id, ",".join(topics),
                        *(f"{name}={value}" for name, value in settings.items())]
        self.errors = tempfile.TemporaryFile()
        self.start()

    def start(self):
        #: Of this process: its states and deaths, how many records it has read, and taken over from each changelog.
        self.lines = []
        self.processed = 0
        self.restored, self.standby = collections.Counter(), collections.Counter()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            what, *rest = line.split()
            if what == "processed":
                self.processed = int(rest[0])
            elif what in ("restored", "standby"):
                getattr(self, what)[rest[0]] += int(rest[1])
            else:
                self.lines.append(line.strip())

    def is_well(self):
        return self.process.poll() is None and not [line for line in self.lines if line.startswith("died ")]

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-20000:]

    def __repr__(self):
        return (f"{self.lines}, processed {self.processed}, restored {dict(self.restored)}, standby {dict(self.standby)}\n"
                f"{self.error_text()}")

    def wait_for(self, beginning, seconds=40):
        return harness.wait_until(lambda: [line for line in self.lines if line.startswith(beginning)], seconds,
                                  lambda: f"{beginning} of {self}")[-1]

    def kill(self, forget=False):
        """kill -9; `forget`: and its disk with it."""
        self.process.kill()
        self._ended()
        if forget:
            shutil.rmtree(self.state)
            self.state.mkdir()

    def stop(self):
        """Closes it, as its operator would."""
        if self.process.poll() is None:
            self.process.stdin.close()
        self.process.wait(60)
        self._ended()

    def _ended(self):
        self.process.wait()
        self.reader.join()

    def remove(self):
        """Whatever is left of it goes."""
        if self.process.poll() is None:
            self.kill()
        self.errors.close()
        shutil.rmtree(self.state, ignore_errors=True)
