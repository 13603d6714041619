package partita.suites;

import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import java.lang.instrument.Instrumentation;
import kafka.server.KafkaConfig;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.MethodDelegation;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import scala.collection.Map;
import scala.collection.Seq;

/**
 * Java agent that replaces, as classes are loaded, the few methods of Kafka's older test harness (in Scala) that start brokers of its
 * own or reach into them, by those of `Harness`. The tests themselves stay as they were published.
 */
public final class Rewrites {
    private Rewrites() {
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
        new AgentBuilder.Default()
            .type(named("kafka.server.QuorumTestHarness"))
            .transform((builder, type, loader, module, domain) -> replace(builder,
                "newKRaftQuorum", "createBroker", "controllerServer", "controllerServers"))
            .type(named("kafka.integration.KafkaServerTestHarness"))
            .transform((builder, type, loader, module, domain) -> replace(builder, "ensureConsistentKRaftMetadata")
                .method(named("getTopicIds").and(takesArguments(0))).intercept(harness("topicIds"))
                .method(named("getTopicNames")).intercept(harness("topicNames"))
                .visit(Advice.to(OneBroker.class).on(named("configs"))))
            .type(named("kafka.server.GroupCoordinatorBaseRequestTest"))
            .transform((builder, type, loader, module, domain) -> replace(builder, "controllerServers", "getTopicIds"))
            .type(named("kafka.utils.TestUtils$"))
            .transform((builder, type, loader, module, domain) -> replace(builder,
                "ensureConsistentKRaftMetadata", "createOffsetsTopicWithAdmin", "waitUntilBrokerMetadataIsPropagated")
                .visit(Advice.to(OneReplica.class).on(named("createTopicWithAdminRaw"))))
            .type(named("org.apache.kafka.clients.admin.NewTopic"))
            .transform((builder, type, loader, module, domain) -> builder
                .visit(Advice.to(OnBrokersThatAreThere.class).on(named("convertToCreatableTopic"))))
            .installOn(instrumentation);
    }

    private static DynamicType.Builder<?> replace(DynamicType.Builder<?> builder, String... methods) {
        for (String method : methods) {
            builder = builder.method(named(method)).intercept(harness(method));
        }
        return builder;
    }

    private static MethodDelegation harness(String method) {
        return MethodDelegation.withDefaultConfiguration().filter(named(method)).to(Harness.class);
    }

    /** Of the brokers that a test wants the first one is started. */
    static final class OneBroker {
        private OneBroker() {
        }

        @Advice.OnMethodExit
        static void exit(@Advice.Return(readOnly = false) Seq<KafkaConfig> configs) {
            configs = Harness.firstOf(configs);
        }
    }

    /** Topics that a test has the harness create get one replica. */
    static final class OneReplica {
        private OneReplica() {
        }

        @Advice.OnMethodEnter
        static void enter(@Advice.Argument(value = 3, readOnly = false) int replicas,
                          @Advice.Argument(value = 4, readOnly = false) Map<Object, Seq<Object>> assignment) {
            replicas = Harness.oneReplica(replicas);
            assignment = Harness.onOneBroker(assignment);
        }
    }

    /** So do those that it has a client create, as far as the brokers that it asked for could have held them. */
    static final class OnBrokersThatAreThere {
        private OnBrokersThatAreThere() {
        }

        @Advice.OnMethodExit
        static void exit(@Advice.Return CreatableTopic topic) {
            Harness.placeHere(topic);
        }
    }
}
