import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultAfterRollbackProcessor;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.transaction.KafkaTransactionManager;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.backoff.FixedBackOff;

/**
 * A shop with Spring Kafka as its guide shows it. Orders are placed in a transaction of their own; a listener takes each
 * order, writes its invoice and its parcel, and commits its position, all in one. What the last letter of an order says:
 * "a" goes well; the listener fails at the first delivery of a "b", after it has written everything, and at every one of a
 * "c", which is a dead letter after the third; the placing of a "d" is rolled back.
 *
 * <p>Arguments: bootstrap servers; names of the topics for orders, invoices, parcels and dead letters with commas between
 * them; the group; the name of this instance. Speaks the language of clients.py: place with an order.
 */
@Configuration
@EnableKafka
@EnableTransactionManagement
public class Shop {
    private static final int PARTITIONS = 3;
    private static final int TRANSACTION_TIMEOUT_MS = 4000;
    private static String[] arguments;

    /** Where a topic's name stands among those of the arguments. */
    private static String topic(int place) {
        return arguments[1].split(",")[place];
    }

    @Bean
    public KafkaAdmin admin() {
        final KafkaAdmin admin = new KafkaAdmin(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0]));
        admin.setFatalIfBrokerNotAvailable(true);
        return admin;
    }

    @Bean
    public KafkaAdmin.NewTopics topics() {
        final NewTopic[] topics = new NewTopic[4];
        for (int place = 0; place < topics.length; ++place) {
            topics[place] = TopicBuilder.name(topic(place)).partitions(PARTITIONS).replicas(1).build();
        }
        return new KafkaAdmin.NewTopics(topics);
    }

    @Bean
    public ProducerFactory<String, String> producers() {
        final Map<String, Object> properties = common();
        properties.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, TRANSACTION_TIMEOUT_MS);
        final DefaultKafkaProducerFactory<String, String> producers =
            new DefaultKafkaProducerFactory<>(properties, new StringSerializer(), new StringSerializer());
        producers.setTransactionIdPrefix(arguments[3] + "-");
        return producers;
    }

    @Bean
    public ConsumerFactory<String, String> consumers() {
        final Map<String, Object> properties = common();
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, arguments[2]);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 3000);
        properties.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 500);
        // After a rollback it reads again, when its fetch from the end has been answered.
        properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 50);
        return new DefaultKafkaConsumerFactory<>(properties, new StringDeserializer(), new StringDeserializer());
    }

    private static Map<String, Object> common() {
        return new HashMap<>(Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[0],
                                    ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 200));
    }

    @Bean
    public KafkaTemplate<String, String> template(ProducerFactory<String, String> producers) {
        return new KafkaTemplate<>(producers);
    }

    @Bean
    public KafkaTransactionManager<String, String> transactions(ProducerFactory<String, String> producers) {
        return new KafkaTransactionManager<>(producers);
    }

    @Bean
    public ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory(
            ConsumerFactory<String, String> consumers, KafkaTransactionManager<String, String> transactions,
            KafkaTemplate<String, String> template) {
        final ConcurrentKafkaListenerContainerFactory<String, String> factory = new ConcurrentKafkaListenerContainerFactory<>();
        factory.setConsumerFactory(consumers);
        factory.setConcurrency(2);
        factory.getContainerProperties().setKafkaAwareTransactionManager(transactions);
        factory.getContainerProperties().setDeliveryAttemptHeader(true);
        final DeadLetterPublishingRecoverer letters = new DeadLetterPublishingRecoverer(template,
            (order, failure) -> new TopicPartition(topic(3), order.partition()));
        factory.setAfterRollbackProcessor(new DefaultAfterRollbackProcessor<>(letters, new FixedBackOff(0, 2), template, true));
        return factory;
    }

    @Bean
    public Ledger ledger(KafkaTemplate<String, String> template) {
        return new Ledger(template);
    }

    @Bean
    public Counter counter(KafkaTemplate<String, String> template) {
        return new Counter(template);
    }

    @Bean
    public Deliveries deliveries(Ledger ledger) {
        return new Deliveries(ledger);
    }

    /** Where orders are placed. */
    public static class Counter {
        private final KafkaTemplate<String, String> template;

        Counter(KafkaTemplate<String, String> template) {
            this.template = template;
        }

        @Transactional
        public void place(String order) {
            template.send(topic(0), order, order).join();
            if (order.endsWith("d")) {
                throw new IllegalStateException("out of stock");
            }
        }
    }

    /** What is written of an order. */
    public static class Ledger {
        private final KafkaTemplate<String, String> template;

        Ledger(KafkaTemplate<String, String> template) {
            this.template = template;
        }

        @Transactional
        public void enter(String order, int attempt) {
            template.send(topic(1), order, order);
            template.send(topic(2), order, order);
            if (order.endsWith("c") || order.endsWith("b") && attempt == 1) {
                throw new IllegalStateException(order + " fails, delivery " + attempt);
            }
        }
    }

    /** The listener. */
    public static class Deliveries {
        private final Ledger ledger;

        Deliveries(Ledger ledger) {
            this.ledger = ledger;
        }

        @KafkaListener(topics = "#{__listener.orders}")
        public void deliver(ConsumerRecord<String, String> order, @Header(KafkaHeaders.DELIVERY_ATTEMPT) int attempt) {
            say("{\"delivered\": \"" + order.value() + "\", \"attempt\": " + attempt + "}");
            ledger.enter(order.value(), attempt);
        }

        public String getOrders() {
            return topic(0);
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] given) throws Exception {
        arguments = given;
        final Pattern request = Pattern.compile("\\{\"id\": (\\d+), \"op\": \"place\", \"order\": \"(\\w+)\"\\}");
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Shop.class);
             BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
            final Counter counter = context.getBean(Counter.class);
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                final Matcher asked = request.matcher(line);
                if (!asked.matches()) {
                    throw new IllegalArgumentException(line);
                }
                String answer = "\"ok\": true";
                try {
                    counter.place(asked.group(2));
                } catch (RuntimeException failure) {
                    answer = "\"ok\": false, \"type\": \"" + failure.getClass().getSimpleName() + "\"";
                }
                say("{\"reply\": " + asked.group(1) + ", " + answer + "}");
            }
        }
    }
}
