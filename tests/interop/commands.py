"""Our commands beside Kafka's tools: runs the same line with both, and says where they differ."""

import os
import pathlib
import re
import subprocess
import tempfile

import harness

#: What Kafka's logging writes beside a tool's own words.
LOG_LINE = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] ")
STACK_LINE = re.compile(r"^\s+at |^Caused by: |^\s+\.\.\. \d+ more|^ \((org\.apache\.)?kafka\.[\w.$]+\)$")


class Commands:
    """Our tools by the names of Kafka's: commands("kafka-topics", "--list"). As a script finds them, by a link to the program."""

    def __init__(self, bootstrap, binary=None):
        self.bootstrap = bootstrap
        self.binary = binary or os.environ.get("PARTITA_BINARY") or str(
            harness.HERE.parents[1] / "build" / "release" / "partita")
        self.directory = tempfile.TemporaryDirectory(prefix="partita-commands-")

    def link(self, name):
        path = pathlib.Path(self.directory.name) / name
        if not path.is_symlink():
            path.symlink_to(os.path.realpath(self.binary))
        return str(path)

    def __call__(self, tool, *arguments, input="", seconds=harness.TOOL_DEADLINE_S):
        arguments = [str(argument) for argument in arguments]
        if "--bootstrap-server" not in arguments:
            arguments += ["--bootstrap-server", self.bootstrap]
        return self.bare(tool, *arguments, input=input, seconds=seconds)

    def bare(self, tool, *arguments, input="", seconds=harness.TOOL_DEADLINE_S):
        """The line as it is, without an address."""
        done = subprocess.run([self.link(tool + ".sh"), *arguments], input=input, capture_output=True, text=True,
                              timeout=seconds)
        return harness.ToolResult(" ".join([tool, *arguments]), done.returncode, done.stdout, done.stderr)

    def by_command(self, command, *arguments, input="", seconds=harness.TOOL_DEADLINE_S):
        """The same as a command of the program: `partita topics`."""
        words = [command, "--bootstrap-server", self.bootstrap, *map(str, arguments)]
        done = subprocess.run([self.binary, *words], input=input, capture_output=True, text=True, timeout=seconds)
        return harness.ToolResult(" ".join(words)[:200], done.returncode, done.stdout, done.stderr)

    def close(self):
        self.directory.cleanup()


#: An exception with its class: the head of a stack trace.
EXCEPTION_LINE = re.compile(r"^(java\.|org\.apache\.)[\w.$]+(: .*)?$")
#: What Java's library for options puts before a message that its user did not catch.
OPTION_EXCEPTION = re.compile(r"^joptsimple\.\w+: ")


def own_words(text):
    """A text without log lines and stack traces: what the tool itself says."""
    return [OPTION_EXCEPTION.sub("", line) for line in text.splitlines()
            if not LOG_LINE.match(line) and not STACK_LINE.match(line) and not EXCEPTION_LINE.match(line)]


#: The head of a stack trace that a tool prints on its output behind "Error: ".
TRACE_LINE = re.compile(r"^(java|joptsimple|com\.fasterxml|org\.apache\.kafka)\.[\w.$]+(: .*)?$")


def without_stack_trace(text):
    """An output up to the stack trace that ends it, if there is one."""
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if TRACE_LINE.match(line.rstrip("\n")) and any(before.startswith("Error: ") for before in lines[:at]):
            return "".join(lines[:at])
    return text


def first_error(result):
    """The first line of the error stream that a person would read. An exception's class before its message is Java's."""
    words = [line for line in own_words(result.err) if line]
    message = re.search(r"kafka-producer-perf-test:\s+error:(.*)", "\n".join(words), re.DOTALL)
    if message:
        # The library breaks and justifies the lines of its message, within words, too.
        return re.sub(r"\s", "", message[1])
    if result.command.startswith("kafka-producer-perf-test") and not words:
        # This tool catches no exceptions.
        lines = [line for line in result.err.splitlines() if not LOG_LINE.match(line)]
        return re.sub(r"^[\w.$]+: ", "", lines[0]) if lines else ""
    return words[0] if words else ""


def shown(result, rename=()):
    """What a script sees of a run: the exit code, the output, the first line of the error stream."""
    out, error = result.out, first_error(result)
    for old, new in rename:
        out, error = out.replace(old, new), error.replace(old, new)
    return {"exit code": result.code, "output": out, "error": error}
