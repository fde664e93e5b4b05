// The router chi on net/http.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/go-chi/chi/v5"

	"regatta/real/page"
)

func main() {
	router := chi.NewRouter()
	router.Get("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(page.Page())
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], router))
}
