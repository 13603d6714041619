"""Batches of transactions that no client of Kafka's sends: of nobody, of several producers, and markers."""

import records
from scripts.fetch import fetch, wanted
from scripts.produce import partition, produce
from scripts.transactions import begin, conversation, describe, end, ended, ends_of, init, producers, write


@conversation
def batches_of_a_transaction_that_name_no_producer(talk):
    name, topic_id = talk.topic(partitions=2)
    nobody = (-1, -1)
    for version in (3, 9, 11, 12, 13):
        txn = talk.named(f"t{version}")
        producer = init(talk, txn)
        ask = lambda who=nobody, sequence=-1, transactional_id=txn, index=0: write(
            talk, version, transactional_id, who, name, topic_id, sequence, "v", index=index, error=None)
        talk.note("nothing is open")
        ask()
        ask(transactional_id=talk.named("unknown"))
        ask(transactional_id="")
        ask(transactional_id=None)
        talk.note("fields that do not belong together")
        ask(sequence=0)
        ask(who=(-1, 0))
        ask(who=(-1, producer[1]), sequence=0)
        ask(who=(-2, 0), sequence=0)
        ask(who=(producer[0], -1), sequence=0)
        ask(who=producer, sequence=-1)
        talk.note("beside a producer in its transaction")
        begin(talk, 3, txn, producer, (name, 1))
        ask(index=1)
        ask(who=producer, sequence=0, index=1)
        ask(index=1)
        both = [records.batch((None, "v"), attributes=0x10, producer_id=who[0], producer_epoch=who[1], sequence=sequence)
                for who, sequence in ((nobody, -1), (producer, 0))]
        produce(talk, version, name, partition(0, both[0]), partition(1, both[1]), topic_id=topic_id, transactional_id=txn,
                error=None)
        describe(talk, txn)
        end(talk, 4, txn, producer, False)
        ended(talk, txn)
    producers(talk, name, 0, 1)
    for isolation in (0, 1):
        ends_of(talk, name, 0, 1, isolation=isolation)
        fetch(talk, 11, wanted(name, (0, 0), (1, 0)), isolation=isolation, error=None)


@conversation
def control_batches_of_clients(talk):
    name, topic_id = talk.topic()
    for version in (3, 11, 12, 13):
        txn = talk.named(f"t{version}")
        producer = init(talk, txn)
        write(talk, 12, txn, producer, name, topic_id, 0, "v")
        key, value = b"\0\0\0\1", b"\0\0\0\0\0\0"
        for who, sequence in ((producer, -1), (producer, 1), ((-1, -1), -1)):
            for attributes in (0x30, 0x20):
                marker = records.batch((key, value), attributes=attributes, producer_id=who[0], producer_epoch=who[1],
                                       sequence=sequence)
                for transactional_id in (txn, None):
                    produce(talk, version, name, partition(0, marker), topic_id=topic_id, transactional_id=transactional_id,
                            error=None)
        ends_of(talk, name, 0, isolation=1)
        end(talk, 4, txn, producer, True)
        ended(talk, txn)


@conversation
def batches_of_several_producers_in_one_request(talk):
    name, topic_id = talk.topic(partitions=2)
    txn, other = talk.named("t"), talk.named("other")
    for version in (3, 11, 12, 13):
        producer, stranger = init(talk, txn), init(talk, other)
        begin(talk, 3, txn, producer, (name, 0, 1))
        begin(talk, 3, other, stranger, (name, 0, 1))
        mine, theirs, newer = (records.batch((None, "v"), attributes=0x10, producer_id=who[0], producer_epoch=who[1], sequence=0)
                               for who in (producer, stranger, (producer[0], producer[1] + 1)))
        for batches in ((mine, theirs), (mine, newer), (theirs, theirs)):
            produce(talk, version, name, *(partition(index, batch) for index, batch in enumerate(batches)), topic_id=topic_id,
                    transactional_id=txn, error=None)
        produce(talk, version, name, partition(0, mine + theirs), topic_id=topic_id, transactional_id=txn, error=None)
        for transactional_id, who in ((txn, producer), (other, stranger)):
            end(talk, 4, transactional_id, who, True)
            ended(talk, transactional_id)
    ends_of(talk, name, 0, 1)
