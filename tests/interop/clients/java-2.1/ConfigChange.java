import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;

/** Sets one config as the clients before 2.3 do: by AlterConfigs, which replaces all that the resource has. */
final class ConfigChange {
    private ConfigChange() {}

    static void set(AdminClient admin, ConfigResource resource, String name, String value) throws Exception {
        admin.alterConfigs(Map.of(resource, new Config(List.of(new ConfigEntry(name, value))))).all().get();
    }
}
