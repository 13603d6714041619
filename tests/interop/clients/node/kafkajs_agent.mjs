// kafkajs as an agent: the requests and events are described in clients.py.

import { createRequire } from 'node:module'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { emit, raw, REFUSED_COMMITS, serve, sleep, Stream, text, who } from './agent.mjs'

const require = createRequire(import.meta.url)
const { AssignerProtocol, Kafka, logLevel, CompressionTypes, CompressionCodecs, Partitioners } = require('kafkajs')
const lz4 = require('lz4js')

// kafkajs brings gzip; the others are plugged in, as its documentation says.
CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async encoder => Buffer.from(lz4.compress(encoder.buffer)),
  decompress: async buffer => Buffer.from(lz4.decompress(buffer))
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => zstdCompressSync(encoder.buffer),
  decompress: async buffer => zstdDecompressSync(buffer)
})

const CODECS = { none: 'None', gzip: 'GZIP', snappy: 'Snappy', lz4: 'LZ4', zstd: 'ZSTD' }
const bootstrap = process.argv[2]
const { tls: ssl, user } = who()
const identity = ssl ? { ssl, sasl: user && { ...user, mechanism: user.mechanism.toLowerCase() } } : {}

/** Kafka's error code lies in the error, in its cause, or in the errors that it sums up. */
function failure(error) {
  for (let e = error; e; e = e.cause ?? e.errors?.[0] ?? e.originalError) {
    if (typeof e.code === 'number') return { code: e.code, message: e.message, type: e.type }
    const group = e.groups?.find(group => group.errorCode)
    if (group) return { code: group.errorCode, message: e.message, type: e.name }
  }
  return { code: -1, message: String(error.message), type: error.name }
}

const kafka = (retries = 5, clientId = 'agent') => new Kafka({
  clientId, brokers: [bootstrap], ...identity, logLevel: logLevel.NOTHING,
  retry: { initialRetryTime: 50, maxRetryTime: 500, retries }
})

async function withAdmin(action) {
  const admin = kafka().admin()
  await admin.connect()
  try {
    return await action(admin)
  } finally {
    await admin.disconnect()
  }
}

/** chosen remembers which partition the library's own partitioner gave to a message; kafkajs does not tell. */
async function connectProducer(request, chosen = new Map()) {
  const createPartitioner = () => {
    const choose = Partitioners.DefaultPartitioner()
    return choice => {
      const partition = choose(choice)
      chosen.set(choice.message, partition)
      return partition
    }
  }
  const options = { allowAutoTopicCreation: false, createPartitioner }
  if (request.idempotence ?? true) Object.assign(options, { idempotent: true, maxInFlightRequests: 1 })
  if (request.metadata_age_ms) options.metadataMaxAge = request.metadata_age_ms
  const producer = kafka(request.unknown_topic_wait_ms ? 1 : 5, request.client_id).producer(options)
  await producer.connect()
  return producer
}

const acksOf = request => ({ all: -1, 1: 1, 0: 0 })[request.acks ?? 'all']

function message(record) {
  const headers = {}
  for (const [key, value] of record.headers ?? []) {
    headers[key] = key in headers ? [headers[key], raw(value)].flat() : raw(value)
  }
  return {
    key: raw(record.key), value: raw(record.value), headers, partition: record.partition,
    timestamp: record.timestamp === undefined ? undefined : String(record.timestamp)
  }
}

async function createTopic(request) {
  const configEntries = Object.entries(request.configs ?? {}).map(([name, value]) => ({ name, value: String(value) }))
  const topic = { topic: request.topic, numPartitions: request.partitions, replicationFactor: 1, configEntries }
  const made = await withAdmin(admin => admin.createTopics({ topics: [topic] }))
  // kafkajs swallows the error of an existing topic and says false.
  if (!made) throw Object.assign(new Error('createTopics says false'), { code: 36, type: 'TOPIC_ALREADY_EXISTS' })
  return {}
}

/** One send; kafkajs tells the base offset per partition, in the order of the messages. */
async function send(producer, chosen, request, records) {
  const messages = records.map(message)
  const answers = await producer.send({
    topic: request.topic, acks: acksOf(request), messages,
    compression: CompressionTypes[CODECS[request.codec ?? 'none']]
  })
  const next = new Map(answers.map(answer => [answer.partition, Number(answer.baseOffset)]))
  return messages.map(one => {
    const partition = chosen.get(one) ?? one.partition
    chosen.delete(one)
    const offset = next.get(partition)
    next.set(partition, offset + 1)
    return { partition, offset }
  })
}

async function produce(request) {
  const chosen = new Map()
  const producer = await connectProducer(request, chosen)
  try {
    return { acks: await send(producer, chosen, request, request.records) }
  } catch (error) {
    return { acks: request.records.map(() => failure(error)) }
  } finally {
    await producer.disconnect()
  }
}

function describe(topic, partition, message) {
  const headers = []
  for (const [key, value] of Object.entries(message.headers ?? {})) {
    for (const one of [value].flat()) headers.push([key, text(one)])
  }
  return {
    topic, partition, offset: Number(message.offset), timestamp: Number(message.timestamp), key: text(message.key),
    value: text(message.value), headers
  }
}

/** kafkajs has no consumer without a group; a fresh one reads from the beginning. */
async function read(request) {
  const groupId = `read-${request.topic}-${process.pid}-${request.id}`
  const consumer = kafka().consumer({ groupId, maxWaitTimeInMs: 100, allowAutoTopicCreation: false })
  await consumer.connect()
  await consumer.subscribe({ topic: request.topic, fromBeginning: true })
  const records = []
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ topic, partition, message }) => records.push(describe(topic, partition, message))
  })
  const deadline = performance.now() + request.timeout_ms
  while (records.length < request.count && performance.now() < deadline) await sleep(10)
  await consumer.disconnect()
  return { records }
}

async function offsetsForTime(request) {
  const offsets = {}
  await withAdmin(async admin => {
    const ends = new Map((await admin.fetchTopicOffsets(request.topic)).map(p => [p.partition, p.high]))
    for (const found of await admin.fetchTopicOffsetsByTimestamp(request.topic, request.timestamp)) {
      // kafkajs puts the end of the partition where no record is as late as asked for.
      offsets[found.partition] = found.offset === ends.get(found.partition) ? -1 : Number(found.offset)
    }
  })
  return { offsets }
}

async function committed(request) {
  const [topic] = await withAdmin(admin => admin.fetchOffsets({ groupId: request.group, topics: [request.topic] }))
  const known = topic.partitions.filter(p => Number(p.offset) >= 0)
  return { offsets: Object.fromEntries(known.map(p => [p.partition, Number(p.offset)])) }
}

async function startStream(request) {
  const chosen = new Map()
  const producer = await connectProducer(request, chosen)
  return new Stream(request, records => send(producer, chosen, request, records), () => producer.disconnect())
}

/** kafkajs has round robin alone, and takes an assigner of one's own: blocks of partitions, as Kafka's range. */
const ownRange = ({ cluster }) => ({
  name: 'own-range',
  version: 0,
  assign: async ({ members, topics }) => {
    const ids = members.map(member => member.memberId).sort()
    const shares = new Map(ids.map(id => [id, {}]))
    for (const topic of topics) {
      const partitions = cluster.findTopicPartitionMetadata(topic).map(p => p.partitionId).sort((a, b) => a - b)
      const [each, more] = [Math.floor(partitions.length / ids.length), partitions.length % ids.length]
      ids.forEach((id, i) => {
        const from = i * each + Math.min(i, more)
        shares.get(id)[topic] = partitions.slice(from, from + each + (i < more ? 1 : 0))
      })
    }
    return ids.map(memberId => {
      const share = { version: 0, assignment: shares.get(memberId), userData: Buffer.alloc(0) }
      return { memberId, memberAssignment: AssignerProtocol.MemberAssignment.encode(share) }
    })
  },
  protocol: ({ topics }) => ({
    name: 'own-range',
    metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) })
  })
})

/** One member of a group: reports every record once it has it, then commits it. */
class Member {
  constructor(request) {
    this.request = request
    this.name = request.name
    const options = {
      groupId: request.group, maxWaitTimeInMs: 100, allowAutoTopicCreation: false, heartbeatInterval: 500,
      rebalanceTimeout: 10000
    }
    if (request.session_timeout_ms) options.sessionTimeout = request.session_timeout_ms
    if (request.metadata_age_ms) options.metadataMaxAge = request.metadata_age_ms
    if (request.assignor === 'own-range') options.partitionAssigners = [ownRange]
    this.consumer = kafka(5, request.client_id).consumer(options)
  }

  owned(change, partitions) {
    emit({ member: this.name, event: 'owned', change, partitions: [...partitions].sort((a, b) => a - b) })
  }

  async start() {
    const { consumer, request } = this
    const { GROUP_JOIN, REBALANCING, CRASH } = consumer.events
    consumer.on(GROUP_JOIN, e => this.owned('assigned', e.payload.memberAssignment[request.topic] ?? []))
    consumer.on(REBALANCING, () => this.owned('revoked', []))
    // A crash that kafkajs answers by a restart is its way to join again.
    consumer.on(CRASH, e => {
      const event = e.payload.restart ? 'restarted' : 'failed'
      emit({ member: this.name, event, ...failure(e.payload.error) })
    })
    await consumer.connect()
    await consumer.subscribe({ topic: request.topic, fromBeginning: request.reset !== 'latest' })
    await consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch, resolveOffset, heartbeat, isRunning, isStale }) => {
        if (request.batch_ms) await sleep(request.batch_ms)
        if (!isRunning() || isStale()) return
        for (const message of batch.messages) {
          const at_ns = Number(process.hrtime.bigint())
          emit({ member: this.name, event: 'record', at_ns, ...describe(batch.topic, batch.partition, message) })
          resolveOffset(message.offset)
        }
        await this.commit(batch.topic, batch.partition, Number(batch.lastOffset()) + 1)
        await heartbeat()
      }
    })
    return this
  }

  async commit(topic, partition, offset) {
    try {
      await this.consumer.commitOffsets([{ topic, partition, offset: String(offset) }])
    } catch (error) {
      const told = failure(error)
      if (REFUSED_COMMITS.includes(told.code)) {
        emit({ member: this.name, event: 'commit_failed', ...told, partitions: [partition] })
      }
      // The library joins again by itself once it sees this error.
      throw error
    }
  }

  async finish() {
    await this.consumer.disconnect()
    emit({ member: this.name, event: 'closed' })
    return {}
  }
}

const topicResource = request => ({ type: 2, name: request.topic })

serve({
  version: async () => ({ version: require('kafkajs/package.json').version }),
  create_topic: createTopic,
  create_partitions: async request => {
    const topicPartitions = [{ topic: request.topic, count: request.count }]
    await withAdmin(admin => admin.createPartitions({ topicPartitions }))
  },
  delete_topic: request => withAdmin(admin => admin.deleteTopics({ topics: [request.topic] })),
  partitions: async request => {
    const { topics } = await withAdmin(admin => admin.fetchTopicMetadata({ topics: [request.topic] }))
    return { partitions: topics[0].partitions.map(p => p.partitionId).sort((a, b) => a - b) }
  },
  produce,
  read,
  offsets_for_time: offsetsForTime,
  committed,
  list_topics: async () => ({ topics: await withAdmin(admin => admin.listTopics()) }),
  topic_config: async request => {
    const resources = [{ ...topicResource(request), configNames: [request.config] }]
    const answer = await withAdmin(admin => admin.describeConfigs({ resources, includeSynonyms: false }))
    return { value: answer.resources[0].configEntries[0].configValue }
  },
  set_topic_config: async request => {
    const resources = [{ ...topicResource(request), configEntries: [{ name: request.config, value: request.value }] }]
    await withAdmin(admin => admin.alterConfigs({ resources, validateOnly: false }))
  },
  list_groups: async () => ({ groups: (await withAdmin(admin => admin.listGroups())).groups.map(g => g.groupId) }),
  describe_group: async request => {
    const { groups } = await withAdmin(admin => admin.describeGroups([request.group]))
    return { state: groups[0].state, members: groups[0].members.length }
  },
  delete_group: request => withAdmin(admin => admin.deleteGroups([request.group])),
  delete_records: request => withAdmin(async admin => {
    const partitions = [{ partition: request.partition, offset: String(request.offset) }]
    // deleteTopicRecords knows only topics that this client has asked for before.
    await admin.fetchTopicOffsets(request.topic)
    await admin.deleteTopicRecords({ topic: request.topic, partitions })
    const offsets = await admin.fetchTopicOffsets(request.topic)
    return { low_watermark: Number(offsets.find(p => p.partition === request.partition).low) }
  }),
  start_stream: startStream,
  start_member: request => new Member(request).start()
}, failure)
