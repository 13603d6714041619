"""The clients of the matrix, read from clients/matrix.toml: which libraries there are, how their agents start, and
what each of them lacks or does in its own way. test_matrix.py runs every scenario against every one of them."""

import dataclasses
import tomllib

import harness

CLIENTS_DIRECTORY = harness.HERE / "clients"


@dataclasses.dataclass(frozen=True)
class Client:
    """One client library; its agent speaks the language of clients.py."""

    name: str
    #: The library as people know it, and where it comes from.
    library: str
    #: The agent's command line; {tools} and {clients} stand for the two directories, the word {kafka} for a JVM with
    #: the class path of Kafka 4.3.1, {java} for one without.
    run: tuple
    #: Runs every scenario in an ordinary test run; others leave what takes long to PARTITA_LONG_TESTS=1.
    thorough: bool = False
    #: Error codes with which the library reports a topic that nobody created.
    unknown_topic_codes: tuple = (3,)
    too_large_codes: tuple = (10,)
    #: Those with which it reports a topic that no rule lets it write to.
    refused_codes: tuple = (29,)
    #: Code that the library gives to whoever is fenced by a second member of the same instance id.
    fenced_codes: tuple = (82,)
    #: True if the library keeps the text that the broker sends along with an error.
    error_texts: bool = True
    #: How the library itself commits too early in a rebalance; empty if not. See ClientScenarios.may_read_again.
    commits_in_rebalances: str = ""
    #: Why members of this library may read records again after any rebalance; empty if they do not.
    reads_again: str = ""
    #: What the library cannot express or do at all: an operation of clients.py, a feature, or a shape of record ->
    #: the reason.
    lacks: dict = dataclasses.field(default_factory=dict)

    def command(self, bootstrap):
        words = []
        for word in self.run:
            if word == "{kafka}":
                words += harness.java_command()
            elif word == "{java}":
                words += harness.bare_java_command()
            else:
                words.append(word.format(tools=harness.TOOLS, clients=CLIENTS_DIRECTORY))
        return words + [bootstrap]


def load():
    """Name -> Client, in the order of the file."""
    with open(CLIENTS_DIRECTORY / "matrix.toml", "rb") as file:
        tables = tomllib.load(file)
    clients = {}
    for name, table in tables.items():
        table = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
        clients[name] = Client(name=name, **table)
    return clients


CLIENTS = load()
