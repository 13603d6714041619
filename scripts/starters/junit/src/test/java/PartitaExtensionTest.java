import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.extension.RegisterExtension;
import partita.junit.PartitaBroker;
import partita.junit.PartitaExtension;

class PartitaExtensionTest {
    @RegisterExtension
    static final PartitaExtension ofClass = new PartitaExtension().with("num.partitions", "3");

    @RegisterExtension
    final PartitaExtension ofTest = new PartitaExtension();

    private static int writeAndRead(String servers) throws Exception {
        try (var producer = new KafkaProducer<>(Map.<String, Object>of("bootstrap.servers", servers), new StringSerializer(),
                 new StringSerializer());
             var consumer = new KafkaConsumer<>(Map.<String, Object>of("bootstrap.servers", servers, "group.id", "g",
                 "auto.offset.reset", "earliest"), new StringDeserializer(), new StringDeserializer())) {
            producer.send(new ProducerRecord<>("orders", "one")).get();
            consumer.subscribe(List.of("orders"));
            var records = consumer.poll(Duration.ofSeconds(20));
            for (int more = 0; records.isEmpty() && more < 20; more++) {
                records = consumer.poll(Duration.ofSeconds(1));
            }
            assertEquals("one", records.iterator().next().value());
            return producer.partitionsFor("orders").size();
        }
    }

    @Test
    void theBrokerOfTheClassServesWithItsSettings() throws Exception {
        assertEquals(3, writeAndRead(ofClass.bootstrapServers()));
    }

    @Test
    void theBrokerOfATestIsAnotherOne() throws Exception {
        assertNotEquals(ofClass.bootstrapServers(), ofTest.bootstrapServers());
        assertEquals(1, writeAndRead(ofTest.bootstrapServers()));
    }

    @Test
    void itEndsWithItsOwner() throws Exception {
        long pid;
        try (PartitaBroker broker = PartitaBroker.start(Map.of())) {
            pid = broker.pid();
            assertTrue(ProcessHandle.of(pid).isPresent());
        }
        assertFalse(ProcessHandle.of(pid).isPresent());
    }

    @Test
    void aStartThatIsRefusedSaysWhy() {
        var error = assertThrows(IOException.class, () -> PartitaBroker.start(Map.of("num.partitions", "none")));
        assertTrue(error.getMessage().contains("num.partitions"), error.getMessage());
    }

    @Test
    @EnabledIfEnvironmentVariable(named = "PARTITA_STARTER_FAILS", matches = ".+")
    void failsOnPurpose() throws Exception {
        writeAndRead(ofTest.bootstrapServers());
        fail("on purpose");
    }
}
