"""Delegation tokens (KIP-48): who may make them, for whom, who is told of them, who moves their end, and who logs in by them."""

import base64
import functools
import hashlib
import hmac
import time

from scripts import authorization, login
from scripts.login import come, plain, say, shake_hands
from talk import ends, versions

USERS = ("alice", "bob", "carol", "dave", "eve")
#: Each conversation has users of its own, whose names end with its number.
CASTS = 8
PASSWORDS = " ".join(f'user_{name}{number}="{name}-secret"' for name in USERS for number in range(1, CASTS + 1))
PROPERTIES = {
    **login.SECURED,
    login.PREFIX + "plain.sasl.jaas.config": f"{login.PACKAGE}plain.PlainLoginModule required {PASSWORDS};",
    "delegation.token.secret.key": "the-secret-of-tokens",
    "delegation.token.max.lifetime.ms": 7_200_000,
    "delegation.token.expiry.time.ms": 3_600_000,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
TOKEN, USER = authorization.DELEGATION_TOKEN, authorization.USER
CREATE_TOKENS, DESCRIBE_TOKENS = 13, 14


def conversation(script):
    conversation.count += 1
    number = conversation.count
    assert number <= CASTS

    @functools.wraps(script)
    def with_cast(talk):
        talk.cast = number
        script(talk)
    return login.login(with_cast, properties=PROPERTIES)


conversation.count = 0


def named(talk, name):
    return f"{name}{talk.cast}"


def user(talk, name):
    return {"PrincipalType": "User", "PrincipalName": named(talk, name)}


def enter(talk, name, connection=None):
    """A client that has logged in by PLAIN; of that nothing is in the transcript."""
    on = come(talk, connection or name)
    shake_hands(talk, on, "PLAIN")
    say(talk, on, plain(named(talk, name), f"{name}-secret"))
    del talk.steps[-2:]
    return on


def raw(value):
    return bytes.fromhex(value) if isinstance(value, str) else value


def create(talk, on, version=3, error="NONE", lifetime=-1, renewers=(), **fields):
    return talk.ask("CreateDelegationToken", version, on=on, error=error, Renewers=[user(talk, name) for name in renewers],
                    MaxLifetimeMs=lifetime, **fields)


def made(talk, on, *arguments, **fields):
    """A token that everybody is told of who may be. Its times are in the transcript as what lies between them."""
    token = create(talk, on, *arguments, **fields)
    if token.get("ErrorCode") == 0:
        lives(talk, token)
        shown(talk, on, token)
    return token


def lives(talk, token):
    begin = token["IssueTimestampMs"]
    talk.note(f"it expires after {token['ExpiryTimestampMs'] - begin} ms, and {token['MaxTimestampMs'] - begin} ms at the latest; "
              f"its id has {len(token['TokenId'])} characters, its HMAC {len(raw(token['Hmac']))} bytes")


def about(seconds):
    """A time that is left, however long it took to ask."""
    return next((f"about {known} s" for known in (0, 60, 120, 3600, 7200) if -1 <= known - seconds < 30), f"{seconds:.0f} s")


def ids(answer):
    return [each["TokenId"] for each in answer["Tokens"]]


def shown(talk, on, token, is_there=True, expires=None):
    def holds(answer):
        found = [each for each in answer["Tokens"] if each["TokenId"] == token["TokenId"]]
        return bool(found) == is_there and (expires is None or found[0]["ExpiryTimestamp"] == expires)
    talk.quietly("DescribeDelegationToken", 3, holds, on=on, Owners=None)


def move(talk, api, on, token, period, version=2, error="NONE"):
    """Renews or expires it. The new end is in the transcript as what lies between it and now, to ten seconds."""
    field = "RenewPeriodMs" if api.startswith("Renew") else "ExpiryTimePeriodMs"
    answer = talk.ask(api, version, on=on, Hmac=raw(token["Hmac"]), error=error, **{field: period})
    if answer.get("ErrorCode") == 0:
        talk.note(f"it expires in {about(answer['ExpiryTimestampMs'] / 1000 - time.time())}")
        if period >= 0 or api.startswith("Renew"):
            shown(talk, on, token, expires=answer["ExpiryTimestampMs"])
        else:
            shown(talk, on, token, is_there=False)
    return answer


def describe(talk, on, *owners, version=3, error="NONE"):
    return talk.ask("DescribeDelegationToken", version, on=on, error=error, Owners=[user(talk, name) for name in owners] if owners else None)


def log_in(talk, on, token, mechanism="SCRAM-SHA-256", password=None, error="NONE"):
    """By a token: what differs from run to run is taken out of the transcript."""
    algorithm = "sha256" if mechanism.endswith("256") else "sha512"
    come(talk, on)
    shake_hands(talk, on, mechanism)
    first = f"n,,n={token['TokenId']},r=nonce,tokenauth=true".encode()
    answer = say(talk, on, first, error=error if error == "SASL_AUTHENTICATION_FAILED" and password is None else "NONE")
    talk.steps[-1]["request"] = {"AuthBytes": "the first message"}
    if answer.get("ErrorCode") != 0:
        return answer
    challenge = raw(answer["AuthBytes"])
    talk.steps[-1]["answer"] = {**answer, "AuthBytes": "the challenge"}
    nonce, salt, iterations = challenge.split(b",")
    talk.note(iterations.decode())
    password = password or base64.b64encode(raw(token["Hmac"]))
    salted = hashlib.pbkdf2_hmac(algorithm, password, base64.b64decode(salt[2:]), int(iterations[2:]))

    def sign(key, text):
        return hmac.digest(key, text, algorithm)
    without_proof = b"c=biws," + nonce
    key = sign(salted, b"Client Key")
    signature = sign(hashlib.new(algorithm, key).digest(), first.split(b",", 2)[2] + b"," + challenge + b"," + without_proof)
    proof = base64.b64encode(bytes(one ^ other for one, other in zip(key, signature)))
    answer = say(talk, on, without_proof + b",p=" + proof, error=error)
    talk.steps[-1]["request"] = {"AuthBytes": "the proof"}
    if answer.get("ErrorCode") == 0:
        talk.steps[-1]["answer"] = {**answer, "AuthBytes": "the signature", "SessionLifetimeMs": 1}
        talk.note(f"the session lasts for {about(answer['SessionLifetimeMs'] / 1000)}")
    return answer


def rules(talk, *acls):
    """acls: (kind, name, operation, user)."""
    creations = [authorization.acl(kind, name, operation, "*", principal=f"User:{named(talk, who)}") for kind, name, operation, who in acls]
    talk.quietly("CreateAcls", 3, Creations=creations)
    for each in creations:
        talk.quietly("DescribeAcls", 3, lambda answer: answer["Resources"], **authorization.acl_filter(
            each["ResourceType"], each["ResourceName"], each["Operation"], principal=each["Principal"], pattern=authorization.LITERAL))
    time.sleep(0.3)  # Kafka's controller has rules of its own, which follow a moment later.


@conversation
def a_token_is_made_renewed_and_expired(talk):
    for version in versions("CreateDelegationToken"):
        alice, bob = (enter(talk, name, f"{name}, version {version}") for name in ("alice", "bob"))
        token = made(talk, alice, version, renewers=("bob", "carol"))
        describe(talk, alice, "alice", version=version)
        later = min(version, 2)
        move(talk, "RenewDelegationToken", alice, token, -1, later)
        move(talk, "RenewDelegationToken", bob, token, 60_000, later)
        move(talk, "RenewDelegationToken", bob, token, 100_000_000, later)
        move(talk, "ExpireDelegationToken", bob, token, 120_000, later)
        move(talk, "ExpireDelegationToken", alice, token, 100_000_000, later)
        move(talk, "ExpireDelegationToken", alice, token, -5, later)
        move(talk, "ExpireDelegationToken", alice, token, -1, later, error="DELEGATION_TOKEN_NOT_FOUND")
        move(talk, "RenewDelegationToken", alice, token, -1, later, error="DELEGATION_TOKEN_NOT_FOUND")


@conversation
def how_long_tokens_live(talk):
    alice = enter(talk, "alice")
    for lifetime in (0, 1_000, 3_600_001, 7_200_001, 2**63 - 1):
        made(talk, alice, lifetime=lifetime)


@conversation
def tokens_that_have_expired(talk):
    alice = enter(talk, "alice")
    eve = enter(talk, "eve")
    token = create(talk, alice, lifetime=1)
    shown(talk, alice, token)
    while time.time() * 1000 < token["MaxTimestampMs"] + 2:
        time.sleep(0.001)
    for api in ("RenewDelegationToken", "ExpireDelegationToken"):
        for version in ends(api):
            move(talk, api, alice, token, 1, version, error="DELEGATION_TOKEN_EXPIRED")
            move(talk, api, eve, token, 1, version, error=None)
    move(talk, "ExpireDelegationToken", eve, token, -1, error=None)
    move(talk, "ExpireDelegationToken", alice, token, -1)


@conversation
def whose_tokens_they_are(talk):
    alice, eve, dave = (enter(talk, name) for name in ("alice", "eve", "dave"))
    token = made(talk, alice, renewers=("bob",))
    for api in ("RenewDelegationToken", "ExpireDelegationToken"):
        for version in ends(api):
            move(talk, api, eve, token, -1, version, error="DELEGATION_TOKEN_OWNER_MISMATCH")
            move(talk, api, eve, {"Hmac": b"no token"}, -1, version, error="DELEGATION_TOKEN_NOT_FOUND")
    create(talk, dave, error="DELEGATION_TOKEN_AUTHORIZATION_FAILED", OwnerPrincipalType="User",
           OwnerPrincipalName=named(talk, "alice"))
    create(talk, dave, error="DELEGATION_TOKEN_AUTHORIZATION_FAILED", OwnerPrincipalType="Group",
           OwnerPrincipalName=named(talk, "dave"))
    # Oneself one may always name; without a name the type means nothing.
    made(talk, dave, OwnerPrincipalType="User", OwnerPrincipalName=named(talk, "dave"))
    made(talk, dave, OwnerPrincipalType="Group", OwnerPrincipalName="")
    made(talk, dave, OwnerPrincipalType=None, OwnerPrincipalName=None)
    create(talk, dave, error=None, OwnerPrincipalType=None, OwnerPrincipalName=named(talk, "alice"))
    # Kafka knows users only.
    for version in ends("CreateDelegationToken"):
        talk.ask("CreateDelegationToken", version, on=dave, error="INVALID_PRINCIPAL_TYPE", MaxLifetimeMs=-1,
                 Renewers=[user(talk, "bob"), {"PrincipalType": "Group", "PrincipalName": "bob"}])


@conversation
def tokens_for_others(talk):
    rules(talk, (USER, f"User:{named(talk, 'bob')}", CREATE_TOKENS, "carol"))
    carol, bob, dave = (enter(talk, name) for name in ("carol", "bob", "dave"))
    token = made(talk, carol, renewers=("dave",), OwnerPrincipalType="User", OwnerPrincipalName=named(talk, "bob"))
    for name in ("carol", "bob", "dave"):
        describe(talk, name, "bob")
        describe(talk, name, "carol")
    # Who asked for it may not move its end.
    move(talk, "RenewDelegationToken", carol, token, -1, error="DELEGATION_TOKEN_OWNER_MISMATCH")
    move(talk, "RenewDelegationToken", bob, token, -1)
    move(talk, "ExpireDelegationToken", dave, token, -1)


@conversation
def tokens_for_what_is_no_user(talk):
    rules(talk, (USER, f"Group:{named(talk, 'bob')}", CREATE_TOKENS, "carol"))
    carol = enter(talk, "carol")
    create(talk, carol, error=None, OwnerPrincipalType="Group", OwnerPrincipalName=named(talk, "bob"))


@conversation
def who_is_told_of_tokens(talk):
    owner, nobody, by_token, by_user = (enter(talk, name) for name in ("alice", "eve", "carol", "dave"))
    token = made(talk, owner, renewers=("bob",))
    rules(talk, (TOKEN, token["TokenId"], authorization.DESCRIBE, "carol"), (USER, f"User:{named(talk, 'alice')}", DESCRIBE_TOKENS, "dave"))
    for on in (nobody, by_token, by_user):
        answer = describe(talk, on, version=2)
        # Other conversations have tokens, too.
        talk.steps.pop()
        talk.note(f"{on} is {'' if token['TokenId'] in ids(answer) else 'not '}told of it")
        talk.ask("DescribeDelegationToken", 3, on=on, Owners=[])
        answer = describe(talk, on, "somebody")
    for on in (nobody, by_token):
        describe(talk, on, "eve")


@conversation
def logging_in_by_a_token(talk):
    alice = enter(talk, "alice")
    token = made(talk, alice, renewers=("bob",))
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        client = f"bearer by {mechanism}"
        log_in(talk, client, token, mechanism)
        talk.ask("ListGroups", 4, on=client)
        # A bearer does nothing with tokens.
        for version in ends("CreateDelegationToken"):
            create(talk, client, version, error="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED")
            describe(talk, client, version=version, error="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED")
        for api in ("RenewDelegationToken", "ExpireDelegationToken"):
            for version in ends(api):
                move(talk, api, client, token, -1, version, error="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED")
    log_in(talk, "another password", token, password=b"wrong", error="SASL_AUTHENTICATION_FAILED")
    # As a user nobody has that name.
    client = come(talk, "as a user")
    shake_hands(talk, client, "SCRAM-SHA-256")
    say(talk, client, f"n,,n={token['TokenId']},r=nonce".encode(), error="SASL_AUTHENTICATION_FAILED")
    talk.steps[-1]["request"] = {"AuthBytes": "the first message"}
    move(talk, "ExpireDelegationToken", alice, token, -1)
    log_in(talk, "too late", token, error="SASL_AUTHENTICATION_FAILED")


@login.login
def there_are_no_tokens_without_a_secret(talk):
    alice = come(talk, "alice")
    shake_hands(talk, alice, "PLAIN")
    say(talk, alice, plain("alice", "alice-secret"))
    for version in ends("CreateDelegationToken"):
        talk.ask("CreateDelegationToken", version, on=alice, error="DELEGATION_TOKEN_AUTH_DISABLED", Renewers=[], MaxLifetimeMs=-1)
        describe(talk, alice, version=version, error="DELEGATION_TOKEN_AUTH_DISABLED")
    for api in ("RenewDelegationToken", "ExpireDelegationToken"):
        for version in ends(api):
            move(talk, api, alice, {"Hmac": b"x"}, -1, version, error="DELEGATION_TOKEN_AUTH_DISABLED")
