"""A token and TLS for the HTTP side: whom it answers, what the commands and the console do with them, and where a broker refuses to start."""

import json
import socket
import ssl
import urllib.error
import urllib.request

import confluent_kafka.admin
import pytest

import browser as browsers
import harness
import insight

TOKEN = "3f8e2c1d5a7b9e4f6c0d"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    if harness.TARGET != "partita":
        pytest.skip("only a Partita has an HTTP side")
    made = tmp_path_factory.mktemp("http") / "security"
    assert harness.run_partita("dev-security", made).succeeded()
    (made / "http-token").write_text(TOKEN + "\n")
    return made


@pytest.fixture(scope="module")
def secured(directory):
    with harness.start_broker({"partita.http.listener": "https://127.0.0.1:0", "partita.http.token.file": directory / "http-token",
                               "listener.name.http.ssl.keystore.type": "PEM",
                               "listener.name.http.ssl.keystore.location": directory / "server.pem"}) as broker:
        yield broker


@pytest.fixture(scope="module")
def with_token():
    """Without TLS, on this machine."""
    if harness.TARGET != "partita":
        pytest.skip("only a Partita has an HTTP side")
    with harness.start_broker({"partita.http.token": TOKEN}) as broker:
        yield broker


def ask(broker, directory, path, token=None, body=None):
    trusting = ssl.create_default_context(cafile=directory / "ca.pem") if directory else None
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http{'s' if directory else ''}://{insight.address(broker)}{path}", data=data,
                                     headers={"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60, context=trusting) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def test_it_answers_the_bearer_of_the_token_over_tls(secured, directory):
    assert ask(secured, directory, "/v1/topics", TOKEN, {"topic": "orders", "partitions": 2})[0] == 200
    status, text = ask(secured, directory, "/v1/topics", TOKEN)
    assert status == 200 and [topic["topic"] for topic in json.loads(text)["topics"] if not topic["internal"]] == ["orders"]


def test_it_answers_nobody_else_but_of_its_health(secured, directory):
    for token in (None, TOKEN[:-1], TOKEN + "0"):
        status, text = ask(secured, directory, "/v1/topics", token)
        assert status == 401 and "token" in json.loads(text)["error"]
    assert ask(secured, directory, "/v1/topics", None, {"topic": "never", "partitions": 1})[0] == 401
    for path in ("/health/live", "/health/ready", "/metrics", "/"):
        assert ask(secured, directory, path)[0] == 200, path


def test_who_does_not_trust_its_certificate_is_not_connected(secured):
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(f"https://{insight.address(secured)}/health/live", timeout=60)


def test_the_token_is_in_no_log_and_in_no_description(secured, with_token):
    assert TOKEN not in secured.log_path.read_text() and TOKEN not in with_token.log_path.read_text()
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": with_token.bootstrap})
    resource = confluent_kafka.admin.ConfigResource("broker", "1")
    described = admin.describe_configs([resource])[resource].result(60)
    assert all(TOKEN not in str(entry.value) for entry in described.values())
    settings = ask(with_token, None, "/v1/broker/configs", TOKEN)
    assert settings[0] == 200 and TOKEN not in settings[1]


def test_the_broker_says_where_it_is_with_tls(secured):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": secured.bootstrap})
    resource = confluent_kafka.admin.ConfigResource("broker", "1")
    described = admin.describe_configs([resource])[resource].result(60)
    assert described["partita.http.advertised"].value == f"https://{insight.address(secured)}"


def test_the_commands_bring_the_token_and_check_the_certificate(secured, directory):
    assert ask(secured, directory, "/v1/topics", TOKEN, {"topic": "shown", "partitions": 1})[0] == 200
    line = ["control", "show", "shown", "--http", f"https://{insight.address(secured)}", "--http-ca", directory / "ca.pem"]
    shown = harness.run_partita(*line, "--http-token-file", directory / "http-token")
    assert shown.code == 0 and json.loads(shown.out), shown
    unknown = harness.run_partita(*line)
    assert (unknown.code, unknown.out) == (2, "") and "needs the broker's token" in unknown.err
    distrust = harness.run_partita(*line[:5], "--http-token-file", directory / "http-token")
    assert distrust.code == 1 and "--http-ca" in distrust.err and distrust.err.count("\n") == 1


def test_who_shows_a_wrong_token_is_told_in_the_log(with_token):
    assert ask(with_token, None, "/v1/topics", "wrong" + TOKEN)[0] == 401
    line = harness.wait_until(lambda: [line for line in with_token.log_path.read_text().splitlines() if "a client sent a wrong token" in line], 5, "a line")[-1]
    assert "WARN http" in line and "client=127.0.0.1" in line and TOKEN not in line


def test_who_connects_and_says_nothing_keeps_nobody_out(with_token):
    host, port = insight.address(with_token).rsplit(":", 1)
    silent = [socket.create_connection((host, int(port))) for _ in range(100)]
    try:
        for _ in range(3):
            assert ask(with_token, None, "/health/live") == (200, "live\n")
    finally:
        for connection in silent:
            connection.close()


def test_what_the_bearer_may_not_do_is_told_in_the_log():
    if harness.TARGET != "partita":
        pytest.skip("only a Partita has an HTTP side")
    rules = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS"}
    with harness.start_broker({"partita.http.token": TOKEN, "partita.http.principal": "User:console", **rules}) as broker:
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap})
        admin.create_topics([confluent_kafka.admin.NewTopic("orders", 1)])["orders"].result(60)
        assert ask(broker, None, "/v1/topics/orders", TOKEN)[0] == 403
        assert ("Principal = User:console is Denied operation = DESCRIBE from host = 127.0.0.1 on resource = Topic:LITERAL:orders for request = "
                "GET /v1/topics/T with resourceRefCount = 1 based on rule DefaultDeny") in broker.log_path.read_text()


def test_topics_are_named_to_the_bearer_alone_also_where_capacity_is_counted():
    if harness.TARGET != "partita":
        pytest.skip("only a Partita has an HTTP side")
    with harness.start_broker({"partita.http.token": TOKEN, "partita.capacity.units": "1"}) as broker:
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})
        producer.produce("payroll", b"v")
        assert producer.flush(60) == 0
        named, unnamed = (ask(broker, None, "/metrics", token)[1] for token in (TOKEN, None))
        sent = "partita_service_incoming_messages_total"
        assert f'{sent}{{entity="payroll"}} 1' in named and f'{sent}{{entity=""}} 0' in named
        assert "payroll" not in unnamed and f'{sent}{{entity=""}} 1' in unnamed
        assert [line for line in unnamed.splitlines() if line.startswith("partita_service_size_bytes")][0].endswith("} 0") is False


def test_beyond_this_machine_it_starts_with_token_and_tls_only(tmp_path):
    line = ("serve", "--ephemeral", "--port", "0", "--override", "partita.http.listener=0.0.0.0:0")
    refused = harness.run_partita(*line)
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert all(name in refused.err for name in ("partita.http.token.file", "https://", "ssl.keystore.location", "partita.http.open=health"))
    (tmp_path / "token").write_text("short\n")
    with_file = (*line, "--override", f"partita.http.token.file={tmp_path}/token")
    assert "partita.http.plaintext=true" in harness.run_partita(*with_file).err
    short = harness.run_partita(*with_file, "--override", "partita.http.plaintext=true")
    assert short.code == 2 and "16 to 4096" in short.err and "short" not in short.err
    keyless = harness.run_partita(*line, "--override", "partita.http.listener=https://0.0.0.0:0", "--override", f"partita.http.token={TOKEN}")
    assert keyless.code == 2 and "listener.name.http.ssl.keystore.location" in keyless.err and TOKEN not in keyless.err


def test_the_console_asks_for_the_token_once(with_token):
    started = browsers.Browser()
    try:
        started.load(f"http://{insight.address(with_token)}/")
        started.wait("document.querySelector('#login')?.open", "the console asks for the token")
        # The field has the dialog's width, below what it is called.
        assert started.run("document.querySelector('#login input').offsetWidth > 0.8 * document.querySelector('#login').offsetWidth")
        started.put("#login input", "wrong-token-wrong-token")
        started.click("#login button")
        started.wait("document.querySelector('#login .problem').textContent.includes('wrong token')", "a wrong token is refused")
        started.put("#login input", TOKEN)
        started.loaded.clear()
        started.click("#login button")
        assert started.loaded.wait(60), "the console begins anew"
        started.wait("document.querySelector('.state')?.textContent === 'live'", "events come, by a WebSocket with the token")
        started.wait("document.querySelector('.page')?.dataset.ready && !document.querySelector('#login')", "a page is drawn")
        assert started.run("document.cookie") == "" and started.run("JSON.stringify(localStorage)").count(TOKEN) == 0
    finally:
        started.close()
