package main

import (
	"context"
	"runtime/debug"

	"github.com/twmb/franz-go/pkg/kadm"
)

// administer serves the usual admin calls.
func administer(r *request, reply object) error {
	if r.Op == "version" {
		reply["version"] = libraryVersion()
		return nil
	}
	return withAdmin(func(ctx context.Context, admin *kadm.Client) error {
		switch r.Op {
		case "list_topics":
			topics, err := admin.ListTopics(ctx)
			reply["topics"] = topics.Names()
			return err
		case "topic_config":
			return topicConfig(ctx, admin, r, reply)
		case "set_topic_config":
			answers, err := admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: r.Config,
				Value: &r.Value}}, r.Topic)
			if err != nil {
				return err
			}
			return answers[0].Err
		case "list_groups":
			groups, err := admin.ListGroups(ctx)
			reply["groups"] = groups.Groups()
			return err
		case "describe_group":
			groups, err := admin.DescribeGroups(ctx, r.Group)
			if err != nil {
				return err
			}
			reply["state"], reply["members"] = groups[r.Group].State, len(groups[r.Group].Members)
			return groups[r.Group].Err
		case "delete_group":
			answers, err := admin.DeleteGroups(ctx, r.Group)
			if err != nil {
				return err
			}
			return answers[r.Group].Err
		}
		return deleteRecords(ctx, admin, r, reply)
	})
}

func topicConfig(ctx context.Context, admin *kadm.Client, r *request, reply object) error {
	resources, err := admin.DescribeTopicConfigs(ctx, r.Topic)
	if err != nil {
		return err
	}
	for _, config := range resources[0].Configs {
		if config.Key == r.Config {
			reply["value"] = config.MaybeValue()
		}
	}
	return resources[0].Err
}

func deleteRecords(ctx context.Context, admin *kadm.Client, r *request, reply object) error {
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: r.Topic, Partition: r.Partition, At: r.Offset})
	answers, err := admin.DeleteRecords(ctx, offsets)
	if err != nil {
		return err
	}
	answer := answers[r.Topic][r.Partition]
	reply["low_watermark"] = answer.LowWatermark
	return answer.Err
}

func libraryVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/twmb/franz-go" {
				return module.Version
			}
		}
	}
	return "unknown"
}
