// Where the Go clients put keys: reads keys as lines of hexadecimal digits, prints "NAME N p p p ..." for each of their
// partitioners and each count given as an argument. No broker is needed.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

type partitioner func(key []byte, count int) int

func saramaPartitioner(made sarama.PartitionerConstructor) partitioner {
	chosen := made("topic")
	return func(key []byte, count int) int {
		partition, err := chosen.Partition(&sarama.ProducerMessage{Key: sarama.ByteEncoder(key)}, int32(count))
		if err != nil {
			panic(err)
		}
		return int(partition)
	}
}

func balancer(chosen kafka.Balancer) partitioner {
	return func(key []byte, count int) int {
		partitions := make([]int, count)
		for i := range partitions {
			partitions[i] = i
		}
		return chosen.Balance(kafka.Message{Key: key}, partitions...)
	}
}

func franz(made kgo.Partitioner) partitioner {
	chosen := made.ForTopic("topic")
	return func(key []byte, count int) int {
		return chosen.Partition(&kgo.Record{Key: key}, count)
	}
}

func fnv32a(key []byte) uint32 {
	hash := fnv.New32a()
	hash.Write(key)
	return hash.Sum32()
}

func main() {
	partitioners := map[string]partitioner{
		"sarama":                 saramaPartitioner(sarama.NewHashPartitioner),
		"sarama-reference":       saramaPartitioner(sarama.NewReferenceHashPartitioner),
		"sarama-crc32":           saramaPartitioner(sarama.NewConsistentCRCHashPartitioner),
		"kafka-go-hash":          balancer(&kafka.Hash{}),
		"kafka-go-reference":     balancer(&kafka.ReferenceHash{}),
		"kafka-go-crc32":         balancer(kafka.CRC32Balancer{}),
		"kafka-go-murmur2":       balancer(kafka.Murmur2Balancer{}),
		"franz-go":               franz(kgo.StickyKeyPartitioner(nil)),
		"franz-go-sarama-hasher": franz(kgo.StickyKeyPartitioner(kgo.SaramaHasher(fnv32a))),
		"franz-go-sarama-compat": franz(kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a))),
	}
	var keys [][]byte
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		key, err := hex.DecodeString(lines.Text())
		if err != nil {
			panic(err)
		}
		keys = append(keys, key)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for name, place := range partitioners {
		for _, argument := range os.Args[1:] {
			count, err := strconv.Atoi(argument)
			if err != nil {
				panic(err)
			}
			fmt.Fprint(out, name, " ", count)
			for _, key := range keys {
				fmt.Fprint(out, " ", place(key, count))
			}
			fmt.Fprintln(out)
		}
	}
}
