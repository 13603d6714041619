// What the agents of Node.js clients share: the requests and events of clients.py over the standard streams.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const MAXIMUM_STREAM_RECORDS = 1_000_000

// A coordinator's codes for a commit during or after a rebalance.
export const REFUSED_COMMITS = [22, 25, 27]

const write = process.stdout.write.bind(process.stdout)
// Standard output belongs to the replies; anything else that prints must not get between them.
process.stdout.write = process.stderr.write.bind(process.stderr)

export function emit(line) {
  write(JSON.stringify(line) + '\n')
}

export const text = raw => (raw === null || raw === undefined ? null : raw.toString())
export const raw = value => (value === null || value === undefined ? null : Buffer.from(value))
export const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

/** Who the client is, as its environment says it (clients.py): what TLS needs, and a user where there is a login. */
export function who() {
  const { CLIENT_CA, CLIENT_CERTIFICATE, CLIENT_MECHANISM: mechanism, CLIENT_USER: username, CLIENT_PASSWORD: password } = process.env
  if (!CLIENT_CA) return {}
  const own = CLIENT_CERTIFICATE && readFileSync(CLIENT_CERTIFICATE)
  return { tls: { ca: [readFileSync(CLIENT_CA)], cert: own, key: own }, user: username && { mechanism, username, password } }
}

/** What a stream learned from its acknowledgements. */
class Progress {
  constructor(name) {
    this.name = name
    this.acked = []
    this.failed = []
    this.seen = new Set()
  }

  add(n, partition, offset) {
    this.acked.push([n, partition, offset])
    const first = !this.seen.has(partition)
    this.seen.add(partition)
    if (first || this.acked.length % 1000 === 0) {
      emit({ stream: this.name, event: first ? 'partition' : 'progress', partition, acked: this.acked.length })
    }
  }

  fail(n, error) {
    this.failed.push([n, String(error.message)])
  }
}

/**
 * Writes the numbers 0, 1, 2 ... as values until it is stopped, and remembers what was acknowledged. What comes due
 * while a batch is on its way makes up the next one, so that values keep their order. send(records) resolves to an
 * acknowledgement per record.
 */
export class Stream {
  constructor(request, send, close) {
    this.request = request
    this.send = send
    this.close = close
    this.progress = new Progress(request.name)
    this.stopping = false
    this.done = this.run()
  }

  async run() {
    const keys = this.request.keys ?? 97
    const interval_ms = (this.request.interval_us ?? 2000) / 1000
    const began = performance.now()
    let n = 0
    while (!this.stopping && n < MAXIMUM_STREAM_RECORDS) {
      const due = Math.min(Math.floor((performance.now() - began) / interval_ms), MAXIMUM_STREAM_RECORDS, n + 500)
      if (due <= n) {
        await sleep(interval_ms)
        continue
      }
      const values = Array.from({ length: due - n }, (_, i) => n + i)
      n = due
      try {
        const acks = await this.send(values.map(v => ({ key: `k${v % keys}`, value: String(v), headers: [] })))
        values.forEach((v, i) => this.progress.add(v, acks[i].partition, acks[i].offset))
      } catch (error) {
        values.forEach(v => this.progress.fail(v, error))
      }
    }
  }

  async finish() {
    this.stopping = true
    await this.done
    await this.close()
    return { acked: this.progress.acked, failed: this.progress.failed }
  }
}

/** Answers requests, one at a time, until standard input ends. failure(error) gives the fields of a failed reply. */
export async function serve(operations, failure) {
  const running = new Map()
  const start = async (request, make) => {
    running.set(request.name, await make(request))
    return {}
  }
  const stop = request => {
    const one = running.get(request.name)
    running.delete(request.name)
    return one.finish()
  }
  const all = {
    ...operations,
    stream_start: request => start(request, operations.start_stream),
    member_start: request => start(request, operations.start_member),
    stream_stop: stop,
    member_stop: stop
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    let reply
    try {
      reply = { ok: true, ...(await all[request.op](request)) }
    } catch (error) {
      reply = { ok: false, ...failure(error) }
    }
    emit({ reply: request.id, ...reply })
  }
  process.exit(0)
}
