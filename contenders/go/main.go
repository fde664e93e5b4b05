// Go's way to serve many clients: a goroutine for each connection, written as if it blocked. The
// runtime parks a goroutine that waits and multiplexes all of them on epoll and few threads.
//
// It answers constant bytes that look like a reply of ours, in our line dialect on plain net, or in
// HTTP with net/http, which is what most Go services are built on.
//
// usage: go-server line|http HOST:PORT
package main

import (
	"bufio"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
)

const body = "rank pid user_seconds system_seconds name\n" +
	"1 76 0.000000 53.810000 kworker/0\n" +
	"2 1 7.360000 42.870000 systemd-one\n" +
	"- - 310.420000 120.950000 (everything else)\n" +
	"# source procfs (the only one there is), 75 tasks, 0 lost, taken 2026-11-21T13:20:01.123Z\n"

// converse answers each line of one client until the client is done.
func converse(connection net.Conn) {
	defer connection.Close()
	reader := bufio.NewReader(connection)
	reply := []byte(body + "\n")
	for {
		if _, err := reader.ReadSlice('\n'); err != nil {
			return
		}
		if _, err := connection.Write(reply); err != nil {
			return
		}
	}
}

func serveLines(listener net.Listener) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go converse(connection)
	}
}

func serveHTTP(listener net.Listener) error {
	reply := []byte(body)
	length := strconv.Itoa(len(body))
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Content-Length", length)
		w.Write(reply)
	}))
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go-server line|http HOST:PORT")
	}
	serve, known := map[string]func(net.Listener) error{"line": serveLines, "http": serveHTTP}[os.Args[1]]
	if !known {
		log.Fatalf("go-server: the dialect is line or http, not %q", os.Args[1])
	}
	listener, err := net.Listen("tcp", os.Args[2])
	if err != nil {
		log.Fatalf("go-server: %v", err)
	}
	log.Printf("go-server: listening on %s", listener.Addr())
	log.Fatal(serve(listener))
}
