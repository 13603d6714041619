// @platformatic/kafka as an agent: the requests and events are described in clients.py.

import { readFileSync } from 'node:fs'
import {
  Admin, Consumer, MessagesStreamFallbackModes, MessagesStreamModes, Producer
} from '@platformatic/kafka'
import { emit, raw, REFUSED_COMMITS, serve, sleep, Stream, text, who } from './agent.mjs'

const bootstrap = process.argv[2]
const { tls, user: sasl } = who()
const identity = tls ? { tls, sasl } : {}
// Its exports do not name its package.json.
const manifest = new URL('../package.json', import.meta.resolve('@platformatic/kafka'))
const { version } = JSON.parse(readFileSync(manifest))
// The package exports its partitioners only to its own producer.
const partitioners = new URL('clients/producer/partitioners.js', import.meta.resolve('@platformatic/kafka'))
const { defaultPartitioner } = await import(partitioners)
const TOPIC_RESOURCE = 2
const SET = 0

/** Kafka's error code lies in the error or in one of those that it sums up. */
function failure(error) {
  const found = protocolError(error)
  if (found) return { code: found.apiCode, message: found.serverErrorMessage ?? found.message, type: found.apiId }
  return { code: -1, message: String(error.message), type: error.code ?? error.name }
}

function protocolError(error) {
  if (typeof error?.apiCode === 'number') return error
  for (const inner of [...(error?.errors ?? []), error?.cause].filter(Boolean)) {
    const found = protocolError(inner)
    if (found) return found
  }
  return null
}

const base = request => ({
  clientId: 'agent', bootstrapBrokers: [bootstrap], ...identity, retries: request.unknown_topic_wait_ms ? 1 : 3, retryDelay: 100,
  metadataMaxAge: request.metadata_age_ms ?? 5000
})

async function withAdmin(action) {
  const admin = new Admin(base({}))
  try {
    return await action(admin)
  } finally {
    await admin.close()
  }
}

async function withConsumer(request, action) {
  const consumer = new Consumer({ ...base(request), groupId: request.group ?? `unused-${process.pid}-${request.id}` })
  try {
    return await action(consumer)
  } finally {
    await consumer.close(true)
  }
}

function makeProducer(request) {
  return new Producer({
    ...base(request), idempotent: request.idempotence ?? true, acks: { all: -1, 1: 1, 0: 0 }[request.acks ?? 'all'],
    compression: request.codec ?? 'none', autocreateTopics: false
  })
}

function message(topic, record) {
  const made = { topic, headers: new Map((record.headers ?? []).map(([key, value]) => [raw(key), raw(value)])) }
  if (record.key !== null) made.key = raw(record.key)
  if (record.value !== null) made.value = raw(record.value)
  if (record.partition !== undefined) made.partition = record.partition
  if (record.timestamp !== undefined) made.timestamp = BigInt(record.timestamp)
  return made
}

/**
 * One send. The library tells the base offset per partition, in the order of the messages, but not which partition it
 * chose for a message: it is what its partitioner says, and a record without key goes to the first.
 */
async function send(producer, topic, records) {
  const { topics } = await producer.metadata({ topics: [topic], autocreateTopics: false })
  const { partitionsCount } = topics.get(topic)
  const chosen = records.map(({ partition, key }) =>
    partition ?? (key == null ? 0 : defaultPartitioner({}, raw(key)) % partitionsCount))
  const messages = records.map((record, i) =>
    message(topic, record.key == null ? { ...record, partition: chosen[i] } : record))
  const { offsets } = await producer.send({ messages })
  const next = new Map((offsets ?? []).map(o => [o.partition, Number(o.offset)]))
  return chosen.map(partition => {
    const offset = next.get(partition)
    next.set(partition, offset + 1)
    return { partition, offset }
  })
}

async function produce(request) {
  const producer = makeProducer(request)
  try {
    return { acks: await send(producer, request.topic, request.records) }
  } catch (error) {
    return { acks: request.records.map(() => failure(error)) }
  } finally {
    await producer.close()
  }
}

function describe(message) {
  return {
    topic: message.topic, partition: message.partition, offset: Number(message.offset),
    timestamp: Number(message.timestamp), key: text(message.key), value: text(message.value),
    headers: [...message.headers].map(([key, value]) => [text(key), text(value)])
  }
}

const partitionIds = topic => withAdmin(async admin => {
  const metadata = await admin.metadata({ topics: [topic], forceUpdate: true, autocreateTopics: false })
  return metadata.topics.get(topic).partitions.map((_, id) => id)
})

async function read(request) {
  return withConsumer({ id: request.id }, async consumer => {
    const stream = await consumer.consume({
      topics: [request.topic], mode: MessagesStreamModes.EARLIEST, autocommit: false, maxWaitTime: 100
    })
    const records = []
    stream.on('data', message => records.push(describe(message)))
    const deadline = performance.now() + request.timeout_ms
    while (records.length < request.count && performance.now() < deadline) await sleep(10)
    await stream.close()
    return { records }
  })
}

async function offsetsForTime(request) {
  const ids = await partitionIds(request.topic)
  const partitions = ids.map(partitionIndex => ({ partitionIndex, timestamp: BigInt(request.timestamp) }))
  const [topic] = await withAdmin(admin => admin.listOffsets({ topics: [{ name: request.topic, partitions }] }))
  return { offsets: Object.fromEntries(topic.partitions.map(p => [p.partitionIndex, Number(p.offset)])) }
}

async function committed(request) {
  const [group] = await withAdmin(admin => admin.listConsumerGroupOffsets({ groups: [request.group] }))
  const topic = group.topics.find(t => t.name === request.topic)
  const known = (topic?.partitions ?? []).filter(p => p.committedOffset >= 0n)
  return { offsets: Object.fromEntries(known.map(p => [p.partitionIndex, Number(p.committedOffset)])) }
}

async function startStream(request) {
  const producer = makeProducer(request)
  return new Stream(request, records => send(producer, request.topic, records), () => producer.close())
}

/** One member of a group: reports every record once it has it, then commits it. */
class Member {
  constructor(request) {
    this.request = request
    this.name = request.name
    const options = { ...base(request), groupId: request.group, heartbeatInterval: 500 }
    options.rebalanceTimeout = Math.max(10000, request.session_timeout_ms ?? 60000)
    if (request.session_timeout_ms) options.sessionTimeout = request.session_timeout_ms
    if (request.instance_id) options.groupInstanceId = request.instance_id
    this.consumer = new Consumer(options)
    this.stopping = false
  }

  owned(change, partitions) {
    emit({ member: this.name, event: 'owned', change, partitions: [...partitions].sort((a, b) => a - b) })
  }

  fail(error) {
    if (!this.stopping) emit({ member: this.name, event: 'failed', ...failure(error) })
  }

  async start() {
    const { consumer, request } = this
    consumer.on('consumer:group:join', payload => {
      const mine = (payload.assignments ?? []).find(a => a.topic === request.topic)
      this.owned('assigned', mine?.partitions ?? [])
    })
    consumer.on('consumer:group:rebalance', () => this.owned('revoked', []))
    this.stream = await consumer.consume({
      topics: [request.topic], mode: MessagesStreamModes.COMMITTED, autocommit: false, maxWaitTime: 100,
      fallbackMode: MessagesStreamFallbackModes.EARLIEST
    })
    this.stream.on('error', error => this.fail(error))
    this.done = this.run()
    return this
  }

  async run() {
    try {
      for await (const message of this.stream) {
        emit({ member: this.name, event: 'record', ...describe(message) })
        await this.commit(message)
      }
    } catch (error) {
      this.fail(error)
    }
  }

  async commit(message) {
    try {
      await message.commit()
    } catch (error) {
      const told = failure(error)
      if (!REFUSED_COMMITS.includes(told.code)) throw error
      emit({ member: this.name, event: 'commit_failed', ...told, partitions: [message.partition] })
    }
  }

  async finish() {
    this.stopping = true
    await this.stream.close()
    await this.done
    await this.consumer.close()
    emit({ member: this.name, event: 'closed' })
    return {}
  }
}

const topicResource = request => ({ resourceType: TOPIC_RESOURCE, resourceName: request.topic })

serve({
  version: async () => ({ version }),
  create_topic: async request => {
    const configs = Object.entries(request.configs ?? {}).map(([name, value]) => ({ name, value: String(value) }))
    await withAdmin(admin => admin.createTopics({
      topics: [request.topic], partitions: request.partitions, replicas: 1, configs
    }))
  },
  create_partitions: async request => {
    const topics = [{ name: request.topic, count: request.count, assignments: null }]
    await withAdmin(admin => admin.createPartitions({ topics }))
  },
  delete_topic: request => withAdmin(admin => admin.deleteTopics({ topics: [request.topic] })),
  partitions: async request => ({ partitions: await partitionIds(request.topic) }),
  produce,
  read,
  offsets_for_time: offsetsForTime,
  committed,
  list_topics: async () => ({ topics: await withAdmin(admin => admin.listTopics()) }),
  topic_config: async request => {
    const resources = [{ ...topicResource(request), configurationKeys: [request.config] }]
    const [topic] = await withAdmin(admin => admin.describeConfigs({ resources }))
    return { value: topic.configs.find(c => c.name === request.config).value }
  },
  set_topic_config: async request => {
    const configs = [{ name: request.config, configOperation: SET, value: request.value }]
    await withAdmin(admin => admin.incrementalAlterConfigs({ resources: [{ ...topicResource(request), configs }] }))
  },
  list_groups: async () => ({ groups: [...(await withAdmin(admin => admin.listGroups())).keys()] }),
  describe_group: async request => {
    const group = (await withAdmin(admin => admin.describeGroups({ groups: [request.group] }))).get(request.group)
    return { state: group.state, members: group.members.size }
  },
  delete_group: request => withAdmin(admin => admin.deleteGroups({ groups: [request.group] })),
  delete_records: async request => {
    const partitions = [{ partition: request.partition, offset: BigInt(request.offset) }]
    const [topic] = await withAdmin(admin => admin.deleteRecords({ topics: [{ name: request.topic, partitions }] }))
    return { low_watermark: Number(topic.partitions[0].lowWatermark) }
  },
  start_stream: startStream,
  start_member: request => new Member(request).start()
}, failure)
