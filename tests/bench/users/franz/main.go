// franz_client produce|consume PORT TOPIC PARTITIONS RECORDS RECORD_BYTES: what a program sees that uses franz-go with its
// defaults. Prints {"records": N, "seconds": S}; ends with 1 when a record was not acknowledged or did not come.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	bytesOfDifferentRecords = 64_000_000 // More than any cache holds.
	patience                = time.Minute
)

func giveUp(what ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"franz_client:"}, what...)...)
	os.Exit(1)
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		giveUp(err)
	}
	return value
}

func client(port string, options ...kgo.Opt) *kgo.Client {
	made, err := kgo.NewClient(append(options, kgo.SeedBrokers("127.0.0.1:"+port))...)
	if err != nil {
		giveUp(err)
	}
	return made
}

func produce(ctx context.Context, port, topic string, records, recordBytes int) {
	producer := client(port, kgo.DefaultProduceTopic(topic))
	defer producer.Close()
	different := bytesOfDifferentRecords / recordBytes
	values := make([]byte, different*recordBytes)
	rand.NewChaCha8([32]byte{}).Read(values) // Nothing for a compressor.
	var acknowledged atomic.Int64
	for i := 0; i < records; i++ {
		at := i % different * recordBytes
		producer.Produce(ctx, &kgo.Record{Value: values[at : at+recordBytes]}, func(_ *kgo.Record, err error) {
			if err != nil {
				giveUp(err)
			}
			acknowledged.Add(1)
		})
	}
	if err := producer.Flush(ctx); err != nil || acknowledged.Load() != int64(records) {
		giveUp(acknowledged.Load(), "acknowledged:", err)
	}
}

func consume(ctx context.Context, port, topic string, partitions, records, recordBytes int) {
	offsets := map[int32]kgo.Offset{}
	for i := 0; i < partitions; i++ {
		offsets[int32(i)] = kgo.NewOffset().At(0)
	}
	consumer := client(port, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets}))
	defer consumer.Close()
	for seen := 0; seen < records; {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			giveUp(err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			if len(record.Value) != recordBytes {
				giveUp("a record of another size")
			}
			seen++
		})
	}
}

func main() {
	if len(os.Args) != 7 {
		fmt.Fprintln(os.Stderr, "usage: franz_client produce|consume PORT TOPIC PARTITIONS RECORDS RECORD_BYTES")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	records, recordBytes := number(os.Args[5]), number(os.Args[6])
	began := time.Now()
	if os.Args[1] == "produce" {
		produce(ctx, os.Args[2], os.Args[3], records, recordBytes)
	} else {
		consume(ctx, os.Args[2], os.Args[3], number(os.Args[4]), records, recordBytes)
	}
	fmt.Printf("{\"records\": %d, \"seconds\": %.6f}\n", records, time.Since(began).Seconds())
}
