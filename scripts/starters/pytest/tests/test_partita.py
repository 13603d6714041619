import os
import subprocess

import pytest
from confluent_kafka import Consumer, Producer
from partita_pytest import PartitaBroker, PartitaError


def write_and_read(servers):
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("orders", b"one")
    assert producer.flush(20) == 0
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = consumer.poll(20)
    consumer.close()
    assert message.value() == b"one"


def test_the_broker_of_the_session_serves(partita):
    write_and_read(partita.bootstrap_servers)


def test_the_broker_of_a_test_is_another_one(partita, partita_of_test):
    assert partita.bootstrap_servers != partita_of_test.bootstrap_servers
    write_and_read(partita_of_test.bootstrap_servers)


def test_settings_are_the_brokers(partita_of_test):
    with PartitaBroker({"num.partitions": 3}) as broker:
        write_and_read(broker.bootstrap_servers)
        topics = Producer({"bootstrap.servers": broker.bootstrap_servers}).list_topics(timeout=10).topics
        assert len(topics["orders"].partitions) == 3


def test_it_ends_with_its_owner():
    with PartitaBroker() as broker:
        os.kill(broker.pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(broker.pid, 0)


def test_a_start_that_is_refused_says_why():
    with pytest.raises(PartitaError, match="num.partitions"):
        PartitaBroker({"num.partitions": "none"})


@pytest.mark.skipif("PARTITA_STARTER_FAILS" not in os.environ, reason="fails on purpose")
def test_that_fails(partita):
    write_and_read(partita.bootstrap_servers)
    raise AssertionError("on purpose")
