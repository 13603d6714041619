"""Tests of what holds the broker's locks: clang's check of what they guard (scripts/tidy --locks), and that each has a rank."""

import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
TIDY = PROJECT / "scripts" / "tidy"
HEADERS = ["mutex.h", "lock_rank.h", "held_locks.h", "thread_annotations.h"]

GOOD = """#pragma once
#include "protocol/mutex.h"
namespace partita {
class Counter {
  public:
    void add() {
        const MutexLock lock(mutex_);
        ++count_;
    }
    void wait_for(int count) {
        UniqueLock lock(mutex_);
        changed_.wait(lock, [&]() REQUIRES(mutex_) { return count_ >= count; });
    }
    int read() EXCLUDES(mutex_);

  private:
    [[nodiscard]] int read_locked() const REQUIRES(mutex_) { return count_; }
    Mutex mutex_{LockRank::catalog};
    Condition changed_;
    int count_ GUARDED_BY(mutex_) = 0;
};
}
"""


def check(source, header=GOOD):
    """What `scripts/tidy --locks` says of a tree with one room: its exit code and what it prints."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / "protocol").mkdir()
        (root / "storage").mkdir()
        for name in HEADERS:
            shutil.copy(PROJECT / "protocol" / name, root / "protocol" / name)
        (root / "storage" / "counter.h").write_text(header)
        (root / "storage" / "counter.cc").write_text('#include "storage/counter.h"\nnamespace partita {\n' + source + "\n}\n")
        done = subprocess.run([sys.executable, "-B", TIDY, "--locks", "--root", root], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class LockCheck(unittest.TestCase):
    def assert_refused(self, source, *words):
        code, text = check(source)
        self.assertEqual(1, code, text)
        for word in words:
            self.assertIn(word, text)

    def test_member_used_with_its_lock_is_good(self):
        code, text = check("int Counter::read() { const MutexLock lock(mutex_); return read_locked(); }")
        self.assertEqual((0, ""), (code, text))

    def test_member_read_without_its_lock_is_refused(self):
        self.assert_refused("int Counter::read() { return count_; }", "counter.cc", "requires holding mutex 'mutex_'")

    def test_function_that_requires_a_lock_is_not_called_without(self):
        self.assert_refused("int Counter::read() { return read_locked(); }", "requires holding mutex 'mutex_'")

    def test_lock_given_back_too_early_is_refused(self):
        self.assert_refused("int Counter::read() { UniqueLock lock(mutex_); lock.unlock(); return count_; }",
                            "requires holding mutex 'mutex_'")

    def test_lock_taken_twice_is_refused(self):
        self.assert_refused("int Counter::read() { const MutexLock lock(mutex_); add(); const MutexLock again(mutex_); return 0; }",
                            "already held")

    def test_dropped_result_is_refused(self):
        self.assert_refused("[[nodiscard]] bool save();\nint Counter::read() { save(); return 0; }", "-Wunused-result")

    def test_forgotten_case_is_refused(self):
        self.assert_refused("enum class Kind { one, two };\nint of(Kind kind) { switch (kind) { case Kind::one: return 1; } return 0; }",
                            "-Wswitch")

    def test_two_sources_with_a_name_in_common_are_judged_apart(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "protocol").mkdir()
            (root / "storage").mkdir()
            for name in HEADERS:
                shutil.copy(PROJECT / "protocol" / name, root / "protocol" / name)
            for name in ("one", "two"):
                (root / "storage" / f"{name}.cc").write_text('#include "protocol/mutex.h"\nstatic int own() { return 1; }\n')
            done = subprocess.run([sys.executable, "-B", TIDY, "--locks", "--root", root], capture_output=True, text=True)
            self.assertEqual((0, ""), (done.returncode, done.stdout + done.stderr))


class Broker(unittest.TestCase):
    def test_every_room_with_locks_passes(self):
        done = subprocess.run([sys.executable, "-B", TIDY, "--locks"], capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stdout + done.stderr))

    def test_rooms_that_are_known_to_hold_locks_are_checked(self):
        loader = importlib.machinery.SourceFileLoader("tidy", str(TIDY))
        tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
        loader.exec_module(tidy)
        rooms = tidy.rooms_with_locks(tidy.Tree(PROJECT))
        for room in ("schedule", "storage", "broker/config", "broker/runtime/catalog", "broker/insight/shell", "broker/net", "broker/http"):
            self.assertTrue(rooms.get(room), room)


class LockOrder(unittest.TestCase):
    RANKS = re.findall(r"(?m)^ +LOCK\((\w+),", (PROJECT / "protocol/lock_rank.h").read_text())

    def test_every_rank_has_one_lock_and_every_lock_a_rank(self):
        used = []
        for room in ("protocol", "schedule", "storage", "broker"):
            for path in (PROJECT / room).rglob("*"):
                if path.suffix in (".h", ".cc") and path.name != "mutex.h":
                    used += re.findall(r"[{ ]LockRank::(\w+)[})]", path.read_text())
        self.assertEqual(sorted(self.RANKS), sorted(used))


if __name__ == "__main__":
    unittest.main()
