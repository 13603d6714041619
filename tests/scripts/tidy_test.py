"""Tests of scripts/tidy: small trees, each with one thing wrong, and the complaint that must come."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = PROJECT / "scripts" / "tidy"
HEADER = "#pragma once\n"


sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("tidy", str(SCRIPT))
tidy = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", LOADER))
LOADER.exec_module(tidy)


def run_tidy(*arguments):
    """Runs the script in this process; returns its exit code and what it printed on both streams."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            code = tidy.main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), errors.getvalue()


class Tidy(unittest.TestCase):
    def complaints(self, files):
        """The complaints about a tree of these files, as `path:line: text`."""
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                path = pathlib.Path(directory, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            code, out, errors = run_tidy("--root", directory)
        self.assertEqual("", errors)
        lines = [line for line in out.splitlines() if not line.startswith("tidy: ")]
        self.assertEqual(1 if lines else 0, code)
        return lines

    def assert_clean(self, files):
        self.assertEqual([], self.complaints(files))

    def assert_complaint(self, files, beginning, *words):
        """Exactly one complaint, that begins so and holds these words."""
        lines = self.complaints(files)
        self.assertEqual(1, len(lines), lines)
        self.assertTrue(lines[0].startswith(beginning), lines)
        for word in words:
            self.assertIn(word, lines[0])

    def test_lock_without_a_rank_is_a_complaint(self):
        self.assert_complaint({"storage/a.h": HEADER + "struct A { std::mutex mutex; };\n"}, "storage/a.h:2: std::mutex", "a rank")
        self.assert_complaint({"broker/net/a.cc": "void f() { const std::scoped_lock lock(mutex_); }\n"}, "broker/net/a.cc:1: std::scoped_lock")
        self.assert_clean({"protocol/mutex.h": HEADER + "struct A { std::mutex mutex; };\n",
                           "tests/a.h": HEADER + "struct A { std::mutex mutex; };\n"})

    def test_error_that_may_be_dropped_is_a_complaint(self):
        declared = "StorageResult<void> save(const std::string& path);\n"
        self.assert_complaint({"storage/a.h": HEADER + declared}, "storage/a.h:2: ", "[[nodiscard]]")
        self.assert_complaint({"protocol/a.h": HEADER + "inline std::expected<int, E> f() { return 1; }\n"}, "protocol/a.h:2: ")
        self.assert_complaint({"protocol/a.h": HEADER + "std::optional<ErrorCode> refusal_of(int a);\n"}, "protocol/a.h:2: ")
        self.assert_clean({"storage/a.h": HEADER + "[[nodiscard]] " + declared + "[[nodiscard]]\n" + declared +
                                          "StorageResult<void> sync() override;\nStorageResult<int>\n size(int,\n int) override;\n",
                           "storage/a.cc": declared})

    def test_result_that_is_dropped_without_a_reason_is_a_complaint(self):
        dropped = "void f() {\n    (void)g();\n}\n"
        self.assert_complaint({"storage/a.cc": dropped}, "storage/a.cc:2: ", "why")
        self.assert_complaint({"storage/a.cc": dropped.replace("(void)g()", "std::ignore = g()")}, "storage/a.cc:2: ")
        self.assert_clean({"storage/a.cc": dropped.replace("    (void)", "    // A hint.\n    (void)"), "tests/a.cc": dropped,
                           "storage/b.cc": dropped.replace("g();", "g();  // a hint"), "storage/a.h": HEADER + "int f(void);\n"})

    def test_an_error_that_is_handed_on_by_hand_is_a_complaint(self):
        apart = "StorageResult<int> f() {\n    auto size = g();\n    if (!size) {\n        return std::unexpected(size.error());\n    }\n}\n"
        self.assert_complaint({"storage/a.cc": apart}, "storage/a.cc:3: ", "PARTITA_TRY")
        self.assert_complaint({"storage/a.cc": apart.replace("size.error()", "std::move(size.error())")}, "storage/a.cc:3: ")
        self.assert_complaint({"storage/a.cc": apart.replace("size.error()", "std::move(size).error()")}, "storage/a.cc:3: ")
        at_once = "void f() {\n    if (auto done = g(1); !done) {\n        return std::unexpected(done.error());\n    }\n}\n"
        self.assert_complaint({"storage/a.cc": at_once}, "storage/a.cc:2: ")
        # What changes the error, lets some pass, or does more than that.
        self.assert_clean({"storage/a.cc": apart.replace("size.error()", "wrapped(size.error())"),
                           "storage/b.cc": apart.replace("!size", "!size && !size.error().is_not_found()"),
                           "storage/c.cc": apart.replace("        return", "        note();\n        return"),
                           "storage/d.cc": apart.replace("    }\n}", "    } else {\n        note();\n    }\n}"), "tests/a.cc": apart})

    def test_pure_core_has_no_lock(self):
        self.assert_complaint({"protocol/mutex.h": HEADER, "broker/groups/a.h": HEADER + '#include "protocol/mutex.h"\n'},
                              "broker/groups/a.h:2: <protocol/mutex.h> in a pure core")

    def test_a_source_that_is_formatted_otherwise_is_told_of_and_formatted_on_request(self):
        style = (PROJECT / ".clang-format").read_text()
        long = "int broker_" + "x" * 60 + "(int a, int b);\n"
        bad = "#pragma once\n\nint  f( );\n\n" + long
        self.assert_clean({"protocol/a.h": bad})
        self.assert_complaint({".clang-format": style, "protocol/a.h": bad}, "protocol/a.h:3:", "--format")
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "protocol", "a.h")
            path.parent.mkdir()
            path.write_text(bad)
            pathlib.Path(directory, ".clang-format").write_text(style)
            self.assertEqual((0, "", ""), run_tidy("--root", directory, "--format"))
            self.assertEqual("#pragma once\n\nint f();\n\n" + long, path.read_text())

    def includes(self, includer, target, *more):
        """A tree in which one file includes another."""
        text = "".join(f'#include "{name}"\n' for name in (target, *more))
        files = {name: HEADER for name in (target, *more)}
        files[includer] = HEADER + text if includer.endswith(".h") else text
        return files

    # The arrows between rooms.

    def test_arrows_that_are_drawn_are_allowed(self):
        for includer, target in [
                ("storage/log.cc", "protocol/types.h"),
                ("broker/groups/group.cc", "protocol/types.h"),
                ("broker/groups/group.cc", "broker/groups/group.h"),
                ("broker/config/config.cc", "protocol/types.h"),
                ("broker/logs/turn.cc", "storage/log.h"),
                ("broker/logs/turn.cc", "broker/runtime/loop/reactor.h"),
                ("broker/runtime/catalog/catalog.cc", "broker/catalog/catalog.h"),
                ("broker/runtime/upkeep/maintenance.cc", "broker/config/config.h"),
                ("broker/runtime/growth/steps.cc", "broker/runtime/catalog/catalog.h"),
                ("broker/handlers/fetch.cc", "broker/logs/turn.h"),
                ("broker/assembly/broker.cc", "broker/runtime/upkeep/maintenance.h"),
                ("broker/kafka/kafka_front.cc", "broker/handlers/registry.h"),
                ("broker/http/server.cc", "broker/insight/hub/hub.h"),
                ("broker/main.cc", "broker/net/server.h"),
                ("broker/main.cc", "broker/serve.h"),
                ("broker/serve.cc", "broker/http/server.h"),
                ("tests/unit/net/server_test.h", "broker/net/server.h"),
        ]:
            with self.subTest(includer=includer, target=target):
                self.assert_clean(self.includes(includer, target))

    def test_arrows_that_are_not_drawn_are_named(self):
        for includer, target in [
                ("protocol/types.cc", "storage/log.h"),
                ("protocol/types.cc", "broker/config/config.h"),
                ("storage/log.cc", "broker/config/config.h"),
                ("storage/log.cc", "broker/runtime/loop/reactor.h"),
                ("schedule/clock.cc", "storage/log.h"),
                ("broker/fetch/sessions.cc", "schedule/clock.h"),
                ("broker/groups/group.cc", "storage/log.h"),
                ("broker/groups/group.cc", "broker/catalog/catalog.h"),
                ("broker/catalog/catalog.cc", "broker/config/config.h"),
                ("broker/fetch/sessions.cc", "broker/runtime/loop/reactor.h"),
                ("broker/insight/plan/plan.cc", "broker/catalog/catalog.h"),
                ("broker/transactions/core.cc", "broker/groups/group.h"),
                ("broker/config/config.cc", "storage/log.h"),
                ("broker/config/config.cc", "broker/catalog/catalog.h"),
                ("broker/runtime/loop/reactor.cc", "broker/logs/turn.h"),
                ("broker/logs/turn.cc", "broker/runtime/catalog/catalog.h"),
                ("broker/runtime/catalog/catalog.cc", "broker/runtime/growth/steps.h"),
                ("broker/insight/shell/plan.cc", "broker/runtime/growth/steps.h"),
                ("broker/runtime/growth/steps.cc", "broker/runtime/upkeep/maintenance.h"),
                ("broker/runtime/growth/steps.cc", "broker/handlers/fetch.h"),
                ("broker/runtime/upkeep/maintenance.cc", "broker/net/server.h"),
                ("broker/handlers/fetch.cc", "broker/assembly/parts.h"),
                ("broker/handlers/fetch.cc", "broker/net/server.h"),
                ("broker/net/server.cc", "broker/http/server.h"),
                ("broker/http/server.cc", "broker/net/server.h"),
        ]:
            with self.subTest(includer=includer, target=target):
                room = target.rsplit("/", 1)[0]
                self.assert_complaint(self.includes(includer, target), f"{includer}:1: ", f"may not include {room}")

    def test_the_page_that_shows_the_rooms_shows_the_table(self):
        self.assertEqual(tidy.HOUSE.page(), (PROJECT / tidy.ROOMS_PAGE).read_text(), "write it anew: scripts/tidy --write-docs")

    def test_cores_and_rooms_of_the_running_broker_stand_on_those_above_them(self):
        for kind in ("pure", "exact"):
            above = set()
            for room in tidy.HOUSE.of_kind(kind):
                self.assertLessEqual(set(tidy.ROOMS[room]) & set(tidy.HOUSE.of_kind(kind)), above, room)
                above.add(room)

    def test_each_room_says_what_it_holds(self):
        for room in tidy.ROOMS:
            self.assertTrue(tidy.HOUSE.holds[room], room)

    def rooms(self, text):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "rooms")
            path.write_text(text)
            return tidy.Rooms(path)

    def test_the_table_knows_kinds_and_sets(self):
        rooms = self.rooms("# a comment\npure a\n    holds\n    this\n\npure broker/addons/x\nexact b\n    <- a\nset some\n    <- @exact\n    <- a\n"
                           "room c\n    <- @some\nroom d\n    <- c @pure broker/addons/x\n")
        self.assertEqual({"a": [], "broker/addons/x": [], "b": ["a"], "c": ["b", "a"], "d": ["c", "a", "broker/addons/x"]}, rooms.includes)
        self.assertEqual("holds this", rooms.holds["a"])
        self.assertEqual(["a", "broker/addons/x"], rooms.of_kind("pure"))
        self.assertIn("| `c` |  |  | all exact rooms, `a` |", rooms.page())

    def test_a_table_that_makes_no_sense_is_refused(self):
        for text in ("pure a\npure a\n", "cool a\n", "pure\n", "room a\n    <- b\n", "room a\n    <- @b\n"):
            with self.subTest(text), self.assertRaises(ValueError):
                self.rooms(text)

    def test_an_arrow_that_nothing_uses_is_named(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "broker/runtime/upkeep/a.h")
            file.parent.mkdir(parents=True)
            file.write_text(HEADER + '#include "broker/runtime/loop/reactor.h"\n')
            unused = [text for _, _, text in tidy.arrows_without_use(tidy.Tree(pathlib.Path(directory)))]
        self.assertFalse([text for text in unused if "upkeep does not include broker/runtime/loop " in text])
        self.assertTrue([text for text in unused if "upkeep does not include broker/logs " in text])

    def test_the_line_of_the_include_is_named(self):
        self.assert_complaint(self.includes("storage/log.cc", "protocol/types.h", "broker/runtime/loop/reactor.h"),
                              "storage/log.cc:2: ")

    def test_only_tests_include_tests(self):
        self.assert_complaint(self.includes("storage/log.cc", "tests/unit/fake.h"), "storage/log.cc:1: ", "only tests")

    def test_no_room_includes_what_stands_above_it(self):
        self.assert_complaint(self.includes("broker/http/server.cc", "broker/serve.h"), "broker/http/server.cc:1: ",
                              "may not include broker/serve.h")

    def test_a_relative_include_is_a_complaint(self):
        self.assert_complaint({"storage/log.cc": '#include "log.h"\n', "storage/log.h": HEADER}, "storage/log.cc:1: ",
                              "start at the top")

    def test_our_headers_in_angle_brackets_are_a_complaint(self):
        self.assert_complaint({"storage/log.cc": "#include <storage/log.h>\n", "storage/log.h": HEADER},
                              "storage/log.cc:1: ")

    def test_a_file_outside_every_room_is_a_complaint(self):
        self.assert_complaint({"broker/cache/cache.cc": "int x;\n"}, "broker/cache/cache.cc:1: ", "no room")
        self.assert_complaint({"util/strings.h": HEADER}, "util/strings.h:1: ", "no room")

    # Libraries that only some rooms may see.

    def test_asio_and_beast_stay_in_their_rooms(self):
        for header in ("boost/asio.hpp", "boost/asio/ip/tcp.hpp", "boost/beast/http.hpp"):
            text = f"#include <{header}>\n"
            for path in ("broker/net/a.cc", "broker/http/a.cc", "broker/runtime/loop/a.cc", "broker/net/a.h",
                         "broker/serve.cc"):
                self.assert_clean({path: HEADER + text})
            for path in ("broker/handlers/a.cc", "storage/a.cc", "protocol/a.h", "broker/config/a.cc"):
                self.assert_complaint({path: HEADER + text}, f"{path}:2: ", "Asio")

    def test_asio_stays_out_of_the_headers_of_runtime(self):
        self.assert_complaint({"broker/runtime/loop/a.h": HEADER + "#include <boost/asio/post.hpp>\n"}, "broker/runtime/loop/a.h:2: ")

    def test_lmdb_is_known_to_the_metadata_store_only(self):
        text = "#include <lmdb.h>\n"
        self.assert_clean({"storage/metadata_store.cc": text, "storage/metadata_writer.h": HEADER + text})
        self.assert_complaint({"storage/partition_log.cc": text}, "storage/partition_log.cc:1: ", "LMDB")

    # Pure cores.

    def test_cores_include_nothing_impure(self):
        for header in ("thread", "mutex", "random", "fstream", "filesystem", "condition_variable", "sys/socket.h",
                       "unistd.h", "spdlog/spdlog.h"):
            with self.subTest(header=header):
                text = f"#include <{header}>\n"
                self.assert_complaint({"broker/groups/a.cc": text}, "broker/groups/a.cc:1: ", "pure core")
                self.assert_clean({"broker/runtime/loop/a.cc": text})

    def test_cores_read_no_clock_and_throw_no_dice(self):
        for word in ("std::chrono::steady_clock::now()", "std::chrono::system_clock::now()", "std::random_device{}()",
                     "std::getenv(name)", "fopen(name, mode)"):
            with self.subTest(word=word):
                text = f"auto x = {word};\n"
                self.assert_complaint({"broker/catalog/a.cc": text}, "broker/catalog/a.cc:1: ", "pure core")
                self.assert_clean({"tests/a.cc": text})

    def test_the_time_is_asked_of_the_clock_that_was_given(self):
        for word in ("std::chrono::steady_clock::now()", "std::chrono::system_clock::now()", "std::time(nullptr)",
                     "::clock_gettime(CLOCK_REALTIME, &time)"):
            with self.subTest(word=word):
                text = f"auto x = {word};\n"
                for place in ("storage/a.cc", "broker/serve.cc", "broker/net/a.cc", "broker/runtime/loop/a.cc", "schedule/executor.cc"):
                    self.assert_complaint({place: text}, f"{place}:1: ", "Clock")
                self.assert_clean({"schedule/clock.cc": text})
        self.assert_clean({"storage/a.cc": "const std::chrono::steady_clock::time_point then(until);\n"})

    def test_waits_are_ended_by_the_reactors_clock(self):
        for word in ("boost::asio::steady_timer timer(context);", "stream.expires_after(kTimeout);", "timer_.expires_at(then);",
                     "std::this_thread::sleep_for(pause);", "::usleep(1);"):
            with self.subTest(word=word):
                self.assert_complaint({"broker/net/a.cc": f"{word}\n"}, "broker/net/a.cc:1: ", "TurnTimer")
                self.assert_clean({"broker/runtime/loop/reactor.cc": f"{word}\n"})

    def test_threads_are_begun_by_the_executor(self):
        for word in ("std::thread helper(run);", "std::jthread helper(run);", "auto done = std::async(run);"):
            with self.subTest(word=word):
                self.assert_complaint({"storage/a.cc": f"{word}\n"}, "storage/a.cc:1: ", "Executor")
                self.assert_clean({"schedule/executor.cc": f"{word}\n"})
        self.assert_clean({"storage/a.cc": "std::thread::id mine = std::this_thread::get_id();\n"})

    def test_words_in_comments_and_literals_are_no_code(self):
        self.assert_clean({"broker/catalog/a.cc": "// not steady_clock\n/* nor\nsystem_clock */\n"
                                                 'const char* x = "getenv";\n'})

    def test_formatting_text_is_pure(self):
        self.assert_clean({"broker/catalog/a.cc": "#include <cstdio>\nint x = std::snprintf(b, n, f);\n"})

    # Manners of files.

    def test_a_header_begins_with_pragma_once(self):
        self.assert_complaint({"storage/a.h": "int x;\n"}, "storage/a.h:1: ", "#pragma once")
        self.assert_clean({"storage/a.h": "// What it is.\n#pragma once\nint x;\n"})

    def test_a_long_file_needs_a_reason(self):
        self.assert_clean({"protocol/a.cc": "int x;\n" * 800})
        self.assert_complaint({"protocol/a.cc": "int x;\n" * 801}, "protocol/a.cc:801: ", "801 lines")

    def test_a_room_that_writes_what_is_read_back_asserts_at_least_once_in_300_lines(self):
        asserted = 'PARTITA_ASSERT(x, "a fact");\n'
        self.assert_clean({"storage/a.cc": "int x;\n" * 299})
        self.assert_complaint({"storage/a.cc": "int x;\n" * 200, "storage/a.h": HEADER + "int x;\n" * 99}, "storage:1: ",
                              "0 assertions in 300 lines")
        self.assert_clean({"storage/a.cc": "int x;\n" * 298 + asserted, "storage/b.cc": "int x;\n" * 300})
        self.assert_complaint({"storage/a.cc": "int x;\n" * 299 + asserted, "storage/b.cc": "int x;\n" * 300}, "storage:1: ",
                              "1 assertions in 600 lines")
        self.assert_complaint({"broker/groups/a.cc": "int x;\n" * 299 + "// " + asserted}, "broker/groups:1: ")

    def test_data_may_be_long(self):
        self.assert_clean({"tests/golden/a.hex": "00\n" * 2000})

    def test_machine_paths_are_found(self):
        # Written in parts, so that the check of this very tree finds nothing here.
        for place in ("/wor" + "k/shared", "/roo" + "t/.cache", "/tm" + "p/build-x/partita"):
            with self.subTest(place=place):
                self.assert_complaint({"docs/a.md": f"one\nsee {place}\n"}, "docs/a.md:2: ", "one machine")

    def test_paths_below_something_else_are_no_machine_paths(self):
        self.assert_clean({"docs/a.md": "$HOME/wor" + "k/x and net/wor" + "k/y and /tm" + "p/buildings\n"})

    # Tests that cannot fail.

    def test_a_cpp_test_asserts(self):
        self.assert_complaint({"tests/unit/a_test.cc": "TEST(A, DoesB) { run(); }\n"}, "tests/unit/a_test.cc:1: ",
                              "cannot fail")
        self.assert_clean({"tests/unit/a_test.cc": "TEST(A, DoesB) { EXPECT_EQ(1, run()); }\n"})

    def test_an_assertion_in_a_comment_is_none(self):
        self.assert_complaint({"tests/unit/a_test.cc": "TEST(A, DoesB) { run(); }  // EXPECT_EQ(1, 2)\n"},
                              "tests/unit/a_test.cc:1: ", "cannot fail")

    def test_a_file_called_a_test_holds_one(self):
        self.assert_complaint({"tests/unit/a_test.cc": "int x;\n"}, "tests/unit/a_test.cc:1: ", "holds none")

    def test_a_python_test_asserts_itself_or_by_what_it_imports(self):
        self.assert_complaint({"tests/interop/test_a.py": "def test_a():\n    run()\n"}, "tests/interop/test_a.py:1: ",
                              "cannot fail")
        self.assert_clean({"tests/interop/test_a.py": "def test_a():\n    assert run()\n"})
        self.assert_clean({"tests/interop/test_a.py": "from scenarios import *\n",
                           "tests/interop/scenarios.py": "def test_a():\n    assert run()\n"})

    # The script itself.

    def test_bad_usage_ends_with_2(self):
        for arguments in (["--no-such-option"], ["--root", "no/such/directory"], ["some/path"]):
            code, _, errors = run_tidy(*arguments)
            self.assertEqual(2, code, arguments)
            self.assertIn("usage", errors)

    def test_this_tree_is_tidy(self):
        code, out, _ = run_tidy()
        self.assertEqual((0, ""), (code, out))


if __name__ == "__main__":
    unittest.main()
