"""Delegation tokens (KIP-48) as people use them: Kafka's own tool makes, lists, renews and expires them, and clients log in by them."""

import re

import pytest

import commands
import harness
from test_sasl import MODULE, User, jaas, list_topics, properties_file

BROKER_PROPERTIES = {
    "listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    **jaas("plain", "plain.PlainLoginModule", 'user_alice="alice-secret" user_bob="bob-secret" user_eve="eve-secret"'),
    **jaas("scram-sha-256", "scram.ScramLoginModule"),
    **jaas("scram-sha-512", "scram.ScramLoginModule"),
    "delegation.token.secret.key": "the-secret-of-tokens",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
ALICE, BOB, EVE = (User("PLAIN", name, f"{name}-secret") for name in ("alice", "bob", "eve"))


class Bearer(User):
    """Who has a token: its id is the name, its HMAC the password."""

    def java(self):
        return {**super().java(), "sasl.jaas.config": f'{MODULE}scram.ScramLoginModule required username="{self.name}" '
                                                      f'password="{self.password}" tokenauth="true";'}


@pytest.fixture(scope="module")
def secured(broker):
    return f"127.0.0.1:{broker.second_port}"


@pytest.fixture
def tokens(tools, secured, tmp_path):
    def run(user, *arguments):
        return tools("kafka-delegation-tokens", "--bootstrap-server", secured, "--command-config",
                     properties_file(tmp_path, user.java()), *arguments)
    return run



@pytest.fixture
def ours(broker, secured, tmp_path):
    """The same by `partita delegation-tokens`."""
    runner = commands.Commands(broker.bootstrap)

    def run(user, *arguments):
        return runner("kafka-delegation-tokens", "--bootstrap-server", secured, "--command-config",
                      properties_file(tmp_path, user.java()), *arguments)
    yield run
    runner.close()


def words(text):
    """What the tool prints of each token: id, HMAC, owner, requester, renewers, and three times."""
    return [line.split() for line in text.splitlines() if re.match(r"[\w-]{22}\s", line)]


def make(tokens, user, *arguments):
    """Returns id and HMAC."""
    out = tokens(user, "--create", "--max-life-time-period", "-1", *arguments).succeeded().out
    assert "Created delegation token with tokenId" in out, out
    (row,) = words(out)
    return row[0], row[1]


def may_list(tools, secured, directory, user, expected=True):
    done = list_topics(tools, secured, directory, user)
    assert (done.code == 0) == expected, done
    return done


def test_a_token_is_made_listed_renewed_and_expired(tokens):
    token, hmac = make(tokens, ALICE, "--renewer-principal", "User:bob")

    def listed():
        (row,) = [row for row in words(tokens(ALICE, "--describe", "--owner-principal", "User:alice").succeeded().out) if row[0] == token]
        assert row[1] == hmac and row[2] == "User:alice" and row[3] == "User:alice" and "User:bob" in row[4], row
    harness.at_once(listed)
    renewed = tokens(BOB, "--renew", "--renew-time-period", "60000", "--hmac", hmac).succeeded().out
    assert "Completed renew operation. New expiry date" in renewed, renewed
    refused = tokens(EVE, "--renew", "--renew-time-period", "60000", "--hmac", hmac)
    assert refused.code == 1 and "DelegationTokenOwnerMismatchException" in refused.out + refused.err, refused
    assert token not in tokens(EVE, "--describe", "--owner-principal", "User:alice").succeeded().out
    expired = tokens(ALICE, "--expire", "--expiry-time-period", "-1", "--hmac", hmac).succeeded().out
    assert "Completed expire operation. New expiry date" in expired, expired

    def gone():
        assert token not in tokens(ALICE, "--describe", "--owner-principal", "User:alice").succeeded().out
    harness.at_once(gone)
    again = tokens(ALICE, "--expire", "--expiry-time-period", "-1", "--hmac", hmac)
    assert again.code == 1 and "DelegationTokenNotFoundException" in again.out + again.err, again


def test_our_tool_says_what_kafkas_says(tokens, ours):
    """Of tokens that differ in their ids, and of the same ones."""
    said = []
    for run in (tokens, ours):
        made = run(ALICE, "--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob", "--renewer-principal", "User:eve")
        (row,) = words(made.succeeded().out)
        token, hmac = row[:2]
        answers = [made, run(BOB, "--renew", "--renew-time-period", "60000", "--hmac", hmac),
                   run(BOB, "--renew", "--renew-time-period", "-7", "--hmac", "YQ=="),
                   run(ALICE, "--expire", "--expiry-time-period", "100000", "--hmac", hmac)]
        said.append([{key: re.sub(r"\d\d:\d\d", "TIME", value).replace(token, "ID" * 11).replace(hmac, "H" * 88) if isinstance(value, str) else value
                      for key, value in commands.shown(answer).items()} for answer in answers])
    assert said[0] == said[1]

    def same_lists():
        for owners in ([], ["--owner-principal", "User:alice"], ["--owner-principal", "User:nobody"]):
            theirs, mine = (run(ALICE, "--describe", *owners).succeeded().out for run in (tokens, ours))
            assert sorted(theirs.splitlines()) == sorted(mine.splitlines())
    harness.at_once(same_lists)


def test_our_own_command_shows_all_tokens_that_a_client_may_see(broker, tokens, secured, tmp_path):
    token, _ = make(tokens, ALICE, "--renewer-principal", "User:bob")
    config = properties_file(tmp_path, BOB.java())
    runner = commands.Commands(secured)

    def seen():
        told = runner.by_command("delegation-tokens", "--command-config", config, "--describe").succeeded().out
        assert token in [row[0] for row in words(told)], told
    harness.at_once(seen)
    runner.close()


def test_who_may_make_tokens_of_somebody_else(tools, tokens):
    refused = tokens(EVE, "--create", "--max-life-time-period", "-1", "--owner-principal", "User:bob")
    assert refused.code == 1 and "DelegationTokenAuthorizationException" in refused.out + refused.err, refused
    tools("kafka-acls", "--add", "--allow-principal", "User:eve", "--operation", "CreateTokens", "--user-principal", "User:bob").succeeded()

    def made():
        return make(tokens, EVE, "--owner-principal", "User:bob")
    token, _ = harness.at_once(made)

    def listed():
        (row,) = [row for row in words(tokens(BOB, "--describe", "--owner-principal", "User:bob").succeeded().out) if row[0] == token]
        assert row[2:4] == ["User:bob", "User:eve"], row
    harness.at_once(listed)


def test_clients_log_in_by_a_token_as_its_owner_until_it_is_expired(tools, tokens, secured, tmp_path, unique):
    topic = unique("of-alice")
    tools("kafka-topics", "--create", "--topic", topic).succeeded()
    tools("kafka-acls", "--add", "--allow-principal", "User:alice", "--operation", "Describe", "--topic", topic).succeeded()
    token, hmac = make(tokens, ALICE)
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        bearer = Bearer(mechanism, token, hmac)

        def sees():
            assert may_list(tools, secured, tmp_path, bearer).lines == [topic]
        harness.at_once(sees)
    # A bearer makes no tokens.
    refused = tokens(Bearer("SCRAM-SHA-256", token, hmac), "--create", "--max-life-time-period", "-1")
    assert refused.code == 1 and "DelegationTokenDisabledException" not in refused.out + refused.err
    assert "not allowed on PLAINTEXT/1-way SSL channels and on delegation token authenticated channels" in refused.out + refused.err, refused
    may_list(tools, secured, tmp_path, Bearer("SCRAM-SHA-256", token, "d3Jvbmc="), expected=False)
    # Without the extension it is the name of nobody.
    may_list(tools, secured, tmp_path, User("SCRAM-SHA-256", token, hmac), expected=False)
    tokens(ALICE, "--expire", "--expiry-time-period", "-1", "--hmac", hmac).succeeded()
    harness.at_once(lambda: may_list(tools, secured, tmp_path, Bearer("SCRAM-SHA-256", token, hmac), expected=False))


def test_tokens_outlive_the_broker_however_it_ends(broker, tools, tokens, secured, tmp_path):
    token, hmac = make(tokens, ALICE)
    for end in (broker.kill, broker.stop):
        end()
        broker.start()
        harness.at_once(lambda: may_list(tools, secured, tmp_path, Bearer("SCRAM-SHA-512", token, hmac)))
    log = broker.log_text(lines=100_000)
    assert hmac not in log and "the-secret-of-tokens" not in log
