// fasthttp: its own HTTP.
package main

import (
	"log"
	"os"

	"github.com/valyala/fasthttp"

	"regatta/real/page"
)

func main() {
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:"+os.Args[1], func(c *fasthttp.RequestCtx) {
		c.SetContentType("application/json")
		c.SetBody(page.Page())
	}))
}
