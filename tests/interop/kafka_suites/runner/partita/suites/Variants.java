package partita.suites;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Kafka runs most of its tests twice, with the controller inside the broker's process and beside it. That says nothing about a
 * client's view, so of two invocations that differ in nothing else only the first one runs, on every target.
 */
public final class Variants implements ExecutionCondition {
    private static final Pattern TYPE = Pattern.compile("(?s)^(.*?) ?\\[\\d+\\] Type=Raft-(Combined|Isolated),? ?(.*)$");
    private static final Pattern NUMBER = Pattern.compile("^\\[\\d+\\] ?");

    private final Map<String, String> chosen = new ConcurrentHashMap<>();

    /** The display name without what says which kind of cluster and the how many-th invocation it is, and when it ran. */
    static String withoutType(String name) {
        Matcher matcher = TYPE.matcher(name);
        String rest = matcher.matches() ? matcher.group(3) : NUMBER.matcher(name).replaceFirst("");
        // Every test has the newest metadata version unless it is about another one.
        return rest.replaceAll(",?(MetadataVersion=4\\.4-IV0|BrokerSecurityProtocol=PLAINTEXT|BrokerListenerName=ListenerName\\(EXTERNAL\\)|"
            + "ControllerSecurityProtocol=PLAINTEXT|ControllerListenerName=ListenerName\\(CONTROLLER\\)|Security=PLAINTEXT)", "")
            .replaceAll("^[, ]+|[, ]+$", "").replaceAll("\\b\\d{13}\\b", "TIME");
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Matcher matcher = TYPE.matcher(context.getDisplayName());
        if (!matcher.matches() || context.getParent().isEmpty()) {
            return ConditionEvaluationResult.enabled("not a cluster's invocation");
        }
        String first = chosen.computeIfAbsent(
            context.getParent().get().getUniqueId() + " " + matcher.group(3), key -> matcher.group(2));
        return first.equals(matcher.group(2)) ? ConditionEvaluationResult.enabled("the first of its kind")
            : ConditionEvaluationResult.disabled("differs in the place of the controller only");
    }
}
