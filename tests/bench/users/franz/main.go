// franz_client produce|consume PORT TOPIC PARTITIONS RECORDS RECORD_BYTES: what a program sees that uses franz-go with its
// defaults. Prints {"records": N, "seconds": S}; ends with 1 when a record was not acknowledged or did not come.
//
// franz_client idempotent|rhythm|exchange|transactional PORT TOPIC PARTITIONS RECORDS RECORD_BYTES RECORDS_OF_PART: an idempotent
// producer that waits at its end; one that waits for each part; one that also sends the last record of each part behind the others,
// and waits for it; one that commits each part. The clock begins when a first part is acknowledged. Prints the same, how many
// records were written in all, and, where parts are waited for, the median of their times:
// {"records": N, "seconds": S, "written": N + RECORDS_OF_PART, "part_p50_us": U}.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
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

// A producer of values in which a compressor finds nothing, more of them than any cache holds.
type producer struct {
	client       *kgo.Client
	recordBytes  int
	different    int
	values       []byte
	sent         int
	acknowledged atomic.Int64
}

func newProducer(port, topic string, recordBytes int, options ...kgo.Opt) *producer {
	different := bytesOfDifferentRecords / recordBytes
	made := &producer{
		client:      client(port, append(options, kgo.DefaultProduceTopic(topic))...),
		recordBytes: recordBytes,
		different:   different,
		values:      make([]byte, different*recordBytes),
	}
	rand.NewChaCha8([32]byte{}).Read(made.values)
	return made
}

// Hands over that many records more.
func (p *producer) send(ctx context.Context, records int) {
	for end := p.sent + records; p.sent < end; p.sent++ {
		at := p.sent % p.different * p.recordBytes
		p.client.Produce(ctx, &kgo.Record{Value: p.values[at : at+p.recordBytes]}, func(_ *kgo.Record, err error) {
			if err != nil {
				giveUp(err)
			}
			p.acknowledged.Add(1)
		})
	}
}

// Waits until all that was sent is acknowledged.
func (p *producer) wait(ctx context.Context) {
	if err := p.client.Flush(ctx); err != nil || p.acknowledged.Load() != int64(p.sent) {
		giveUp(p.acknowledged.Load(), "acknowledged:", err)
	}
}

func (p *producer) sendAndWait(ctx context.Context, records int) {
	p.send(ctx, records)
	p.wait(ctx)
}

func (p *producer) transaction(ctx context.Context, records int) {
	if err := p.client.BeginTransaction(); err != nil {
		giveUp(err)
	}
	p.sendAndWait(ctx, records)
	if err := p.client.EndTransaction(ctx, kgo.TryCommit); err != nil {
		giveUp(err)
	}
}

func produce(ctx context.Context, port, topic string, records, recordBytes int) {
	p := newProducer(port, topic, recordBytes)
	defer p.client.Close()
	p.sendAndWait(ctx, records)
}

// Returns how long all but the first part took, and each of them where they are waited for.
func produceInParts(ctx context.Context, what, port, topic string, records, recordBytes, recordsOfPart int) (time.Duration, []time.Duration) {
	var options []kgo.Opt // It is idempotent by default.
	if what == "transactional" {
		options = append(options, kgo.TransactionalID(topic))
	}
	p := newProducer(port, topic, recordBytes, options...)
	defer p.client.Close()
	part := map[string]func(context.Context, int){
		"idempotent":    p.send,
		"rhythm":        p.sendAndWait,
		"exchange":      func(ctx context.Context, records int) { p.sendAndWait(ctx, records-1); p.sendAndWait(ctx, 1) },
		"transactional": p.transaction,
	}[what]
	part(ctx, recordsOfPart)
	p.wait(ctx)
	var parts []time.Duration
	began := time.Now()
	for left := records; left > 0; left -= recordsOfPart {
		partBegan := time.Now()
		part(ctx, min(left, recordsOfPart))
		if what != "idempotent" {
			parts = append(parts, time.Since(partBegan))
		}
	}
	p.wait(ctx)
	return time.Since(began), parts
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
	inParts := len(os.Args) > 1 && slices.Contains([]string{"idempotent", "rhythm", "exchange", "transactional"}, os.Args[1])
	if len(os.Args) != 7 && !inParts || len(os.Args) != 8 && inParts {
		fmt.Fprintln(os.Stderr, "usage: franz_client produce|consume PORT TOPIC PARTITIONS RECORDS RECORD_BYTES")
		fmt.Fprintln(os.Stderr, "       franz_client idempotent|rhythm|exchange|transactional PORT TOPIC PARTITIONS RECORDS RECORD_BYTES RECORDS_OF_PART")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	what, port, topic := os.Args[1], os.Args[2], os.Args[3]
	records, recordBytes := number(os.Args[5]), number(os.Args[6])
	if inParts {
		ofPart := number(os.Args[7])
		took, parts := produceInParts(ctx, what, port, topic, records, recordBytes, ofPart)
		fmt.Printf("{\"records\": %d, \"seconds\": %.6f, \"written\": %d", records, took.Seconds(), records+ofPart)
		if len(parts) > 0 {
			slices.Sort(parts)
			fmt.Printf(", \"part_p50_us\": %.1f", parts[len(parts)/2].Seconds()*1e6)
		}
		fmt.Println("}")
		return
	}
	began := time.Now()
	if what == "produce" {
		produce(ctx, port, topic, records, recordBytes)
	} else {
		consume(ctx, port, topic, number(os.Args[4]), records, recordBytes)
	}
	fmt.Printf("{\"records\": %d, \"seconds\": %.6f}\n", records, time.Since(began).Seconds())
}
