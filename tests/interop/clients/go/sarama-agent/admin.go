package main

import (
	"strconv"

	"github.com/IBM/sarama"

	"partita/interop/go/agent"
)

func (library) CreateTopic(r *agent.Request, _ agent.Object) error {
	configs := map[string]*string{}
	for name, value := range r.Configs {
		value := value
		configs[name] = &value
	}
	return withAdmin(func(admin sarama.ClusterAdmin) error {
		return admin.CreateTopic(r.Topic, &sarama.TopicDetail{NumPartitions: r.Partitions, ReplicationFactor: 1,
			ConfigEntries: configs}, false)
	})
}

func (library) CreatePartitions(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error {
		return admin.CreatePartitions(r.Topic, int32(r.Count), nil, false)
	})
}

func (library) DeleteTopic(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error { return admin.DeleteTopic(r.Topic) })
}

func (library) Committed(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error {
		fetched, err := admin.ListConsumerGroupOffsets(r.Group, nil)
		if err != nil {
			return err
		}
		if fetched.Err != sarama.ErrNoError {
			return fetched.Err
		}
		offsets := agent.Object{}
		for id, block := range fetched.Blocks[r.Topic] {
			if block.Offset >= 0 {
				offsets[strconv.Itoa(int(id))] = block.Offset
			}
		}
		reply["offsets"] = offsets
		return nil
	})
}

func (library) ListTopics(_ *agent.Request, reply agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error {
		topics, err := admin.ListTopics()
		names := []string{}
		for name := range topics {
			names = append(names, name)
		}
		reply["topics"] = names
		return err
	})
}

func (library) TopicConfig(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error {
		entries, err := admin.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: r.Topic,
			ConfigNames: []string{r.Config}})
		for _, entry := range entries {
			reply["value"] = entry.Value
		}
		return err
	})
}

func (library) SetTopicConfig(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error {
		return admin.IncrementalAlterConfig(sarama.TopicResource, r.Topic, map[string]sarama.IncrementalAlterConfigsEntry{
			r.Config: {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &r.Value}}, false)
	})
}

func (library) ListGroups(_ *agent.Request, reply agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error {
		groups, err := admin.ListConsumerGroups()
		names := []string{}
		for name := range groups {
			names = append(names, name)
		}
		reply["groups"] = names
		return err
	})
}

func (library) DescribeGroup(r *agent.Request, reply agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error {
		groups, err := admin.DescribeConsumerGroups([]string{r.Group})
		if err != nil {
			return err
		}
		if groups[0].Err != sarama.ErrNoError {
			return groups[0].Err
		}
		reply["state"], reply["members"] = groups[0].State, len(groups[0].Members)
		return nil
	})
}

func (library) DeleteGroup(r *agent.Request, _ agent.Object) error {
	return withAdmin(func(admin sarama.ClusterAdmin) error { return admin.DeleteConsumerGroup(r.Group) })
}

// DeleteRecords asks for the low watermark afterwards; sarama keeps the answer's to itself.
func (library) DeleteRecords(r *agent.Request, reply agent.Object) error {
	err := withAdmin(func(admin sarama.ClusterAdmin) error {
		return admin.DeleteRecords(r.Topic, map[int32]int64{r.Partition: r.Offset})
	})
	if err != nil {
		return err
	}
	return withClient(r, func(client sarama.Client) error {
		oldest, err := client.GetOffset(r.Topic, r.Partition, sarama.OffsetOldest)
		reply["low_watermark"] = oldest
		return err
	})
}
