import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The JDK's HTTP server with a pool of threads. */
class Server {
    public static void main(String[] arguments) throws Exception {
        // Without it, a body waits 40 ms for the acknowledgement of its head.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
        var server = HttpServer.create(address, 0);
        server.setExecutor(Executors.newFixedThreadPool(10));
        server.createContext("/", exchange -> {
            var body = page().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    static String page() {
        return IntStream.range(0, 20)
                .mapToObj(id -> "{\"id\":" + id + ",\"name\":\"n" + id + "\"}")
                .collect(Collectors.joining(",", "{\"items\":[", "]}"));
    }
}
