import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.TransactionNamingStrategy;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A job of Flink in a cluster of its own within this process: it reads a topic, adds an exclamation mark to each value, and
 * writes it exactly once to another topic, under the key that the value had there.
 *
 * <p>Arguments: bootstrap servers; the two topics with a comma between them; the prefix of the transactional ids, which is the
 * group, too; how these ids are named (INCREMENTING or POOLING); the parallelism; a directory for checkpoints; the checkpoint
 * or savepoint to start from, or nothing. Speaks the language of clients.py: stop, which is answered with the savepoint.
 */
public class Job {
    private static final int CHECKPOINT_INTERVAL_MS = 1000;
    /** More than a test takes: what a killed job left open is ended by the next one, not by the clock. */
    private static final int TRANSACTION_TIMEOUT_MS = 600_000;

    private static Configuration configuration(String checkpoints, String restored) {
        final Configuration configuration = new Configuration();
        configuration.setString("execution.checkpointing.interval", CHECKPOINT_INTERVAL_MS + " ms");
        configuration.setString("execution.checkpointing.dir", "file://" + checkpoints);
        configuration.setString("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
        configuration.setString("restart-strategy.type", "fixed-delay");
        configuration.setString("restart-strategy.fixed-delay.attempts", "1000");
        configuration.setString("restart-strategy.fixed-delay.delay", "200 ms");
        if (!restored.isEmpty()) {
            configuration.setString("execution.state-recovery.path", restored);
        }
        return configuration;
    }

    private static byte[] key(String value) {
        return value.substring(0, value.length() - 1).getBytes(StandardCharsets.UTF_8);
    }

    private static JobClient start(String[] given) throws Exception {
        final String bootstrap = given[0];
        final String[] topics = given[1].split(",");
        final String prefix = given[2];
        final KafkaSource<String> source = KafkaSource.<String>builder()
            .setBootstrapServers(bootstrap)
            .setTopics(topics[0])
            .setGroupId(prefix)
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setValueOnlyDeserializer(new SimpleStringSchema())
            .setProperty("reconnect.backoff.max.ms", "200")
            .build();
        final KafkaSink<String> sink = KafkaSink.<String>builder()
            .setBootstrapServers(bootstrap)
            .setRecordSerializer(KafkaRecordSerializationSchema.<String>builder()
                .setTopic(topics[1])
                .setKeySerializationSchema(Job::key)
                .setValueSerializationSchema(new SimpleStringSchema())
                .build())
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(prefix)
            .setTransactionNamingStrategy(TransactionNamingStrategy.valueOf(given[3]))
            .setProperty("transaction.timeout.ms", Integer.toString(TRANSACTION_TIMEOUT_MS))
            .setProperty("reconnect.backoff.max.ms", "200")
            .build();
        final StreamExecutionEnvironment environment =
            StreamExecutionEnvironment.createLocalEnvironment(Integer.parseInt(given[4]), configuration(given[5], given[6]));
        environment.fromSource(source, WatermarkStrategy.noWatermarks(), "source").uid("source")
            .map(value -> value + "!").returns(String.class).uid("mark")
            .sinkTo(sink).uid("sink");
        return environment.executeAsync();
    }

    /** What to answer to a wish to stop: a job whose tasks do not all run yet takes no savepoint. */
    private static String stop(JobClient job, String directory) throws Exception {
        final String savepoint;
        try {
            savepoint = job.stopWithSavepoint(false, directory, SavepointFormatType.CANONICAL).get();
        } catch (ExecutionException failure) {
            failure.printStackTrace();
            return "\"ok\": false";
        }
        job.getJobExecutionResult().get();
        return "\"ok\": true, \"savepoint\": \"" + savepoint + "\"";
    }

    /** Threads of the cluster would keep the process alive. */
    private static <T> T end(Throwable failure) {
        failure.printStackTrace();
        Runtime.getRuntime().halt(1);
        return null;
    }

    public static void main(String[] given) {
        final Pattern request = Pattern.compile("\\{\"id\": (\\d+), \"op\": \"stop\"\\}");
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
            final JobClient job = start(given);
            job.getJobExecutionResult().exceptionally(Job::end);
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                final Matcher asked = request.matcher(line);
                if (!asked.matches()) {
                    throw new IllegalArgumentException(line);
                }
                System.out.println("{\"reply\": " + asked.group(1) + ", " + stop(job, given[5]) + "}");
                System.out.flush();
            }
        } catch (Exception failure) {
            end(failure);
        }
    }
}
