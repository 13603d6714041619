package partita.suites;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs those tests of the named classes (`CLASS` or `CLASS#METHOD`) that use a cluster, one after the other, and writes a line of
 * JSON to OUTPUT as each begins and ends:
 *
 *   {"begin": id}
 *   {"end": id, "outcome": "passed|failed|aborted", "seconds": s, "denied": [...], "error": "...", "trace": "..."}
 *
 * An id is CLASS.METHOD, with the invocation's own part of the display name behind it in parentheses where the method runs
 * several times. It holds no random part, so that the ids of two runs can be compared.
 *
 *   Runner OUTPUT TIMEOUT_SECONDS SELECTION...
 */
public final class Runner implements TestExecutionListener {
    private static final Set<String> CLUSTER_ANNOTATIONS = Set.of("ClusterTest", "ClusterTests", "ClusterTemplate");
    private static final int TRACE_LINES = 60;

    private final PrintStream output;
    private final ObjectMapper mapper = new ObjectMapper();
    private final Map<String, Integer> seen = new HashMap<>();
    private final Map<String, String> ids = new HashMap<>();
    private final Map<String, Long> began = new HashMap<>();

    private Runner(PrintStream output) {
        this.output = output;
    }

    public static void main(String[] arguments) throws Exception {
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String selection : List.of(arguments).subList(2, arguments.length)) {
            selectors.add(selection.contains("#") ? methodSelector(selection) : DiscoverySelectors.selectClass(selection));
        }
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
            .selectors(selectors)
            .filters((PostDiscoveryFilter) descriptor -> FilterResult.includedIf(descriptor.getSource()
                .map(source -> !(source instanceof MethodSource method) || usesCluster(method)).orElse(true)))
            .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
            .configurationParameter("junit.jupiter.execution.timeout.testable.method.default", arguments[1] + " s")
            .configurationParameter("junit.jupiter.execution.timeout.lifecycle.method.default", arguments[1] + " s")
            .build();
        try (PrintStream output = new PrintStream(Files.newOutputStream(Path.of(arguments[0])), true, StandardCharsets.UTF_8)) {
            LauncherFactory.create().execute(request, new Runner(output));
        }
        // Tests leave threads behind.
        System.exit(0);
    }

    /** A method by name, whatever its parameters. */
    private static DiscoverySelector methodSelector(String selection) throws ClassNotFoundException {
        String[] parts = selection.split("#");
        Class<?> type = Class.forName(parts[0], false, Runner.class.getClassLoader());
        for (Class<?> holder = type; holder != null; holder = holder.getSuperclass()) {
            for (Method method : holder.getDeclaredMethods()) {
                if (method.getName().equals(parts[1]) && !method.isBridge()) {
                    return DiscoverySelectors.selectMethod(type, method);
                }
            }
        }
        throw new IllegalArgumentException("no method " + selection);
    }

    private static boolean usesCluster(MethodSource source) {
        for (Class<?> type = source.getJavaClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().equals("kafka.server.QuorumTestHarness")) {
                return true;
            }
        }
        return hasClusterAnnotation(source.getJavaMethod());
    }

    private static boolean hasClusterAnnotation(AnnotatedElement element) {
        for (Annotation annotation : element.getAnnotations()) {
            if (CLUSTER_ANNOTATIONS.contains(annotation.annotationType().getSimpleName())) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (!test.isTest()) {
            return;
        }
        Denied.forget();
        String id = idOf(test);
        ids.put(test.getUniqueId(), id);
        began.put(test.getUniqueId(), System.nanoTime());
        write(mapper.createObjectNode().put("begin", id));
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (!test.isTest()) {
            // A class that fails as a whole has no tests to report.
            if (result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                report(describe(test), result, 0);
            }
            return;
        }
        report(ids.get(test.getUniqueId()), result, (System.nanoTime() - began.get(test.getUniqueId())) / 1e9);
    }

    private void report(String id, TestExecutionResult result, double seconds) {
        ObjectNode line = mapper.createObjectNode().put("end", id)
            .put("outcome", switch (result.getStatus()) {
                case SUCCESSFUL -> "passed";
                case FAILED -> "failed";
                case ABORTED -> "aborted";
            })
            .put("seconds", Math.round(seconds * 100) / 100.0);
        result.getThrowable().ifPresent(error -> {
            Denied.noteFrom(error);
            line.put("error", String.valueOf(error)).put("trace", trace(error));
        });
        Denied.all().forEach(line.putArray("denied")::add);
        write(line);
    }

    private static String trace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return String.join("\n", text.toString().lines().limit(TRACE_LINES).toList());
    }

    private static String describe(TestIdentifier test) {
        return test.getSource().map(source -> source instanceof ClassSource type ? type.getClassName()
            : source instanceof MethodSource method ? method.getClassName() + "." + method.getMethodName()
            : null).orElse(test.getDisplayName());
    }

    private String idOf(TestIdentifier test) {
        MethodSource source = (MethodSource) test.getSource().orElseThrow();
        String id = source.getClassName() + "." + source.getMethodName();
        String variant = Variants.withoutType(test.getDisplayName());
        if (!variant.isEmpty() && !variant.equals(source.getMethodName() + "()")) {
            id += "(" + variant + ")";
        }
        int number = seen.merge(id, 1, Integer::sum);
        return number == 1 ? id : id + "#" + number;
    }

    private void write(ObjectNode line) {
        output.println(line);
    }
}
