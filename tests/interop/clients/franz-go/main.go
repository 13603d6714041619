// franz-go as an agent: the requests and events are described in clients.py.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type header [2]*string

type inputRecord struct {
	Partition *int32   `json:"partition"`
	Timestamp *int64   `json:"timestamp"`
	Key       *string  `json:"key"`
	Value     *string  `json:"value"`
	Headers   []header `json:"headers"`
}

type request struct {
	ID                 int               `json:"id"`
	Op                 string            `json:"op"`
	Name               string            `json:"name"`
	Topic              string            `json:"topic"`
	Group              string            `json:"group"`
	Partitions         int32             `json:"partitions"`
	Partition          int32             `json:"partition"`
	Offset             int64             `json:"offset"`
	Config             string            `json:"config"`
	Value              string            `json:"value"`
	Count              int               `json:"count"`
	Configs            map[string]string `json:"configs"`
	Records            []inputRecord     `json:"records"`
	Codec              string            `json:"codec"`
	Acks               string            `json:"acks"`
	Idempotence        *bool             `json:"idempotence"`
	TimeoutMs          int64             `json:"timeout_ms"`
	Timestamp          int64             `json:"timestamp"`
	MetadataAgeMs      int64             `json:"metadata_age_ms"`
	UnknownTopicWaitMs int64             `json:"unknown_topic_wait_ms"`
	SessionTimeoutMs   int64             `json:"session_timeout_ms"`
	InstanceID         string            `json:"instance_id"`
	Assignor           string            `json:"assignor"`
	Keys               int               `json:"keys"`
	IntervalUs         *int64            `json:"interval_us"`
}

type object map[string]interface{}

var (
	bootstrap  string
	outputLock sync.Mutex
	members    = map[string]*member{}
	streams    = map[string]*stream{}
)

func emit(line object) {
	encoded, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	outputLock.Lock()
	defer outputLock.Unlock()
	os.Stdout.Write(append(encoded, '\n'))
}

func failure(err error) object {
	code, name := -1, "client"
	var kafkaError *kerr.Error
	if errors.As(err, &kafkaError) {
		code, name = int(kafkaError.Code), kafkaError.Message
	}
	return object{"ok": false, "code": code, "type": name, "message": err.Error()}
}

// explained adds the text that the broker sent along with an error.
func explained(err error, message string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", err, message)
}

func options(r *request) []kgo.Opt {
	opts := []kgo.Opt{kgo.SeedBrokers(bootstrap), kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.MetadataMinAge(100 * time.Millisecond)}
	if r.MetadataAgeMs != 0 {
		opts = append(opts, kgo.MetadataMaxAge(time.Duration(r.MetadataAgeMs)*time.Millisecond))
	}
	return opts
}

func newProducer(r *request) (*kgo.Client, error) {
	opts := append(options(r), kgo.ProducerLinger(5*time.Millisecond), kgo.ProducerBatchMaxBytes(20_000_000),
		kgo.BrokerMaxWriteBytes(100_000_000))
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	if r.Codec == "" {
		r.Codec = "none"
	}
	opts = append(opts, kgo.ProducerBatchCompression(codecs[r.Codec]))
	if r.Idempotence != nil && !*r.Idempotence {
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	switch r.Acks {
	case "0":
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	case "1":
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	}
	if r.UnknownTopicWaitMs != 0 {
		opts = append(opts, kgo.UnknownTopicRetries(1))
	}
	if len(r.Records) > 0 && r.Records[0].Partition != nil {
		opts = append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	return kgo.NewClient(opts...)
}

func withAdmin(f func(ctx context.Context, admin *kadm.Client) error) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return f(ctx, kadm.NewClient(client))
}

func partitionIDs(ctx context.Context, admin *kadm.Client, topic string) ([]int32, error) {
	details, err := admin.ListTopics(ctx, topic)
	if err != nil {
		return nil, err
	}
	if err := details[topic].Err; err != nil {
		return nil, err
	}
	ids := details[topic].Partitions.Numbers()
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids, nil
}

func text(raw []byte) *string {
	if raw == nil {
		return nil
	}
	s := string(raw)
	return &s
}

func raw(value *string) []byte {
	if value == nil {
		return nil
	}
	return []byte(*value)
}

func describe(record *kgo.Record) object {
	headers := []header{}
	for _, h := range record.Headers {
		key := h.Key
		headers = append(headers, header{&key, text(h.Value)})
	}
	return object{"topic": record.Topic, "partition": record.Partition, "offset": record.Offset,
		"timestamp": record.Timestamp.UnixMilli(), "key": text(record.Key), "value": text(record.Value),
		"headers": headers}
}

func produce(r *request, reply object) error {
	client, err := newProducer(r)
	if err != nil {
		return err
	}
	defer client.Close()
	acks := make([]object, len(r.Records))
	for i := range r.Records {
		i, in := i, &r.Records[i]
		record := &kgo.Record{Topic: r.Topic, Key: raw(in.Key), Value: raw(in.Value)}
		if in.Partition != nil {
			record.Partition = *in.Partition
		}
		if in.Timestamp != nil {
			record.Timestamp = time.UnixMilli(*in.Timestamp)
		}
		for _, h := range in.Headers {
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: *h[0], Value: raw(h[1])})
		}
		client.Produce(context.Background(), record, func(done *kgo.Record, err error) {
			if err != nil {
				acks[i] = failure(err)
			} else {
				acks[i] = object{"partition": done.Partition, "offset": done.Offset}
			}
		})
	}
	if err := client.Flush(context.Background()); err != nil {
		return err
	}
	reply["acks"] = acks
	return nil
}

func read(r *request, reply object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		ids, err := partitionIDs(ctx, admin, r.Topic)
		if err != nil {
			return err
		}
		starts := map[int32]kgo.Offset{}
		for _, id := range ids {
			starts[id] = kgo.NewOffset().AtStart()
		}
		client, err := kgo.NewClient(append(options(r),
			kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{r.Topic: starts}))...)
		if err != nil {
			return err
		}
		defer client.Close()
		deadline, cancel := context.WithTimeout(ctx, time.Duration(r.TimeoutMs)*time.Millisecond)
		defer cancel()
		records := []object{}
		for len(records) < r.Count && deadline.Err() == nil {
			fetches := client.PollFetches(deadline)
			for _, e := range fetches.Errors() {
				if !errors.Is(e.Err, context.DeadlineExceeded) {
					return e.Err
				}
			}
			fetches.EachRecord(func(record *kgo.Record) { records = append(records, describe(record)) })
		}
		reply["records"] = records
		return nil
	})
}

func offsetsForTime(r *request, reply object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		listed, err := admin.ListOffsetsAfterMilli(ctx, r.Timestamp, r.Topic)
		if err != nil {
			return err
		}
		if err := listed.Error(); err != nil {
			return err
		}
		offsets := object{}
		listed.Each(func(o kadm.ListedOffset) {
			// kadm puts the end of the partition where no record is as late as asked for.
			if o.Timestamp == -1 {
				o.Offset = -1
			}
			offsets[strconv.Itoa(int(o.Partition))] = o.Offset
		})
		reply["offsets"] = offsets
		return nil
	})
}

func committed(r *request, reply object) error {
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		fetched, err := admin.FetchOffsets(ctx, r.Group)
		if err != nil {
			return err
		}
		offsets := object{}
		fetched.Each(func(o kadm.OffsetResponse) {
			if o.At >= 0 {
				offsets[strconv.Itoa(int(o.Partition))] = o.At
			}
		})
		reply["offsets"] = offsets
		return nil
	})
}

// createTopic goes below kadm, which drops the text of the broker's error.
func createTopic(r *request) error {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = r.Topic, r.Partitions, -1
	for key, value := range r.Configs {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, kmsg.StringPtr(value)
		topic.Configs = append(topic.Configs, config)
	}
	create := kmsg.NewPtrCreateTopicsRequest()
	create.TimeoutMillis = 30000
	create.Topics = append(create.Topics, topic)
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return err
	}
	defer client.Close()
	created, err := create.RequestWith(context.Background(), client)
	if err != nil {
		return err
	}
	answer := created.Topics[0]
	if answer.ErrorCode == 0 {
		return nil
	}
	text := "no text"
	if answer.ErrorMessage != nil {
		text = *answer.ErrorMessage
	}
	return explained(kerr.ErrorForCode(answer.ErrorCode), text)
}

func handle(r *request, reply object) error {
	switch r.Op {
	case "create_topic":
		return createTopic(r)
	case "create_partitions":
		return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
			updated, err := admin.UpdatePartitions(ctx, r.Count, r.Topic)
			if err != nil {
				return err
			}
			return explained(updated[r.Topic].Err, updated[r.Topic].ErrMessage)
		})
	case "delete_topic":
		return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
			deleted, err := admin.DeleteTopics(ctx, r.Topic)
			if err != nil {
				return err
			}
			return deleted[r.Topic].Err
		})
	case "partitions":
		return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
			ids, err := partitionIDs(ctx, admin, r.Topic)
			reply["partitions"] = ids
			return err
		})
	case "version", "list_topics", "topic_config", "set_topic_config", "list_groups", "describe_group", "delete_group",
		"delete_records":
		return administer(r, reply)
	case "produce":
		return produce(r, reply)
	case "read":
		return read(r, reply)
	case "offsets_for_time":
		return offsetsForTime(r, reply)
	case "committed":
		return committed(r, reply)
	case "stream_start":
		s, err := startStream(r)
		streams[r.Name] = s
		return err
	case "stream_stop":
		return streams[r.Name].finish(reply)
	case "member_start":
		m, err := startMember(r)
		members[r.Name] = m
		return err
	case "member_stop":
		members[r.Name].finish()
		return nil
	}
	return fmt.Errorf("unknown op %q", r.Op)
}

func main() {
	bootstrap = os.Args[1]
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	for input.Scan() {
		r := &request{}
		if err := json.Unmarshal(input.Bytes(), r); err != nil {
			panic(err)
		}
		reply := object{"ok": true}
		if err := handle(r, reply); err != nil {
			reply = failure(err)
		}
		reply["reply"] = r.ID
		emit(reply)
	}
}
