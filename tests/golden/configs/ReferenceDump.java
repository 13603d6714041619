// Writes the reference facts of this folder, from a real Apache Kafka 4.3.1 and its classes (see README.md).
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.common.config.*;

public class ReferenceDump {
    static Admin admin;
    static String folder;
    static PrintWriter alterations;
    static PrintWriter starts;

    static String line(String text) { return text == null ? "<null>" : text.replace("\n", "\\n"); }

    static void settle() throws Exception { Thread.sleep(500); }

    static void dump(ConfigResource resource, String file) throws Exception {
        var options = new DescribeConfigsOptions().includeSynonyms(true);
        var config = admin.describeConfigs(List.of(resource), options).all().get().get(resource);
        var entries = new ArrayList<>(config.entries());
        entries.sort(Comparator.comparing(ConfigEntry::name));
        try (PrintWriter out = new PrintWriter(folder + "/" + file)) {
            for (var e : entries) {
                var synonyms = new StringJoiner(";");
                for (var s : e.synonyms()) synonyms.add(s.name() + "=" + line(s.value()) + "@" + s.source());
                out.println(String.join("|", e.name(), line(e.value()), e.source().toString(), e.type().toString(),
                        e.isReadOnly() ? "read-only" : "", e.isSensitive() ? "sensitive" : "", synonyms.toString()));
            }
        }
    }

    static String outcome(org.apache.kafka.common.KafkaFuture<Void> future) throws Exception {
        try {
            future.get();
            return "OK";
        } catch (java.util.concurrent.ExecutionException e) {
            return e.getCause().getClass().getSimpleName() + ": " + line(e.getCause().getMessage());
        }
    }

    static void alter(ConfigResource resource, String... operations) throws Exception {
        var list = new ArrayList<AlterConfigOp>();
        for (String operation : operations) {
            String[] parts = operation.split(" ", 3);
            String value = parts.length > 2 ? parts[2] : parts[0].equals("SETNULL") ? null : "";
            list.add(new AlterConfigOp(new ConfigEntry(parts[1], value),
                    AlterConfigOp.OpType.valueOf(parts[0].replace("NULL", ""))));
        }
        alterations.println(resource.type() + "\t" + resource.name() + "\t" + String.join(";", operations) + "\t"
                + outcome(admin.incrementalAlterConfigs(Map.of(resource, list)).all()));
    }

    static void create(Map<String, String> configs) throws Exception {
        var operations = new StringJoiner(";");
        for (var e : new TreeMap<>(configs).entrySet())
            operations.add((e.getValue() == null ? "SETNULL " : "SET ") + e.getKey() + (e.getValue() == null ? "" : " " + e.getValue()));
        var topic = new NewTopic("created", 1, (short) 1).configs(configs);
        alterations.println("CREATE\t\t" + operations + "\t"
                + outcome(admin.createTopics(List.of(topic), new CreateTopicsOptions().validateOnly(true)).all()));
    }

    static void value(PrintWriter out, String kind, ConfigDef definitions, String name, String text) {
        String result;
        try {
            var key = definitions.configKeys().get(name);
            Object parsed = ConfigDef.parseType(name, text, key.type);
            if (key.validator != null) key.validator.ensureValid(name, parsed);
            result = "OK " + line(ConfigDef.convertToString(parsed, key.type));
        } catch (ConfigException e) {
            result = "ConfigException: " + e.getMessage();
        }
        out.println(kind + "\t" + name + "\t" + line(text) + "\t" + result);
    }

    static void t(String... given) {
        Properties p = new Properties();
        p.put("process.roles", "broker,controller");
        p.put("node.id", "1");
        p.put("controller.quorum.voters", "1@h:9093");
        p.put("controller.listener.names", "CONTROLLER");
        p.put("listeners", "PLAINTEXT://:9092,CONTROLLER://:9093");
        String result;
        for (int i = 0; i < given.length; i += 2) {
            if (given[i + 1] == null) p.remove(given[i]); else p.put(given[i], given[i + 1]);
        }
        try {
            kafka.server.KafkaConfig.fromProps(p);
            result = "OK";
        } catch (RuntimeException e) {
            result = e.getClass().getSimpleName() + ": " + e.getMessage();
        }
        var shown = new StringJoiner("\t");
        for (String text : given) shown.add(text == null ? "<null>" : text);
        starts.println(result + "\t" + shown);
    }

    public static void main(String[] arguments) throws Exception {
        folder = arguments[1];
        try (PrintWriter out = new PrintWriter(folder + "/values.txt")) {
            String[][] topicValues = {{"cleanup.policy",""},
                {"cleanup.policy","delete,delete"},
                {"cleanup.policy","x"},
                {"cleanup.policy","compact, delete"},
                {"cleanup.policy","delete,"},
                {"cleanup.policy",","},
                {"cleanup.policy",",delete"},
                {"cleanup.policy"," "},
                {"cleanup.policy","Delete"},
     {"compression.gzip.level","0"},
                {"compression.gzip.level","10"},
                {"compression.gzip.level","-2"},
                {"compression.lz4.level","18"},
                {"compression.lz4.level","0"},
                {"compression.zstd.level","23"},
                {"compression.zstd.level","-131073"},
                {"compression.type","x"},
                {"compression.type","GZIP"},
     {"retention.ms","x"},
                {"retention.ms","-2"},
                {"retention.ms"," 12 "},
                {"retention.ms","+5"},
                {"retention.ms",""},
                {"retention.ms","9223372036854775808"},
                {"segment.bytes","100"},
                {"segment.bytes","99999999999"},
                {"min.cleanable.dirty.ratio","1.5"},
                {"min.cleanable.dirty.ratio","-0.1"},
                {"min.cleanable.dirty.ratio","x"},
                {"min.cleanable.dirty.ratio","NaN"},
                {"min.cleanable.dirty.ratio","0.1d"},
                {"min.cleanable.dirty.ratio","1e-5"},
                {"min.cleanable.dirty.ratio","0x1p-1"},
                {"min.cleanable.dirty.ratio",".5"},
                {"min.cleanable.dirty.ratio","1."},
                {"min.cleanable.dirty.ratio","0.0000001"},
                {"min.cleanable.dirty.ratio","0.001"},
     {"preallocate","x"},
                {"preallocate","TRUE"},
                {"preallocate",""},
                {"message.timestamp.type","x"},
                {"leader.replication.throttled.replicas","x"},
                {"leader.replication.throttled.replicas","*"},
                {"leader.replication.throttled.replicas","0:1,1:2"},
                {"leader.replication.throttled.replicas","0:1,1"},
                {"leader.replication.throttled.replicas","*,0:1"},
                {"leader.replication.throttled.replicas",""},
                {"leader.replication.throttled.replicas",","},
                {"leader.replication.throttled.replicas","-1:2"},
                {"retention.ms",null},
                {"cleanup.policy",null},
                {"preallocate",null},
                {"min.insync.replicas","0"},
                {"index.interval.bytes","-1"},
                {"compression.type",null},
                
                {"internal.segment.bytes","5"},
                {"compression.gzip.level",null}};
            String[][] brokerValues = {{"num.partitions","0"},
                {"num.partitions","x"},
                {"log.dirs",""},
                {"log.dirs","a,a"},
                {"log.dirs","a,,b"},
                {"listeners",""},
                {"listeners","A://x:1,A://x:1"},
                {"group.share.delivery.count.limit","11"},
                {"group.consumer.migration.policy","x"},
                {"group.consumer.migration.policy","upGrade"},
                {"group.coordinator.rebalance.protocols","x"},
                {"group.coordinator.rebalance.protocols",""},
                {"group.coordinator.rebalance.protocols","classic,classic"},
                {"remote.log.metadata.manager.class.name",""},
                {"authorizer.class.name",null},
                {"controller.quorum.voters","1@h"},
                {"controller.quorum.voters","x"},
                {"controller.quorum.voters","1@h:1"},
                {"controller.quorum.voters",""},
                {"controller.quorum.bootstrap.servers","h"},
                {"controller.quorum.bootstrap.servers","h:1"},
                {"controller.quorum.bootstrap.servers",""},
                {"node.id","-1"},
                {"offsets.topic.replication.factor","0"},
                {"offsets.topic.replication.factor","99999"},
                {"security.inter.broker.protocol","x"},
                {"log.retention.hours","-1"},
                {"advertised.listeners",""},
                {"advertised.listeners",null},
                {"process.roles","x"},
                {"process.roles",""},
                {"principal.builder.class","x.Y"},
                {"ssl.client.auth","x"},
                {"sasl.enabled.mechanisms","a,a"},
                {"ssl.enabled.protocols","a,a"},
                {"ssl.enabled.protocols",""},
                {"config.providers","a,a"},
                {"metric.reporters",""},
                {"group.consumer.assignors",""},
                {"group.consumer.assignors","x"},
                {"controller.quorum.voters","a@h:1"},
                {"controller.quorum.voters","1@h:x"},
                {"controller.quorum.bootstrap.servers","h:x"},
                {"controller.listener.names",""},
                {"controller.listener.names","a,a"},
                {"early.start.listeners",""},
                {"log.dir",""},
                {"log.dir","a,a"},
                {"group.share.assignors",""}};
            Field field = org.apache.kafka.storage.internals.log.LogConfig.class.getDeclaredField("CONFIG");
            field.setAccessible(true);
            for (String[] v : topicValues) value(out, "topic", (ConfigDef) field.get(null), v[0], v[1]);
            for (String[] v : brokerValues) value(out, "broker", kafka.server.KafkaConfig.configDef(), v[0], v[1]);
        }
        try (PrintWriter out = new PrintWriter(folder + "/starts.txt")) {
            starts = out;
            String L="listeners", C=",CONTROLLER://:9093";
    t();
            t(L,"PLAINTEXT://:9092,PLAINTEXT://:9094"+C);
            t(L,"PLAINTEXT://:9092,SSL://:9092"+C);
            t(L,"PLAINTEXT://1.2.3.4:9092,SSL://[::1]:9092"+C,"listener.security.protocol.map","PLAINTEXT:PLAINTEXT,SSL:PLAINTEXT,CONTROLLER:PLAINTEXT");
    t(L,"PLAINTEXT://1.2.3.4:9092,SSL://1.2.3.5:9092"+C,"listener.security.protocol.map","PLAINTEXT:PLAINTEXT,SSL:PLAINTEXT,CONTROLLER:PLAINTEXT");
    t(L,"PLAINTEXT://1.2.3.4:9092,SSL://h:9092"+C,"listener.security.protocol.map","PLAINTEXT:PLAINTEXT,SSL:PLAINTEXT,CONTROLLER:PLAINTEXT");
    t(L,"PLAINTEXT://1.2.3.4:9092,SSL://[::1]:9092,A://:9092"+C,"listener.security.protocol.map","PLAINTEXT:PLAINTEXT,SSL:PLAINTEXT,CONTROLLER:PLAINTEXT,A:PLAINTEXT");
    t(L,"PLAINTEXT://1.2.3.4:9092,SSL://[::1]:9092,A://[::2]:9092"+C,"listener.security.protocol.map","PLAINTEXT:PLAINTEXT,SSL:PLAINTEXT,CONTROLLER:PLAINTEXT,A:PLAINTEXT");
    t(L,"nope"+C);
            t(L,"PLAINTEXT://h"+C);
            t(L,"PLAINTEXT:h:1"+C);
            t(L,"PLAINTEXT://h:99999"+C);
            t(L,"PLAINTEXT://h:x"+C);
            t(L,"INTERNAL://h:1"+C);
            t(L,"plaintext://h:1"+C);
            t(L,"://h:1"+C);
            t(L,"PLAINTEXT://::1:9092"+C);
            t(L,"PLAINTEXT://[::1]:9092"+C);
            t(L,"PLAINTEXT://h_x:0"+C);
            t(L,"PLAINTEXT://h:0,A://h:0"+C,"listener.security.protocol.map","PLAINTEXT:PLAINTEXT,A:PLAINTEXT,CONTROLLER:PLAINTEXT");
            t(L,"PLAINTEXT://*:9092"+C);
            t(L,"PLAINTEXT://h:-1"+C);
    t(L,"INTERNAL://h:1"+C,"listener.security.protocol.map","INTERNAL:NOPE,CONTROLLER:PLAINTEXT");
            t(L,"INTERNAL://h:1"+C,"listener.security.protocol.map","INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT");
            t(L,"INTERNAL://h:1"+C,"listener.security.protocol.map","INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT","inter.broker.listener.name","INTERNAL");
            t("inter.broker.listener.name","X");
            t("inter.broker.listener.name","PLAINTEXT","security.inter.broker.protocol","PLAINTEXT");
            t("security.inter.broker.protocol","SSL");
    t("listener.security.protocol.map","x");
            t("listener.security.protocol.map","");
            t("listener.security.protocol.map","A:PLAINTEXT,a:SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
            t("listener.security.protocol.map","A:PLAINTEXT,A:SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
            t("listener.security.protocol.map","PLAINTEXT:PLAINTEXT");
            t("listener.security.protocol.map","PLAINTEXT:plaintext,CONTROLLER:PLAINTEXT");
    String A="advertised.listeners";
            t(A,"PLAINTEXT://0.0.0.0:9092");
            t(A,"PLAINTEXT://[::]:9092");
            t(A,"PLAINTEXT://:9092");
            t(A,"X://h:1");
            t(A,"PLAINTEXT://h:1,CONTROLLER://h:2");
            t(A,"CONTROLLER://h:2");
            t(A,"PLAINTEXT://h:0");
            t(A,"SSL://h:1");
            t(A,"PLAINTEXT://h:1,SSL://h:1");
            t(A,"PLAINTEXT://h:1,PLAINTEXT://h:2");
            t(L,"PLAINTEXT://0.0.0.0:9092"+C);
            t(L,"CONTROLLER://:9093");
            t(L,"PLAINTEXT://:9092");
            t(L,"PLAINTEXT://:9092,SSL://:9094"+C,A,"PLAINTEXT://h:1,SSL://h:1");
            t(L,"PLAINTEXT://h:5,CONTROLLER://:9093",A,"PLAINTEXT://h:0");
    t("broker.id","2");
            t("node.id",null,"broker.id","1");
            t("broker.id","1");
            t("log.roll.ms","0");
            t("log.roll.jitter.ms","-1");
            t("log.retention.ms","0");
            t("log.retention.minutes","0");
            t("log.cleaner.dedupe.buffer.size","1000");
            t("log.cleaner.threads","0");
            t("group.consumer.max.heartbeat.interval.ms","100");
            t("group.consumer.heartbeat.interval.ms","100");
            t("group.consumer.heartbeat.interval.ms","16000");
            t("group.consumer.max.session.timeout.ms","100");
            t("group.consumer.session.timeout.ms","100");
            t("group.consumer.session.timeout.ms","70000");
            t("group.consumer.assignment.interval.ms","70000");
            t("group.min.session.timeout.ms","70000000");
            t("group.coordinator.rebalance.protocols","consumer");
            t("group.coordinator.rebalance.protocols","classic");
            t("offsets.topic.compression.codec","9");
            t("replica.fetch.wait.max.ms","50000");
            t("replica.socket.timeout.ms","5");
            t("replica.fetch.min.bytes","50000000");
            t("connections.max.idle.ms","-5");
            t("max.connections.per.ip","0");
            t("max.connections.per.ip","0","max.connections.per.ip.overrides","127.0.0.1:5");
            t("max.connections.per.ip.overrides","a b:5");
            t("max.connections.per.ip.overrides","x");
            t("max.connections.per.ip.overrides","h:x");
            t("principal.builder.class","");
            t("log.cleaner.min.compaction.lag.ms","10","log.cleaner.max.compaction.lag.ms","5");
            t("log.segment.bytes","10","log.retention.hours","x");
            t("fetch.max.bytes","5");
            t("queued.max.request.bytes","5");
            t("process.roles","broker");
            t("zookeeper.connect","x");
            t("min.insync.replicas","0");
            t("request.timeout.ms","5");
            t("group.consumer.assignors","x");
            t("group.consumer.assignors","org.x.Y");
            t("controller.quorum.voters","2@h:1");
            t("controller.quorum.voters","");
            t("metrics.recording.level","X");
            t("broker.session.timeout.ms","5");
            t("broker.heartbeat.interval.ms","50000");
            t("group.consumer.heartbeat.interval.ms","15000","group.consumer.max.heartbeat.interval.ms","60000","group.consumer.session.timeout.ms","45000","group.consumer.min.heartbeat.interval.ms","46000");
            t("group.initial.rebalance.delay.ms","-5");
            t("default.replication.factor","-1");
            t("num.replica.alter.log.dirs.threads","-1");
            t("authorizer.class.name","x");
            t("early.start.listeners","X");
            t("cordoned.log.dirs","/nope");
            t("log.dirs","a, b");
            t("offset.metadata.max.bytes","-1");
            t("group.max.session.timeout.ms","5");
            t("transaction.max.timeout.ms","0");
            t("socket.send.buffer.bytes","-1");
            t("socket.request.max.bytes","10");
            t("message.max.bytes","-1");
        }
        admin = Admin.create(Map.<String, Object>of("bootstrap.servers", arguments[0]));
        try (PrintWriter out = new PrintWriter(folder + "/alterations.txt")) {
            alterations = out;
            admin.createTopics(List.of(new NewTopic("plain", 1, (short) 1), new NewTopic("over", 1, (short) 1).configs(
                    Map.of("retention.ms", " 1000 ", "cleanup.policy", "compact, delete", "segment.ms", "5000",
                            "min.cleanable.dirty.ratio", "0.10")))).all().get();
            settle();
            var T = new ConfigResource(ConfigResource.Type.TOPIC, "over");
            var P = new ConfigResource(ConfigResource.Type.TOPIC, "plain");
            var B = new ConfigResource(ConfigResource.Type.BROKER, "1");
            var D = new ConfigResource(ConfigResource.Type.BROKER, "");
            dump(P,"topic_plain.txt");
            dump(T,"topic_overrides.txt");
            dump(B,"broker.txt");
            dump(D,"broker_default.txt");
    alter(P,"SET nope 1");
            alter(P,"SET retention.ms x");
            alter(P,"SET retention.ms -5");
            alter(P,"APPEND cleanup.policy compact"); 
    alter(P,"APPEND cleanup.policy compact");
            alter(P,"SUBTRACT cleanup.policy delete");
            alter(P,"SUBTRACT cleanup.policy compact");
            alter(P,"APPEND cleanup.policy nope");
            alter(P,"APPEND retention.ms 5");
            alter(P,"SUBTRACT nope 5");
            alter(P,"DELETE nope");
            alter(P,"DELETE retention.ms");
            alter(P,"SETNULL retention.ms");
            alter(P,"SET retention.ms 1","SET retention.ms 2");
            alter(P,"DELETE cleanup.policy"); 
    alter(P,"SET min.compaction.lag.ms 10","SET max.compaction.lag.ms 5");
            alter(P,"SET remote.storage.enable true");
            alter(P,"SET min.insync.replicas 2");
            alter(P,"SET retention.ms  77 ");
            alter(P,"APPEND leader.replication.throttled.replicas 0:1");
            alter(P,"SET cleanup.policy ");
            alter(P,"SET local.retention.ms 5");
            alter(P,"SET remote.log.copy.disable true");
            alter(P,"SET remote.log.delete.on.disable true");
            alter(P,"SET internal.segment.bytes 500");
            alter(P,"DELETE internal.segment.bytes");
            alter(P,"DELETE min.insync.replicas");
            alter(P,"SET message.format.version 3.0"); 
    alter(B,"SET nope 1");
            alter(B,"SET num.partitions 3");
            alter(B,"SET log.retention.ms x");
            alter(B,"SET log.retention.ms 5000");
            alter(D,"SET log.retention.ms 6000","SET log.segment.bytes 2000000");
            settle();
            dump(P,"topic_under_dynamic_broker.txt");
            dump(B,"broker_dynamic.txt");
            dump(D,"broker_default_dynamic.txt");
            alter(B,"SET log.retention.ms 0");
            alter(B,"SET log.retention.ms -1");
            alter(B,"SET log.retention.ms -7");
            alter(B,"SET log.roll.ms 0");
            alter(B,"SET log.retention.hours 5");
            alter(B,"SET node.id 5");
    alter(B,"DELETE log.retention.ms");
            alter(D,"DELETE log.retention.ms","DELETE log.segment.bytes");
            alter(D,"SET ssl.keystore.location x");
            alter(B,"SET ssl.keystore.location x");
            alter(D,"SET listeners PLAINTEXT://:1");
            alter(D,"SET num.io.threads 100");
            alter(D,"SET num.io.threads 0");
            alter(B,"SET num.io.threads 1");
            alter(B,"SET num.io.threads 9");
            alter(B,"SET num.network.threads 7");
            alter(B,"SET log.cleaner.threads 3");
            alter(B,"SET log.cleaner.threads 2");
            alter(B,"DELETE num.io.threads","DELETE log.cleaner.threads");
            alter(B,"SET min.insync.replicas 2");
            alter(D,"SET min.insync.replicas 2");
            alter(D,"DELETE min.insync.replicas");
            alter(D,"SET unclean.leader.election.enable true");
            alter(B,"SET unclean.leader.election.enable true");
            alter(D,"DELETE unclean.leader.election.enable");
    alter(B,"APPEND log.cleanup.policy compact");
            alter(B,"SUBTRACT log.cleanup.policy compact");
            alter(B,"APPEND num.io.threads 3");
            alter(B,"SET log.cleanup.policy x");
            alter(B,"DELETE log.cleanup.policy");
            alter(B,"SET follower.replication.throttled.rate 100");
            alter(B,"SET follower.replication.throttled.rate -1");
            alter(B,"DELETE follower.replication.throttled.rate");
            alter(B,"SET max.connections.per.ip.overrides x");
            alter(B,"SET max.connections.per.ip.overrides nohost.invalid:5");
            alter(B,"SET max.connections.per.ip.overrides 127.0.0.1:x");
            alter(B,"SET max.connections.per.ip.overrides 127.0.0.1:-1");
            alter(B,"SET max.connections -1");
            alter(B,"SET listener.name.plaintext.max.connections 5");
            alter(D,"SET listener.name.plaintext.ssl.keystore.location x");
            alter(B,"DELETE listener.name.plaintext.max.connections");
            alter(B,"SET producer.id.expiration.ms 0");
            alter(B,"SET advertised.listeners PLAINTEXT://x:1");
            alter(B,"DELETE num.partitions");
            alter(B,"DELETE nope");
            alter(B,"SETNULL log.retention.ms");
            alter(B,"SET partita.x 5");
            alter(B,"SET cordoned.log.dirs /nope");
            alter(B,"SET background.threads 0");
            alter(B,"SET config.providers x");
    create(Map.of("nope","1"));
            create(Map.of("retention.ms","x"));
            create(Map.of("min.compaction.lag.ms","10","max.compaction.lag.ms","5"));
            create(Map.of("remote.storage.enable","true")); Map<String,String> n=new HashMap<>(); n.put("retention.ms",null);
            create(n); n.put("segment.ms",null);
            create(n);
            create(Map.of("segment.bytes","5"));
            create(Map.of("cleanup.policy",""));
            create(Map.of("retention.ms",""));
            create(Map.of("remote.log.copy.disable","true"));
            create(Map.of("segment.index.bytes","2000000000","index.interval.bytes","5"));
        }
        admin.close();
    }
}
