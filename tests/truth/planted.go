// An HTTP server that spends US more in `plantedCode`, and says at its end how long that took.
//
//	planted-go PORT US
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

var sink, spentNs, calls atomic.Int64

//go:noinline
func plantedCode(loops int64) {
	x := loops
	for i := int64(0); i < loops; i++ {
		x = x*1103515245 + 12345
	}
	sink.Store(x)
}

func loopsAUs() float64 {
	best := time.Hour
	for range 20 {
		start := time.Now()
		plantedCode(1_000_000)
		best = min(best, time.Since(start))
	}
	return 1e9 / float64(best.Nanoseconds())
}

func main() {
	us, _ := strconv.ParseFloat(os.Args[2], 64)
	loops := int64(us * loopsAUs())
	go http.ListenAndServe("0.0.0.0:"+os.Args[1], http.HandlerFunc(
		func(out http.ResponseWriter, _ *http.Request) {
			if loops > 0 {
				start := time.Now()
				plantedCode(loops)
				spentNs.Add(time.Since(start).Nanoseconds())
				calls.Add(1)
			}
			out.Write([]byte("planted\n"))
		}))
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	fmt.Println(spentNs.Load()/max(calls.Load(), 1), "ns in each")
}
