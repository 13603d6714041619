"""What Partita says of expansions over HTTP, and topics that a test makes and grows, for the tests of all of that."""

import json
import urllib.parse
import urllib.request

import confluent_kafka.admin

import harness


def address(broker):
    """Of the broker's HTTP side."""
    return broker.http_address


def ask(broker, path, method="GET"):
    """The answer to a path under /v1, from JSON."""
    request = urllib.request.Request(f"http://{address(broker)}/v1/{path}", method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def finding(broker, topic, hazard, kind=None, **subject):
    """The open finding of that id about the topic, and about whatever else is named (group=...); or None."""
    for one in ask(broker, f"findings?topic={topic}")["findings"]:
        if one["id"] == hazard and kind in (None, one["kind"]) and subject.items() <= one["subject"].items():
            return one
    return None


def wait_for(broker, topic, hazard, seconds=25, **subject):
    return harness.wait_until(lambda: finding(broker, topic, hazard, **subject), seconds, f"{hazard} for {topic}")


def wait_for_count(broker, topic, hazard, count, seconds=25, exact=False, **subject):
    """Waits until the finding counts so many: it may open before everything that it counts has happened. `exact`: and until the
    broker knows that these are all; on a slow machine it may still look for the group of a delivery."""
    def counted():
        found = finding(broker, topic, hazard, **subject)
        return found if found and found["count"] == count and (not exact or found["numbers"]["is_exact"] == 1) else None
    return harness.wait_until(counted, seconds,
                              lambda: f"{hazard} for {topic} counts {count}: {finding(broker, topic, hazard, **subject)}")


def wait_until_closed(broker, topic, hazard, seconds=25, **subject):
    harness.wait_until(lambda: not finding(broker, topic, hazard, **subject), seconds,
                       lambda: f"the end of {finding(broker, topic, hazard, **subject)}")


def wrong_keys(broker, topic, **reader):
    """Every key behind H06 of group=... or client_id=..., over HTTP, page by page."""
    whose = urllib.parse.urlencode({"topic": topic, **reader})
    keys = []
    while True:
        page = ask(broker, f"findings/keys?{whose}&limit=400&skip={len(keys)}")
        keys += page["keys"]
        if len(keys) == page["total"]:
            return keys


def admin(broker):
    return confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.bootstrap})


def create(broker, topic, partitions, **configs):
    new = confluent_kafka.admin.NewTopic(topic, partitions, 1, config=configs)
    client = admin(broker)  # Must outlive the future.
    client.create_topics([new])[topic].result(60)


def grow(broker, topic, partitions, **options):
    client = admin(broker)
    client.create_partitions([confluent_kafka.admin.NewPartitions(topic, partitions)], **options)[topic].result(60)
