"""aiokafka as an agent: the requests and events are described in clients.py."""

import asyncio
import json
import sys
import time

import aiokafka
from aiokafka.abc import ConsumerRebalanceListener
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError, for_code

from agent import (MAXIMUM_STREAM_RECORDS, REFUSED_COMMITS, Progress, Shape, consumer_properties, describe, emit, failure,
                   identity, operations_of, producer_properties, record_properties)

ASSIGNORS = {"range": RangePartitionAssignor}

bootstrap = sys.argv[1]
IDENTITY = identity()
running = {}


def base(request):
    properties = {**IDENTITY, "bootstrap_servers": bootstrap}
    if "metadata_age_ms" in request:
        properties["metadata_max_age_ms"] = request["metadata_age_ms"]
    if "client_id" in request:
        properties["client_id"] = request["client_id"]
    return properties


async def with_admin(action):
    admin = AIOKafkaAdminClient(**IDENTITY, bootstrap_servers=bootstrap)
    await admin.start()
    try:
        return await action(admin)
    finally:
        await admin.close()


def check(code, message=None):
    if code:
        raise for_code(code)(message)


async def version(_):
    return {"version": aiokafka.__version__}


async def create_topic(request):
    topic = NewTopic(request["topic"], request["partitions"], 1,
                     topic_configs={key: str(value) for key, value in request.get("configs", {}).items()})
    response = await with_admin(lambda admin: admin.create_topics([topic]))
    for _, code, message, *_ in response.topic_errors:
        check(code, message)
    return {}


async def create_partitions(request):
    await with_admin(lambda admin: admin.create_partitions({request["topic"]: NewPartitions(request["count"])}))
    return {}


async def delete_topic(request):
    response = await with_admin(lambda admin: admin.delete_topics([request["topic"]]))
    for _, code, *_ in response.topic_error_codes:
        check(code)
    return {}


async def partitions(request):
    topic, = await with_admin(lambda admin: admin.describe_topics([request["topic"]]))
    check(topic["error_code"])
    return {"partitions": sorted(p["partition"] for p in topic["partitions"])}


async def make_producer(request):
    properties = {**base(request), **producer_properties(request), "request_timeout_ms": request.get("unknown_topic_wait_ms", 30000)}
    producer = aiokafka.AIOKafkaProducer(**{**properties, **request.get("settings", {})})
    await producer.start()
    return producer


async def make_consumer(request):
    properties = {**base(request), **consumer_properties(request, ASSIGNORS), **request.get("settings", {})}
    consumer = aiokafka.AIOKafkaConsumer(**properties)
    await consumer.start()
    return consumer


async def produce(request):
    producer = await make_producer(request)
    try:
        results = []
        for record in request["records"]:
            try:
                results.append(await producer.send(request["topic"], **record_properties(record)))
            except KafkaError as e:
                results.append(e)
        acks = []
        for result in results:
            try:
                if isinstance(result, KafkaError):
                    raise result
                metadata = await result
                # Nothing is known of a record that nobody acknowledges.
                acks.append({"partition": metadata.partition, "offset": metadata.offset} if metadata else {})
            except KafkaError as e:
                acks.append(failure(e))
    finally:
        await producer.stop()
    return {"acks": acks}


async def topic_partitions(request):
    ids = (await partitions(request))["partitions"]
    return [aiokafka.TopicPartition(request["topic"], p) for p in ids]


async def read(request):
    wanted = await topic_partitions(request)
    consumer = await make_consumer(request)
    records = []
    deadline = time.monotonic() + request["timeout_ms"] / 1000
    try:
        consumer.assign(wanted)
        await consumer.seek_to_beginning(*wanted)
        while len(records) < request["count"] and time.monotonic() < deadline:
            for batch in (await consumer.getmany(timeout_ms=100)).values():
                records += [describe(record) for record in batch]
    finally:
        await consumer.stop()
    return {"records": records}


async def offsets_for_time(request):
    wanted = await topic_partitions(request)
    consumer = await make_consumer(request)
    try:
        answers = await consumer.offsets_for_times({p: request["timestamp"] for p in wanted})
    finally:
        await consumer.stop()
    return {"offsets": {str(p.partition): -1 if found is None else found.offset for p, found in answers.items()}}


async def committed(request):
    offsets = await with_admin(lambda admin: admin.list_consumer_group_offsets(request["group"]))
    return {"offsets": {str(p.partition): found.offset for p, found in offsets.items() if found.offset >= 0}}


async def list_topics(_):
    return {"topics": await with_admin(lambda admin: admin.list_topics())}


async def topic_config(request):
    wanted = ConfigResource(ConfigResourceType.TOPIC, request["topic"], {request["config"]: None})
    responses = await with_admin(lambda admin: admin.describe_configs([wanted]))
    code, message, _, _, entries = responses[0].resources[0][:5]
    check(code, message)
    return {"value": {entry[0]: entry[1] for entry in entries}[request["config"]]}


async def set_topic_config(request):
    wanted = ConfigResource(ConfigResourceType.TOPIC, request["topic"], {request["config"]: request["value"]})
    responses = await with_admin(lambda admin: admin.alter_configs([wanted]))
    for code, message, *_ in responses[0].resources:
        check(code, message)
    return {}


async def list_groups(_):
    return {"groups": [g[0] for g in await with_admin(lambda admin: admin.list_consumer_groups())]}


async def describe_group(request):
    responses = await with_admin(lambda admin: admin.describe_consumer_groups([request["group"]]))
    code, _, state, _, _, group_members, *_ = responses[0].groups[0]
    check(code)
    return {"state": state, "members": len(group_members)}


async def delete_records(request):
    partition = aiokafka.TopicPartition(request["topic"], request["partition"])
    answers = await with_admin(lambda admin: admin.delete_records({partition: RecordsToDelete(request["offset"])}))
    return {"low_watermark": answers[partition]}


class Stream:
    """Writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged."""

    def __init__(self, request):
        self.request = request
        self.shape = Shape(request)
        self.stopping = asyncio.Event()
        self.progress = Progress(request["name"])
        #: One for each record of which it is not known yet what becomes of it.
        self.undecided = set()
        self.producer = self.task = None

    async def start(self):
        self.producer = await make_producer(self.request)
        self.task = asyncio.create_task(self.run())

    async def run(self):
        for n in range(MAXIMUM_STREAM_RECORDS):
            await asyncio.sleep(self.shape.interval_s)
            if self.stopping.is_set():
                return
            # The order of records is that of these calls; what becomes of each is waited for beside.
            future = await self.hand_over(n)
            decided = asyncio.create_task(self.see_through(n, future))
            self.undecided.add(decided)
            decided.add_done_callback(self.undecided.discard)

    async def hand_over(self, n):
        return await self.producer.send(self.request["topic"], key=self.shape.key(n), value=self.shape.value(n),
                                        partition=self.shape.partition)

    async def see_through(self, n, future):
        attempt = 1
        while True:
            try:
                metadata = await (future or await self.hand_over(n))
                return self.progress.add(n, metadata.partition, metadata.offset)
            except KafkaError as e:
                wait_s = self.shape.wait_s(attempt)
                if wait_s is None:
                    return self.progress.fail(n, e)
                self.progress.try_again(n, e)
            await asyncio.sleep(wait_s)
            attempt, future = attempt + 1, None

    async def finish(self):
        self.stopping.set()
        await self.task
        await self.producer.flush()
        if self.undecided:
            await asyncio.wait(self.undecided)
        await self.producer.stop()
        return self.progress.reply()


class Member(ConsumerRebalanceListener):
    """One member of a group: reports every record once it has it, then commits it."""

    def __init__(self, request):
        self.request = request
        self.name = request["name"]
        self.stopping = False
        #: What it reads without a group; empty of a member that is one.
        self.direct = [aiokafka.TopicPartition(request["topic"], p) for p in request.get("assign", [])]
        self.owned = set(self.direct)
        self.uncommitted = {}
        # Commits of the loop and of a revocation must not cross.
        self.lock = asyncio.Lock()
        self.consumer = self.task = None

    async def start(self):
        self.consumer = await make_consumer(self.request)
        if self.direct:
            self.consumer.assign(self.owned)
        else:
            self.consumer.subscribe([self.request["topic"]], listener=self)
        self.task = asyncio.create_task(self.run())

    def report(self, change):
        emit({"member": self.name, "event": "owned", "change": change,
              "partitions": sorted(p.partition for p in self.owned)})

    async def on_partitions_revoked(self, revoked):
        async with self.lock:
            await self.commit()
            self.uncommitted.clear()
            self.owned -= set(revoked)
            self.report("revoked")

    async def on_partitions_assigned(self, assigned):
        self.owned = set(assigned)
        self.report("assigned")

    async def commit(self):
        if not self.uncommitted or self.direct:
            return
        try:
            await self.consumer.commit(self.uncommitted)
            self.uncommitted.clear()
        except KafkaError as e:
            if getattr(e, "errno", None) not in REFUSED_COMMITS and "CommitFailed" not in type(e).__name__:
                raise
            emit({"member": self.name, "event": "commit_failed", **failure(e),
                  "partitions": sorted(p.partition for p in self.uncommitted)})

    async def take(self):
        batches = await self.consumer.getmany(timeout_ms=100)
        async with self.lock:
            for partition, batch in batches.items():
                if partition not in self.owned:
                    continue
                for record in batch:
                    emit({"member": self.name, "event": "record", **describe(record)})
                self.uncommitted[partition] = batch[-1].offset + 1
            await self.commit()

    async def run(self):
        try:
            while not self.stopping:
                await self.take()
        except KafkaError as e:
            emit({"member": self.name, "event": "failed", **failure(e)})
        finally:
            await self.consumer.stop()
            emit({"member": self.name, "event": "closed"})

    async def finish(self):
        self.stopping = True
        await self.task
        return {}


async def start(request, kind):
    running[request["name"]] = kind(request)
    await running[request["name"]].start()
    return {}


async def stop(request):
    return await running.pop(request["name"]).finish()


OPERATIONS = operations_of(globals())
OPERATIONS.update(stream_start=lambda request: start(request, Stream), stream_stop=stop,
                  member_start=lambda request: start(request, Member), member_stop=stop)


async def main():
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        request = json.loads(line)
        try:
            reply = {"ok": True, **await OPERATIONS[request["op"]](request)}
        except KafkaError as e:
            reply = failure(e)
        emit({"reply": request["id"], **reply})


asyncio.run(main())
