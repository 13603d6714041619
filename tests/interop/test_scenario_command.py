"""`partita scenario` (docs/scenarios.md): applications that are hurt fail, applications that are written well pass, and nothing is left behind."""

import glob
import os
import pathlib
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest

import harness

pytestmark = pytest.mark.skipif(harness.TARGET != "partita", reason="a scenario starts a Partita of its own")

HERE = pathlib.Path(__file__).parent
SVG = "{http://www.w3.org/2000/svg}"
long = pytest.mark.long

#: Each scenario of the library with applications that fail it, by what they are told, and one that passes.
LIBRARY = [
    ("group-comes-back", "earliest", "came out of order"),
    ("group-comes-back", "by-time", None),
    pytest.param("growth-under-a-group", "latest", "records never came to the application", marks=long),
    pytest.param("growth-under-a-group", "error", "ended with exit code 1", marks=long),
    pytest.param("growth-under-a-group", "assigned-6", "has no member for 12 partitions", marks=long),
    pytest.param("growth-under-a-group", "earliest", None, marks=long),
    pytest.param("group-was-away", "latest", "records never came to the application", marks=long),
    pytest.param("group-was-away", "error", "ended with exit code 1", marks=long),
    pytest.param("group-was-away", "earliest", None, marks=long),
    pytest.param("replay-from-the-start", "earliest", "came out of order", marks=long),
    pytest.param("replay-from-the-start", "by-time", None, marks=long),
    pytest.param("stale-producer", "earliest", "came out of order", marks=long),
    pytest.param("stale-producer", "by-time", None, marks=long),
    pytest.param("members-join", "without-commits", "records came twice", marks=long),
    pytest.param("members-join", "earliest", None, marks=long),
    pytest.param("producer-meets-a-growth", "producer-6", "finding H12", marks=long),
    pytest.param("producer-meets-a-growth", "producer", None, marks=long),
]


def application(kind):
    return f"exec {sys.executable} {HERE / 'scenario_application.py'} {kind}"


@pytest.fixture
def partita(tmp_path):
    """Runs `partita scenario` with a directory for temporary files of its own."""
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}

    def run(*words, text=None, begins=False):
        if text is not None:
            (tmp_path / "scenario.yaml").write_text(text)
            words = (tmp_path / "scenario.yaml", *words)
        command = [harness.partita_binary(), "scenario", *map(str, words)]
        if begins:
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    yield run
    # Whatever happened, its directory is gone.
    assert list((tmp_path / "tmp").iterdir()) == []


def processes_with(text):
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if text.encode() in pathlib.Path(path).read_bytes():
                found.append(path)
        except OSError:
            pass  # It has just ended.
    return found


@pytest.mark.parametrize("name,kind,told", LIBRARY)
def test_an_application_that_is_hurt_fails_and_one_that_is_written_well_passes(partita, tmp_path, name, kind, told):
    junit, svg = tmp_path / "junit.xml", tmp_path / "timeline.svg"
    done = partita("run", name, "--against", application(kind), "--junit", junit, "--svg", svg)
    assert done.returncode == (1 if told else 0), done.stdout + done.stderr
    assert told is None or told in done.stdout, done.stdout
    suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
    failures = suite.findall("testcase/failure")
    assert len(failures) == int(suite.get("failures")) == (0 if told is None else done.stdout.count("  FAILED "))
    assert len(suite.findall("testcase")) == done.stdout.count(" s  ok ") + done.stdout.count(" s  FAILED ") + done.stdout.count(" s  skipped ")
    picture = xml.etree.ElementTree.parse(svg).getroot()
    assert len(picture.findall(f"{SVG}g/{SVG}rect")) >= len(suite.findall("testcase"))


def test_a_program_behind_a_shell_has_time_to_leave_its_group(partita):
    consume = (f"{harness.partita_binary()} consume --topic $PARTITA_TOPIC --group $PARTITA_GROUP --json "
               "--command-property auto.offset.reset=earliest --command-property auto.commit.interval.ms=100; true")
    done = partita("run", "group-was-away", "--against", consume)
    # A member that had not left would keep its partitions until its session ends.
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_scenario_of_the_library_is_listed_and_tried_both_ways(partita):
    listed = {line.split()[0] for line in partita("list").stdout.splitlines()}
    pairs = [getattr(one, "values", one) for one in LIBRARY]
    assert listed == {name for name, _, told in pairs if told} == {name for name, _, told in pairs if told is None}
    assert partita("show", "stale-producer").stdout == (HERE.parents[1] / "broker/addons/scenarios/library/stale-producer.yaml").read_text()
    assert partita("--help").stdout.startswith("usage: partita scenario FILE|COMMAND [OPTION]...\n")
    assert "did you mean stale-producer?" in partita("run", "stale-producers", "--against", "true").stderr


HEAD = "name: own\napplication: {command: '%s', topic: t, group: g, reports: stdout}\nseed: {topics: {t: 2}}\nsteps:\n"


def test_a_program_that_dies_or_does_not_exist_fails_and_its_last_words_are_shown(partita):
    done = partita(text=HEAD % "echo last words; exit 3" + "- start: application\n- wait: {received: 1}\n")
    assert done.returncode == 1
    assert "instance 1 of the application ended with exit code 3" in done.stdout and "last words\n" in done.stdout
    done = partita(text=HEAD % "/no/such/program" + "- start: application\n- wait: {received: 1}\n")
    assert done.returncode == 1 and "ended with exit code 127" in done.stdout and "not found" in done.stdout


def test_a_program_that_hangs_is_ended_with_all_that_it_started(partita, tmp_path):
    script = tmp_path / "hangs.sh"
    script.write_text("trap '' TERM\nsleep 600 &\nwhile true; do sleep 600; done\n")
    begun = time.monotonic()
    done = partita(text=HEAD % f"exec sh {script}" + "- start: application\n- wait: {received: 1, within: 200ms}\n")
    assert done.returncode == 1 and "not within 200 ms: the application has received 0 records" in done.stdout
    assert time.monotonic() - begun > 5 and processes_with(str(script)) == []


def test_a_person_who_interrupts_it_leaves_nothing_behind(partita):
    process = partita(text=HEAD % "sleep 987654" + "- start: application\n- wait: {received: 1}\n", begins=True)
    for line in process.stdout:
        if "start 1 instance" in line:
            break
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 3 and "interrupted" in out
    assert processes_with("sleep\0" + "987654") == [] and processes_with("partita-scenario") == []


def test_the_time_limit_ends_it(partita):
    done = partita(text="time_limit: 1s\n" + HEAD % "exec sleep 600" + "- start: application\n- wait: {received: 1, within: 1h}\n")
    assert done.returncode == 1 and "the time limit of the scenario, 1000 ms, is over" in done.stdout


def test_a_step_that_hangs_is_given_up_after_the_time_limit(partita):
    steps = "- fault: {match: {api: Produce}, do: {hold: true}}\n- load: {topic: t, generate: 1}\n- start: application\n"
    done = partita(text="time_limit: 500ms\n" + HEAD % "true" + steps)
    assert done.returncode == 3
    assert "BROKEN   write 1 record to t" in done.stdout and "500 ms, is over, and the step does not end" in done.stdout, done.stdout
    assert "skipped  start" in done.stdout


def test_a_bad_file_is_refused_before_anything_starts(partita, tmp_path):
    done = partita(text=HEAD % "true" + "- strat: application\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"partita: {tmp_path}/scenario.yaml: line 5, column 3: steps[0].strat is no step; allowed: ")
    done = partita(text="name: own\napplication: {topic: t, group: g}\nsteps: [start: 1]\n")
    assert done.returncode == 2 and "names no command of its application; use --against COMMAND" in done.stderr
    done = partita(tmp_path / "missing.yaml")
    assert done.returncode == 2 and "No such file" in done.stderr
    done = partita(text="broker: {configs: {log.retention.ms: soon}}\n" + HEAD % "true" + "- start: application\n")
    assert done.returncode == 3 and "the broker ended with exit code 2" in done.stderr and "log.retention.ms" in done.stderr


def test_a_step_that_the_broker_refuses_cannot_be_played_unless_that_is_wanted(partita):
    steps = "- grow: {topic: t, to: 1, refused: INVALID_PARTITIONS}\n- configs: {topic: t, set: {x: 1}}\n"
    done = partita(text=HEAD % "true" + steps)
    assert done.returncode == 3, done.stdout
    assert "ok       grow t to 1 partition, which must be refused" in done.stdout and "BROKEN   set x of t" in done.stdout


def test_reports_come_from_a_topic_or_from_commits_too(partita):
    copies = ("partita() { %s \"$@\"; }; partita consume --topic t --group g --from-beginning --json --max-messages 300 | "
              "partita produce --topic $PARTITA_REPORT_TOPIC; exec sleep 600" % harness.partita_binary())
    text = ("name: own\napplication:\n  command: '%s'\n  topic: t\n  group: g\n  reports: {topic: out}\n"
            "seed: {topics: {t: 3}, records: [{topic: t, generate: 300, keys: 20}]}\nsteps:\n- start: application\n"
            "- wait: {received: 300}\n- assert: {nothing_lost: true, nothing_twice: true, order_of_keys: true}\n")
    done = partita(text=text % copies)
    assert done.returncode == 0, done.stdout + done.stderr
    reads = f"exec {harness.partita_binary()} consume --topic t --group g --from-beginning --command-property auto.commit.interval.ms=100"
    text = text.replace("  reports: {topic: out}\n", "").replace("- wait: {received: 300}", "- wait: {assigned: true}\n- wait: {lag: 0}")
    done = partita(text=text.replace("nothing_twice: true, ", "").replace("order_of_keys: true", "order_of_keys: true, for: 2s") % reads)
    assert done.returncode == 0, done.stdout + done.stderr


def test_faults_clock_and_snapshots_are_steps(partita, tmp_path):
    text = (HEAD % "exec sleep 600" + "- load: {topic: t, generate: 100}\n- snapshot: one\n- load: {topic: t, generate: 50}\n- assert: {records: 150}\n"
            "- restore: one\n- fault: {id: gate, match: {api: Fetch}, do: {hold: true}}\n- release: gate\n- remove_faults: all\n"
            "- clock: {advance_ms: 5000}\n- http: {method: GET, path: /v1/clock}\n- start: application\n- kill: application\n"
            "- wait: {records: 101, within: 1s}\n")
    done = partita(text=text)
    assert done.returncode == 1 and "not within 1000 ms: topic t has 100 records" in done.stdout, done.stdout
    assert done.stdout.count(" s  ok ") == 13
