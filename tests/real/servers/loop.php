<?php
// One loop in PHP itself: php -S has no keep-alive, and only a script that runs on warms its compiler.
$listener = stream_socket_server("tcp://127.0.0.1:$argv[1]");
$clients = [];
$texts = [];

function page(): string
{
    $items = [];
    for ($id = 0; $id < 20; $id++) {
        $items[] = ['id' => $id, 'name' => "n$id"];
    }
    $body = json_encode(['items' => $items]);
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " . strlen($body) . "\r\n\r\n$body";
}

while (true) {
    $ready = [$listener, ...$clients];
    $none = null;
    stream_select($ready, $none, $none, null);
    foreach ($ready as $stream) {
        if ($stream === $listener) {
            $client = stream_socket_accept($listener);
            $clients[(int) $client] = $client;
            $texts[(int) $client] = '';
            continue;
        }
        $id = (int) $stream;
        $text = fread($stream, 65536);
        if ($text === '' || $text === false) {
            fclose($stream);
            unset($clients[$id], $texts[$id]);
            continue;
        }
        $texts[$id] .= $text;
        while (($end = strpos($texts[$id], "\r\n\r\n")) !== false) {
            $texts[$id] = substr($texts[$id], $end + 4);
            fwrite($stream, page());
        }
    }
}
