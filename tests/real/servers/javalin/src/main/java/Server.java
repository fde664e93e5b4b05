import io.javalin.Javalin;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Javalin, on Jetty. */
class Server {
    record Item(int id, String name) {}

    public static void main(String[] arguments) {
        int port = Integer.parseInt(arguments[0]);
        Javalin.create(config -> config.routes.get("/", context -> context.json(page())))
                .start("127.0.0.1", port);
    }

    static Map<String, List<Item>> page() {
        return Map.of("items", IntStream.range(0, 20).mapToObj(id -> new Item(id, "n" + id)).toList());
    }
}
