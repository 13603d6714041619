"""Runs conversations against a broker: those that are alone one by one, then the others side by side."""

import concurrent.futures
import importlib
import json
import pathlib
import traceback

import normalise
import talk as talking
import wire

HERE = pathlib.Path(__file__).resolve().parent
SIDE_BY_SIDE = 12


def all_conversations():
    """Every conversation, in the order of the scripts."""
    if not talking.REGISTERED:
        for path in sorted((HERE / "scripts").glob("[a-z]*.py")):
            importlib.import_module(f"scripts.{path.stem}")
    return talking.REGISTERED


def stages(conversations):
    """The conversations by the broker that they need: [(properties, [conversation])], plain ones first."""
    grouped = {}
    for each in conversations:
        key = (each.fresh and each.name, json.dumps(each.properties, sort_keys=True))
        grouped.setdefault(key, []).append(each)
    return [(grouped[key][0].properties, grouped[key])
            for key in sorted(grouped, key=lambda key: (key != (False, "{}"), str(key[0]), key[1]))]


def served_apis(host, port):
    connection = wire.Connection(host, port)
    try:
        answer = connection.answer(connection.send("ApiVersions", 4, {
            "ClientSoftwareName": "conversations", "ClientSoftwareVersion": "1"}), 10)
        return {wire.API_NAMES[entry["ApiKey"]]: (entry["MinVersion"], entry["MaxVersion"])
                for entry in answer["ApiKeys"] if entry["ApiKey"] in wire.API_NAMES}
    finally:
        connection.close()


def prepare(host, port, fresh):
    """Lets a broker make the topic of its groups, so that no conversation meets its first moments but those that want a `fresh`
    one. Returns the cluster id and the host that the broker names itself by."""
    first = talking.Talk(host, port, "prepare")
    try:
        if not fresh:
            first.quietly("FindCoordinator", 4, KeyType=0, CoordinatorKeys=["prepare"])
            first.quietly("OffsetFetch", 8, Groups=[{"GroupId": f"prepare-{number}", "Topics": None}
                                                    for number in range(200)])
            first.quietly("InitProducerId", 4, TransactionalId=None, TransactionTimeoutMs=60000)
        cluster = first.quietly("Metadata", 2, Topics=[])
        return cluster["ClusterId"], cluster["Brokers"][0]["Host"]
    finally:
        first.close()


class Result:
    def __init__(self, conversation, steps, missed, not_served=None):
        self.conversation, self.steps, self.missed, self.not_served = conversation, steps, missed, not_served


def run_one(conversation, host, port, served, cluster, directories, prefix):
    talk = talking.Talk(host, port, conversation.name, served, prefix)
    not_served = None
    try:
        conversation.script(talk)
    except talking.NotServed as missing:
        not_served = str(missing)
    except Exception:
        # A script that trips over an answer it did not expect: its transcript ends here, and says so.
        talk.note("the script ends here: " + traceback.format_exc(limit=-1).strip().splitlines()[-1])
        talk.missed.append(traceback.format_exc(limit=-2))
    if conversation.alone:
        talk.delete_topics()
    talk.close()
    normaliser = normalise.Normaliser(cluster, port, directories, getattr(talk, "secured_port", None))
    steps = [normaliser.step(step) for step in talk.steps]
    if prefix:
        steps = json.loads(json.dumps(steps).replace(prefix, ""))
    return Result(conversation, steps, talk.missed, not_served)


def run(conversations, host, port, directories=(), prefix=""):
    """The results, in the order of the conversations."""
    served = served_apis(host, port)
    cluster = prepare(host, port, any(each.fresh for each in conversations))
    results = {}
    for each in conversations:
        if each.alone:
            results[each.name] = run_one(each, host, port, served, cluster, directories, prefix)
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        futures = {each.name: pool.submit(run_one, each, host, port, served, cluster, directories, prefix)
                   for each in conversations if not each.alone}
        for name, future in futures.items():
            results[name] = future.result()
    return [results[each.name] for each in conversations]
