// Serves each connection with a goroutine, as is usual in Go, written as if calls blocked. The runtime
// parks waiting goroutines and multiplexes them on epoll and a few threads.
//
// It answers with constant bytes that look like a reply of ours: in our line dialect on plain net, or
// in HTTP with net/http, which most Go services use. `pages` serves those of docs/runtimes.md.
//
// usage: go-server line|http|pages HOST:PORT [WAIT]. WAIT, such as 5ms: how long each line waits.
package main

import (
	"bufio"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

const body = "rank pid user_seconds system_seconds name\n" +
	"1 76 0.000000 53.810000 kworker/0\n" +
	"2 1 7.360000 42.870000 systemd-one\n" +
	"- - 310.420000 120.950000 (everything else)\n" +
	"# source procfs (the only one there is), 75 tasks, 0 lost, taken 2026-11-21T13:20:01.123Z\n"

// converse answers each line of one client until the client is done.
func converse(connection net.Conn, wait time.Duration) {
	defer connection.Close()
	reader := bufio.NewReader(connection)
	reply := []byte(body + "\n")
	for {
		if _, err := reader.ReadSlice('\n'); err != nil {
			return
		}
		if wait > 0 {
			time.Sleep(wait)
		}
		if _, err := connection.Write(reply); err != nil {
			return
		}
	}
}

func serveLines(listener net.Listener, wait time.Duration) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go converse(connection, wait)
	}
}

// page answers with these bytes after this time.
func page(kind, text string, wait time.Duration) http.HandlerFunc {
	reply := []byte(text)
	length := strconv.Itoa(len(text))
	return func(w http.ResponseWriter, _ *http.Request) {
		if wait > 0 {
			time.Sleep(wait)
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Length", length)
		w.Write(reply)
	}
}

func serveHTTP(listener net.Listener) error {
	return http.Serve(listener, page("text/plain; charset=utf-8", body, 0))
}

func servePages(listener net.Listener) error {
	const text = "Hello, World!"
	pages := http.NewServeMux()
	pages.Handle("/plaintext", page("text/plain", text, 0))
	pages.Handle("/json", page("application/json", `{"message":"Hello, World!"}`, 0))
	pages.Handle("/wait", page("text/plain", text, 5*time.Millisecond))
	home := page("text/plain", text, 0)
	pages.HandleFunc("/", func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/" {
			http.NotFound(w, request)
			return
		}
		home(w, request)
	})
	return http.Serve(listener, pages)
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 && len(os.Args) != 4 {
		log.Fatal("usage: go-server line|http|pages HOST:PORT [WAIT]")
	}
	var wait time.Duration
	if len(os.Args) == 4 {
		var err error
		if wait, err = time.ParseDuration(os.Args[3]); err != nil {
			log.Fatalf("go-server: WAIT must be like 5ms, not %q", os.Args[3])
		}
	}
	lines := func(listener net.Listener) error { return serveLines(listener, wait) }
	serve, known := map[string]func(net.Listener) error{
		"line": lines, "http": serveHTTP, "pages": servePages,
	}[os.Args[1]]
	if !known {
		log.Fatalf("go-server: the first word is line, http or pages, not %q", os.Args[1])
	}
	listener, err := net.Listen("tcp", os.Args[2])
	if err != nil {
		log.Fatalf("go-server: %v", err)
	}
	log.Printf("go-server: listening on %s", listener.Addr())
	log.Fatal(serve(listener))
}
