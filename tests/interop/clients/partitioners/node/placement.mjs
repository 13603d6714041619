// Where the clients of Node.js put keys: see ../go/main.go for what is read and printed.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const kafkajs = require('kafkajs');
const kafkajs1 = require('kafkajs1');
// The package exports its partitioners only to its own producer.
const platformatic = await import(
  join(dirname(require.resolve('@platformatic/kafka')), 'clients/producer/partitioners.js'));

function ofKafkajs(partitioner) {
  return (key, count) => {
    const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({ partitionId, leader: 1 }));
    return partitioner()({ topic: 'topic', partitionMetadata, message: { key } });
  };
}

// The producer takes what its partitioner returns modulo the count.
function ofPlatformatic(partitioner) {
  return (key, count) => partitioner({ topic: 'topic', key }, key) % count;
}

const partitioners = {
  'kafkajs': ofKafkajs(kafkajs.Partitioners.DefaultPartitioner),
  'kafkajs-legacy': ofKafkajs(kafkajs.Partitioners.LegacyPartitioner),
  'kafkajs1': ofKafkajs(kafkajs1.Partitioners.DefaultPartitioner),
  'platformatic': ofPlatformatic(platformatic.defaultPartitioner),
  'platformatic-compatibility': ofPlatformatic(platformatic.compatibilityPartitioner),
};

const keys = readFileSync(0, 'ascii').trimEnd().split('\n').map(line => Buffer.from(line, 'hex'));
for (const [name, place] of Object.entries(partitioners)) {
  for (const count of process.argv.slice(2)) {
    console.log([name, count, ...keys.map(key => place(key, Number(count)))].join(' '));
  }
}
