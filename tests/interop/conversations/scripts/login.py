"""Clients that have to log in by SASL, and those that do not know how."""

import base64
import hashlib
import hmac
import json
import time

import wire
from talk import conversation, ends, versions

PACKAGE = "org.apache.kafka.common.security."
PREFIX = "listener.name.sasl_plaintext."
LISTENERS = "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{second_port}"
SECURED = {
    "listeners": LISTENERS,
    "advertised.listeners": LISTENERS,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    PREFIX + "plain.sasl.jaas.config": f'{PACKAGE}plain.PlainLoginModule required user_alice="alice-secret" user_eve="eve-secret";',
    PREFIX + "scram-sha-256.sasl.jaas.config": f"{PACKAGE}scram.ScramLoginModule required;",
    PREFIX + "scram-sha-512.sasl.jaas.config": f"{PACKAGE}scram.ScramLoginModule required;",
    PREFIX + "oauthbearer.sasl.jaas.config": f'{PACKAGE}oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
}
ENDING = {**SECURED, "connections.max.reauth.ms": 3_600_000}


def login(script=None, *, properties=SECURED):
    """A conversation with a broker that has a second listener, where clients log in."""
    def register(function):
        def run(talk):
            node = talk.quietly("Metadata", 12, Topics=[])["Brokers"][0]["NodeId"]
            answer = talk.quietly("DescribeConfigs", 4, Resources=[
                {"ResourceType": 4, "ResourceName": str(node), "ConfigurationKeys": ["listeners"]}])
            listeners = answer["Results"][0]["Configs"][0]["Value"]
            talk.secured_port = int(listeners.split("SASL_PLAINTEXT://127.0.0.1:")[1].split(",")[0])
            function(talk)
        run.__name__, run.__module__ = function.__name__, function.__module__
        return conversation(run, properties=properties)
    return register(script) if script else register


def come(talk, name):
    talk.connections[name] = wire.Connection(talk.host, talk.secured_port, "conversation")
    return name


def shake_hands(talk, on, mechanism, version=1, error="NONE"):
    return talk.ask("SaslHandshake", version, on=on, Mechanism=mechanism, error=error)


def say(talk, on, token, version=2, error="NONE"):
    return talk.ask("SaslAuthenticate", version, on=on, AuthBytes=token, error=error)


def plain(user, password, identity=""):
    return f"{identity}\0{user}\0{password}".encode()


def bearer(claims, header={"alg": "none"}):  # noqa: B006
    parts = [base64.b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims)]
    return b"n,,\x01auth=Bearer " + ".".join(parts).encode() + b".\x01\x01"


#: Long after whoever plays this.
LATER = 4_000_000_000


@login
def a_password(talk):
    for version in versions("SaslAuthenticate"):
        client = come(talk, f"version {version}")
        talk.ask("ApiVersions", 0, on=client, error=None)
        talk.steps.pop()
        shake_hands(talk, client, "PLAIN")
        say(talk, client, plain("alice", "alice-secret"), version)
        talk.ask("ListGroups", 4, on=client)
        shake_hands(talk, client, "PLAIN", error="ILLEGAL_SASL_STATE")
        say(talk, client, plain("alice", "alice-secret"), version, error="ILLEGAL_SASL_STATE")
        talk.ask("ListGroups", 4, on=client)


@login
def passwords_that_are_wrong(talk):
    tokens = {"another password": plain("alice", "wrong"), "nobody": plain("nobody", "alice-secret"), "no name": plain("", "x"),
              "no password": plain("alice", ""), "nothing": b"", "no separators": b"alice", "somebody else": plain("alice", "alice-secret", "eve"),
              "a name of no text": b"\0\xff\xfe\0x"}
    for version in ends("SaslAuthenticate"):
        for what, token in tokens.items():
            client = come(talk, f"{what}, version {version}")
            shake_hands(talk, client, "PLAIN")
            say(talk, client, token, version, error="SASL_AUTHENTICATION_FAILED")
            talk.ask("ListGroups", 4, on=client, error="closed")


@login
def oneself_as_the_identity(talk):
    client = come(talk, "client")
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("alice", "alice-secret", "alice"))
    client = come(talk, "four parts")
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("alice", "alice-secret") + b"\0more", error="SASL_AUTHENTICATION_FAILED")


@login
def tokens_without_a_header(talk):
    for what, mechanism, token in (("a password", "PLAIN", plain("alice", "alice-secret")), ("a wrong password", "PLAIN", plain("alice", "x")),
                                   ("nobody", "SCRAM-SHA-256", b"n,,n=nobody,r=nonce")):
        client = come(talk, what)
        shake_hands(talk, client, mechanism, 0)
        connection = talk.connection(client)
        connection.send_frame(token)
        try:
            talk.note(f"the answer is {connection.frame(10).hex() or 'empty'}")
        except wire.Closed:
            talk.note("the connection is closed")
            continue
        talk.ask("ListGroups", 4, on=client)


@login
def mechanisms(talk):
    for version in versions("SaslHandshake"):
        for mechanism in ("GSSAPI", "plain", "", "SCRAM-SHA-1"):
            client = come(talk, f"{mechanism or 'none'}, version {version}")
            shake_hands(talk, client, mechanism, version, error="UNSUPPORTED_SASL_MECHANISM")
            talk.ask("ListGroups", 4, on=client, error="closed")


@login
def requests_before_the_login(talk):
    for api, fields in {"Metadata": {"Topics": []}, "ListGroups": {}, "SaslAuthenticate": {"AuthBytes": plain("alice", "alice-secret")}}.items():
        talk.ask(api, wire.oldest(api), on=come(talk, f"{api} first"), error="closed", **fields)
    client = come(talk, "versions twice")
    talk.ask("ApiVersions", 0, on=client, error=None)
    talk.steps.pop()
    talk.ask("ApiVersions", 0, on=client, error="closed")
    client = come(talk, "a name that is no name")
    talk.ask("ApiVersions", 3, on=client, ClientSoftwareName="-", ClientSoftwareVersion="1", error="INVALID_REQUEST")
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("alice", "alice-secret"))


@login
def scram_without_a_user(talk):
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        for message in (b"n,,n=nobody,r=nonce", b"y,,n=nobody,r=nonce", b"n,,n=nobody,r=nonce,tokenauth=true", b"", b"n,,n=no=body,r=nonce"):
            client = come(talk, f"{mechanism} {message.decode()}")
            shake_hands(talk, client, mechanism)
            say(talk, client, message, error="SASL_AUTHENTICATION_FAILED")


def with_user(talk, name, iterations=4096):
    """Makes a user with a password, and answers what a client needs of it."""
    salted = hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", iterations)
    talk.quietly("AlterUserScramCredentials", 0, Deletions=[], Upsertions=[
        {"Name": name, "Mechanism": 1, "Iterations": iterations, "Salt": b"salt", "SaltedPassword": salted}])
    talk.quietly("DescribeUserScramCredentials", 0, Users=[{"Name": name}])
    return salted


def proof_for(salted, first, challenge, without_proof):
    def sign(key, text):
        return hmac.new(key, text, "sha256").digest()
    key = sign(salted, b"Client Key")
    text = first.split(b",", 2)[2] + b"," + challenge + b"," + without_proof
    signature = sign(hashlib.sha256(key).digest(), text)
    return base64.b64encode(bytes(one ^ other for one, other in zip(key, signature)))


def scram(talk, on, name, salted, change=lambda final: final, error="NONE"):
    """A login by SCRAM; what differs from run to run is taken out of the transcript."""
    first = f"n,,n={name},r=nonce".encode()
    answer = say(talk, on, first)
    challenge = answer["AuthBytes"]
    challenge = bytes.fromhex(challenge) if isinstance(challenge, str) else challenge
    assert challenge.startswith(b"r=nonce") and challenge.endswith(b",s=c2FsdA==,i=4096"), challenge
    talk.steps.pop()
    nonce = challenge.split(b",")[0]
    without_proof = b"c=biws," + nonce
    final = change(without_proof + b",p=" + proof_for(salted, first, challenge, without_proof))
    answer = say(talk, on, final, error=error)
    talk.steps[-1]["request"] = {"AuthBytes": "the proof"}
    if answer and answer["ErrorCode"] == 0:
        talk.steps[-1]["answer"] = {**answer, "AuthBytes": "the signature"}


@login
def scram_with_a_user(talk):
    name = talk.named("user")
    salted = with_user(talk, name)
    client = come(talk, "client")
    shake_hands(talk, client, "SCRAM-SHA-256")
    scram(talk, client, name, salted)
    talk.ask("ListGroups", 4, on=client)
    for what, change in {
        "another proof": lambda final: final.rsplit(b",p=", 1)[0] + b",p=" + base64.b64encode(bytes(32)),
        "another nonce": lambda final: final.replace(b",r=nonce", b",r=other"),
        "no proof": lambda final: final.rsplit(b",p=", 1)[0],
        "the first message": lambda final: f"n,,n={name},r=nonce".encode(),
    }.items():
        client = come(talk, what)
        shake_hands(talk, client, "SCRAM-SHA-256")
        scram(talk, client, name, salted, change, error="SASL_AUTHENTICATION_FAILED")
    # There is a credential for one mechanism only.
    client = come(talk, "another mechanism")
    shake_hands(talk, client, "SCRAM-SHA-512")
    say(talk, client, f"n,,n={name},r=nonce".encode(), error="SASL_AUTHENTICATION_FAILED")
    client = come(talk, "another identity")
    shake_hands(talk, client, "SCRAM-SHA-256")
    say(talk, client, f"n,a=admin,n={name},r=nonce".encode(), error="SASL_AUTHENTICATION_FAILED")


@login
def tokens_that_nobody_signed(talk):
    client = come(talk, "client")
    shake_hands(talk, client, "OAUTHBEARER")
    answer = say(talk, client, bearer({"sub": "dave", "exp": LATER, "iat": 1}))
    # It is what is left of the token's life.
    talk.steps[-1]["answer"] = {**answer, "SessionLifetimeMs": 1}
    assert abs(answer["SessionLifetimeMs"] - (LATER - time.time()) * 1000) < 10_000, answer
    talk.ask("ListGroups", 4, on=client)
    for what, token in {
        "expired": bearer({"sub": "dave", "exp": 1}),
        "no expiry": bearer({"sub": "dave"}),
        "no subject": bearer({"exp": LATER}),
        "issued later": bearer({"sub": "dave", "exp": LATER, "iat": LATER - 1}),
        "signed": bearer({"sub": "dave", "exp": LATER}, {"alg": "RS256"}),
    }.items():
        client = come(talk, what)
        shake_hands(talk, client, "OAUTHBEARER")
        say(talk, client, token)
        say(talk, client, b"\x01", error="SASL_AUTHENTICATION_FAILED")
    for what, token in {"no message": b"", "another scheme": b"n,,\x01auth=Basic abc\x01\x01", "no token": b"n,,\x01\x01",
                        "another identity": bearer({"sub": "dave", "exp": LATER}).replace(b"n,,", b"n,a=eve,")}.items():
        client = come(talk, what)
        shake_hands(talk, client, "OAUTHBEARER")
        say(talk, client, token, error=None)
        talk.ask("ListGroups", 4, on=client, error=None)


@login(properties=ENDING)
def logging_in_again(talk):
    for version in versions("SaslAuthenticate"):
        client = come(talk, f"version {version}")
        shake_hands(talk, client, "PLAIN")
        say(talk, client, plain("alice", "alice-secret"), version)
        shake_hands(talk, client, "PLAIN")
        say(talk, client, plain("alice", "alice-secret"), version)
        talk.ask("ListGroups", 4, on=client)
        # Not twice in a second.
        shake_hands(talk, client, "PLAIN", error="ILLEGAL_SASL_STATE")
    client = come(talk, "somebody else")
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("alice", "alice-secret"))
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("eve", "eve-secret"), error="SASL_AUTHENTICATION_FAILED")
    client = come(talk, "a wrong password")
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("alice", "alice-secret"))
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("", "x"), error="SASL_AUTHENTICATION_FAILED")
    client = come(talk, "another mechanism")
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("alice", "alice-secret"))
    shake_hands(talk, client, "OAUTHBEARER")
    say(talk, client, bearer({"sub": "alice", "exp": LATER}), error="closed")
    client = come(talk, "a mechanism that is not offered")
    shake_hands(talk, client, "PLAIN")
    say(talk, client, plain("alice", "alice-secret"))
    shake_hands(talk, client, "GSSAPI", error="closed")
