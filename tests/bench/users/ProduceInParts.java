import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * ProduceInParts idempotent|rhythm|exchange|transactional PORT TOPIC PARTITIONS RECORDS RECORD_BYTES RECORDS_OF_PART: an idempotent
 * producer that waits at its end; one that waits for each part; one that also sends the last record of each part behind the others, and
 * waits for it; one that commits each part. The clock begins when the first parts are acknowledged, by which much of the client is
 * compiled. Prints how many records were in that time, how many were written in all, and, where parts are waited for, the median of their
 * times: {"records": N, "seconds": S, "written": W, "part_p50_us": U}; ends with 1 when a record was not acknowledged.
 */
public final class ProduceInParts {
    private static final int FIRST_PARTS = 50;
    private static final int BYTES_OF_DIFFERENT_RECORDS = 64_000_000; // More than any cache holds.

    private final String topic;
    private final byte[][] values;
    private final KafkaProducer<byte[], byte[]> producer;
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private long sent;

    private ProduceInParts(String port, String topic, int recordBytes, Map<String, Object> more) {
        this.topic = topic;
        values = new byte[BYTES_OF_DIFFERENT_RECORDS / recordBytes][recordBytes];
        Random random = new Random(1);
        for (byte[] value : values) {
            random.nextBytes(value); // Nothing for a compressor.
        }
        Map<String, Object> settings = new HashMap<>(more);
        settings.put("bootstrap.servers", "127.0.0.1:" + port);
        producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Hands over that many records more. */
    private void send(long records) {
        for (long end = sent + records; sent < end; ++sent) {
            producer.send(new ProducerRecord<>(topic, values[(int) (sent % values.length)]), (metadata, failed) -> {
                if (failed == null) {
                    acknowledged.incrementAndGet();
                } else {
                    failure.set(failed);
                }
            });
        }
    }

    private void checkDelivered() {
        if (acknowledged.get() != sent) {
            throw new IllegalStateException(acknowledged + " of " + sent + " records acknowledged", failure.get());
        }
    }

    /** Waits until all that was sent is acknowledged. */
    private void await() {
        producer.flush();
        checkDelivered();
    }

    private void part(String what, long records) {
        switch (what) {
            case "idempotent" -> send(records);
            case "rhythm" -> {
                send(records);
                await();
            }
            case "exchange" -> {
                send(records - 1);
                await();
                send(1);
                await();
            }
            case "transactional" -> {
                producer.beginTransaction();
                send(records);
                producer.commitTransaction();
                checkDelivered();
            }
            default -> throw new IllegalArgumentException(what);
        }
    }

    /** Returns the seconds that all but the first parts took, and puts the time of each of them into partsNs. */
    private double produce(String what, long records, long recordsOfPart, List<Long> partsNs) {
        if (what.equals("transactional")) {
            producer.initTransactions();
        }
        for (int i = 0; i < FIRST_PARTS; ++i) {
            part(what, recordsOfPart);
        }
        await();
        long began = System.nanoTime();
        for (long left = records; left > 0; left -= recordsOfPart) {
            long partBegan = System.nanoTime();
            part(what, Math.min(left, recordsOfPart));
            partsNs.add(System.nanoTime() - partBegan);
        }
        await();
        return (System.nanoTime() - began) / 1e9;
    }

    public static void main(String[] arguments) {
        try {
            String what = arguments[0];
            String topic = arguments[2];
            long records = Long.parseLong(arguments[4]);
            long recordsOfPart = Long.parseLong(arguments[6]);
            Map<String, Object> settings = what.equals("transactional") ? Map.of("transactional.id", topic)
                : Map.of("acks", "all", "enable.idempotence", true);
            ProduceInParts load = new ProduceInParts(arguments[1], topic, Integer.parseInt(arguments[5]), settings);
            List<Long> partsNs = new ArrayList<>();
            double seconds = load.produce(what, records, recordsOfPart, partsNs);
            Collections.sort(partsNs);
            String median = what.equals("idempotent") ? ""
                : String.format(Locale.ROOT, ", \"part_p50_us\": %.1f", partsNs.get(partsNs.size() / 2) / 1e3);
            System.out.printf(Locale.ROOT, "{\"records\": %d, \"seconds\": %.6f, \"written\": %d%s}%n", records, seconds, load.sent, median);
            System.exit(0);
        } catch (Exception failed) {
            failed.printStackTrace();
            System.exit(1);
        }
    }
}
