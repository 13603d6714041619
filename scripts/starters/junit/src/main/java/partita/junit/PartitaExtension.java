package partita.junit;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A broker for tests: one for the class when the field is static, one for each test when it is not.
 *
 * <pre>
 * {@literal @}RegisterExtension
 * static final PartitaExtension partita = new PartitaExtension().with("num.partitions", "3");
 * ... partita.bootstrapServers() ...
 * </pre>
 *
 * It serves when the test begins and ends with it. A test that fails prints what the broker wrote.
 */
public final class PartitaExtension
    implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback, AfterTestExecutionCallback {
    private final Map<String, String> settings = new HashMap<>();
    private PartitaBroker broker;
    private boolean isOfClass;

    /** One setting of the broker, before it starts. */
    public PartitaExtension with(String key, String value) {
        settings.put(key, value);
        return this;
    }

    public String bootstrapServers() {
        return broker().bootstrapServers();
    }

    public PartitaBroker broker() {
        if (broker == null) {
            throw new IllegalStateException("partita runs during tests only");
        }
        return broker;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        isOfClass = true;
        broker = PartitaBroker.start(settings);
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        if (!isOfClass) {
            broker = PartitaBroker.start(settings);
        }
    }

    @Override
    public void afterTestExecution(ExtensionContext context) throws Exception {
        if (context.getExecutionException().isPresent() && broker != null) {
            System.err.println("log of partita " + broker.bootstrapServers() + ":\n" + broker.log());
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (!isOfClass) {
            stop();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        stop();
    }

    private void stop() {
        if (broker != null) {
            broker.close();
            broker = null;
        }
    }
}
